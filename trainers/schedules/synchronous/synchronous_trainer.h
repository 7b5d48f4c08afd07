#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "scenarios/trainer.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/weight_gather.h"
#include "trainers/scenario_update.h"
#include "trainers/schedules/learner.h"
#include "trainers/schedules/model_acts.h"
#include "trainers/schedules/set_updates.h"
#include "trainers/schedules/synchronous/arrivals.h"
#include "trainers/timing/step_template.h"

/// Synchronous data parallelism. Step t, worker w of N, with batch B_w drawn from w's shard:
///
///   g_w = grad of mean loss over B_w at weights x_t
///   x_{t+1} = update(x_t, (1/N) sum_w decode(encode(g_w)))
///
/// With H local steps (local SGD, arXiv 1805.09767; /schedule/local_steps) g_w is the sum of the
/// gradients that w meets on its way by plain sgd at the step's rate r, and batches count H a step:
///
///   x_w,0 = x_t;   x_w,h+1 = x_w,h - r grad at x_w,h of its next batch;   g_w = sum over h < H
///
/// so that with sgd and without a codec x_t+1 is the mean of the x_w,H, and H = 1 is the above. The
/// last local step is the update's: momentum and weight decay are its alone.
///
/// With k micro-batches (/workload/micro_batches) g_w is the sum over B_w's k parts of their
/// gradients, each times its share of the samples.
///
/// All workers hold equal weights after every step, so one copy stands for all of them (tests check
/// that every worker's own decoded mean is bit-equal; with /exchange/zero it is put together from
/// the parts that each worker holds and updates), but where data are lost: what arrives is a
/// policy (trainers/schedules/synchronous/arrivals.h). Losses, weights and bytes do not depend on
/// the number of host threads, nor on virtual time. Layers with running statistics keep worker 0's.
namespace gradwire::trainers {

class SynchronousTrainer final : public scenarios::Trainer {
 public:
  /// Throws TrainerError where scenario, data and model do not fit each other.
  SynchronousTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                     std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  const scenarios::ComputeProfile& prepare() override;
  void use_profile(const scenarios::ComputeProfile& profile) override;
  bool next(scenarios::StepPlan& plan) override;
  void on_submitted(const scenarios::StepPlan& plan, sim::GraphId graph) override;
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome& outcome) override;
  scenarios::Evaluation evaluate() override;
  std::vector<std::byte> model_file() override;
  scenarios::Evaluation evaluate_file(std::span<const std::byte> file,
                                      std::string_view subject) override;
  std::int64_t steps_total() const override { return scenario().workload.steps; }
  std::int64_t parameters() const override { return layout().elements(); }
  scenarios::CollectiveChoice collective_choice() const override { return learner_.choice(); }
  std::vector<scenarios::Figure> figures() const override;
  std::vector<std::string> notes() const override;
  std::uint64_t learning_hash() const override;
  void save(std::ostream& out) const override;
  void load(std::istream& in) override;

  /// What is done otherwise than asked, found out where the model was made; empty = nothing.
  void add_note(const std::string& note) { learner_.add_note(note); }

  const Layout& layout() const { return learner_.layout(); }
  /// Worker 0's.
  std::span<const float> weights() const;
  /// What worker 0's update remembers; on a device, as of the last call of weights().
  const SetUpdates& updates() const { return updates_; }
  /// The mean gradient of the last step, as worker 0 holds it.
  std::span<const float> mean() const { return mean_; }
  /// The same of any worker, after a step that has ended.
  std::span<const float> weights_of(int worker) const;
  std::span<const float> mean_of(int worker) const;

 private:
  void save_content(std::ostream& out) const;
  void load_content(std::istream& in);

  /// A step: passes, messages and their mean, as if all arrived; then the update, unless that waits
  /// for what does.
  void run_step(scenarios::StepPlan& plan);
  /// The update by mean_, and what a server sends after it.
  void end_step(StepTraffic& traffic);
  /// What the server does with the mean before the update, where the method has that. `owner`: the
  /// worker whose copy it is, or -1 where one stands for all.
  void update_at_server(std::span<float> mean, int owner = -1);
  void encode_all();
  /// Of the step that is planned, without what is missing.
  void exchange_again(std::span<const sim::MissingData> missing);

  const scenarios::Scenario& scenario() const { return learner_.scenario(); }
  const methods::Method& method() const { return learner_.method(); }
  int workers() const { return learner_.workers(); }
  /// Of the step that is under way or comes next.
  Moment moment() const { return learner_.moment_at(step_); }

  Learner learner_;
  const bool keeps_payloads_;
  /// The learner's; where weights live on a device, a copy that weights() refreshes.
  std::span<float> weights_;
  std::vector<float> mean_;
  std::size_t phase_ = 0;  ///< of the method
  ExchangeSettings exchange_settings_;
  std::unique_ptr<DeviceEncoder> encoder_;  ///< null unless steps stay on a device
  std::unique_ptr<Exchange> exchange_;
  /// Where weights live on a device, its state is a copy that weights() refreshes.
  mutable SetUpdates updates_;
  ModelActs acts_;
  std::vector<methods::TensorInfo> tensors_;  ///< in the layout's order
  std::unique_ptr<Arrivals> arrivals_;
  std::vector<std::unique_ptr<Gradients>> gradients_;  ///< [worker]
  // Of several local steps: [worker] the sum of its gradients, and that by tensor; of a method that
  // computes by itself, what it sends.
  std::vector<std::vector<float>> local_sums_;
  std::vector<std::vector<std::span<const float>>> local_tensors_;
  std::unique_ptr<DeviceUpdate> device_update_;  ///< null unless steps stay on a device
  std::vector<double> losses_;                   ///< [worker]
  std::unique_ptr<StepTemplate> template_;
  std::unique_ptr<WeightGather> gather_;  ///< null unless workers hold parts of the model's state
  std::vector<Seconds> seconds_;
  std::int64_t step_ = 0;
  std::uint64_t chain_ = 0;  ///< hash over losses and bytes of all steps so far
  std::optional<sim::GraphId> last_graph_;
  std::vector<sim::OpIndex> last_ends_;     ///< in that graph, by worker
  bool lost_ = false;                       ///< something of the last step that ended
  std::vector<std::vector<float>> memory_;  ///< the method's
  std::vector<float> sums_;                 ///< of means since the method last decided
  std::vector<int> decided_;                ///< by the method, by tensor of the layout

  void pass_of(int worker, int thread);
  void send(int worker);
  bool encoders_look(std::size_t worker) const;
  void pass_and_send(int worker, int thread);
  void make_local_sums();
  void local_steps_of(int worker, int thread);
  void compute_of(int worker, int thread);
  void gather_before(StepTraffic& traffic);
  void gather_after(StepTraffic& traffic);
  int zero() const { return zero_stage(scenario()); }
  std::vector<scenarios::Figure> memory_of_ranks() const;
  /// The profile's times as this run's steps take them.
  scenarios::ComputeProfile times_of_steps() const;
  /// Whether what a worker sends is not a batch's gradient, but local_sums_.
  bool sends_own() const { return local_steps() > 1 || micro_batches() > 1 || method().computes(); }
  int micro_batches() const { return scenario().workload.micro_batches; }
  void micro_batches_of(int worker, int thread);
  std::vector<std::span<float>> memory();
  /// The layout's tensors, as methods see them.
  std::vector<methods::TensorInfo> tensors_in_layout() const;
  /// The method's plans from now on, where it decides about them.
  void decide();
  /// What `worker` sends.
  GradientSpans gradients_of(int worker) const;
  int local_steps() const { return scenario().schedule.local_steps; }
  std::unique_ptr<Exchange> exchange_in(std::size_t phase);
  std::string warm_up_note() const;
  /// Exchange and graph of the phase that step_ is in.
  void enter_phase();
  void make_template();
  void set_up_device(DeviceMemory memory);
  void update();
  void fill(scenarios::StepPlan& plan, Bytes payload);
};

/// The codec's settings as a device takes them.
DeviceCodecSettings device_codec_settings(const scenarios::Scenario& scenario);

/// Data set, model and method of a scenario (training workloads only).
std::unique_ptr<scenarios::Trainer> make_trainer(const scenarios::Scenario& scenario,
                                                 const scenarios::TrainerOptions& options);

}  // namespace gradwire::trainers
