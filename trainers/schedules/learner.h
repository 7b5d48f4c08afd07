#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/trainer.h"
#include "trainers/channel/state_store.h"
#include "trainers/data/data_set.h"
#include "trainers/data/sampling.h"
#include "trainers/device/device_step.h"
#include "trainers/layout.h"
#include "trainers/methods/method.h"
#include "trainers/moment.h"
#include "trainers/passes/replica.h"
#include "trainers/routes/exchange.h"
#include "trainers/updates/rate_schedule.h"
#include "trainers/worker_pool.h"

/// What every schedule trains with, whoever works when: data and who sees which sample, the model
/// and its weights, the method, host threads with a replica each, codecs' states, rates, times.
namespace gradwire::trainers {

/// Which weights the threads' replicas look at.
enum class ReplicaWeights {
  kShared,  ///< weights(): all workers hold the same
  kPlaced,  ///< what place() has put there: workers differ
};

/// Neither copied nor moved: replicas look at its buffers.
class Learner {
 public:
  /// Throws TrainerError where scenario, data and model do not fit each other. `method`: in place
  /// of the scenario's.
  Learner(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
          std::unique_ptr<DataSet> data, std::unique_ptr<Model> model, ReplicaWeights replicas,
          std::unique_ptr<methods::Method> method = nullptr);
  Learner(const Learner&) = delete;
  Learner& operator=(const Learner&) = delete;

  /// With the collective that was chosen, and a slowdown for each worker.
  const scenarios::Scenario& scenario() const { return scenario_; }
  const scenarios::CollectiveChoice& choice() const { return choice_; }
  const DataSet& data() const { return *data_; }
  const Model& model() const { return *model_; }
  const methods::Method& method() const { return *method_; }
  const Layout& layout() const { return layout_; }
  const Sampler& sampler() const { return sampler_; }
  /// The samples of that worker's `draw`-th batch, until its next one is asked for.
  std::span<const std::uint32_t> batch(int worker, std::int64_t draw) {
    return sampler_.batch(worker, draw);
  }
  int workers() const { return scenario_.cluster.workers; }
  WorkerPool& pool() { return pool_; }
  StateStore& states() { return states_; }
  const StateStore& states() const { return states_; }
  /// The one that passes on `thread` use.
  Replica& replica(int thread) { return *used_[static_cast<std::size_t>(thread)]; }
  std::unique_ptr<Gradients> make_gradients() const { return replicas_[0]->make_gradients(); }

  /// The model's. Whoever writes to them calls weights_changed().
  std::span<float> weights() { return weights_; }
  std::span<const float> weights() const { return weights_; }
  void weights_changed();
  std::span<const float> statistics() const { return statistics_; }

  /// At that step of lockstep.
  Moment moment_at(std::int64_t step) const;
  double rate(const Moment& moment) const { return rate_at(rates_, moment); }

  /// Precondition: ReplicaWeights::kPlaced. Passes on `thread` use a copy of `weights` from now on.
  void place(int thread, std::span<const float> weights);
  /// The same of weights that nobody writes to before forget_places(): going back and forth between
  /// two of them copies each once. It makes replicas for them.
  void place_kept(int thread, std::span<const float> weights);
  void forget_places();
  /// Where place() has put them, to be written to between passes; weights_changed(thread) then.
  std::span<float> placed(int thread) { return placed_[static_cast<std::size_t>(thread)]; }
  void weights_changed(int thread) { replica(thread).weights_changed(); }

  /// Of the passes that follow; that of the method's passes at first.
  void set_loss_scale(float scale) { options_.loss_scale = scale; }
  /// The method's memory of each worker's layers, for the passes that follow.
  void set_layer_memory(std::vector<std::span<float>> of_workers) {
    layer_memory_ = std::move(of_workers);
  }
  void watch_layers(bool watch) { options_.watch_layers = watch; }

  /// The gradient of a mean loss over the `draw`-th batch of that worker; gives the loss. Different
  /// workers' may run side by side, on threads of their own; one of them at a time records the
  /// statistics of layers that have such. `step` is for messages. Throws Diverged where the loss is
  /// not finite, or a gradient that the processor can read, unless the method takes any.
  double pass(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
              Gradients& gradients);
  /// The same; flat = the gradient, in layout order. Precondition: gradients.on_host().
  double pass_into(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
                   Gradients& gradients, std::span<float> flat);
  /// The same; take(gradients) does what is to be done with the gradient, and says whether all of
  /// it is finite.
  using TakeGradient = std::function<bool(const Gradients&)>;
  double pass_into(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
                   Gradients& gradients, const TakeGradient& take);
  /// As pass(), of a gradient that updates the weights of placed() and is not looked at: weights
  /// are finite no more once it is not, which check_local() is told at the local steps' end.
  double local_pass(int worker, int thread, std::int64_t draw, std::int64_t step, bool record,
                    Gradients& gradients);
  /// Throws Diverged unless `finite`.
  void check_local(int worker, std::int64_t step, bool finite) const;
  /// As pass(), of these samples.
  double pass_over(std::span<const std::uint32_t> samples, int worker, int thread,
                   std::int64_t step, bool record, Gradients& gradients);

  /// The same through the stages of the model; see Replica::train_stages.
  double pass_stages(std::span<const std::uint32_t> samples, int worker, int thread,
                     std::int64_t step, bool record, std::span<const std::size_t> ends,
                     StageBoundaries& boundaries, Gradients& gradients);

  /// Of weights(), over the held-out samples.
  scenarios::Evaluation evaluate();
  /// Of others. Precondition: ReplicaWeights::kPlaced.
  scenarios::Evaluation evaluate(std::span<const float> weights);
  /// Of others with statistics of their own, which take the places of weights() and statistics()
  /// meanwhile.
  scenarios::Evaluation evaluate_with(std::span<float> weights, std::span<float> statistics);
  /// Of the weights that `replica` looks at, in one thread, whatever passes others make meanwhile.
  scenarios::Evaluation evaluate_on(Replica& replica) const;
  /// By worker, the share of its own training samples that weights() get right. Precondition:
  /// ReplicaWeights::kPlaced.
  std::vector<double> accuracy_by_worker();
  /// Of a batch of its size; see Replica::activation_bytes.
  std::optional<std::int64_t> activation_bytes() const;
  /// A watched pass of worker 0 over the same batch, beside one whose layer memory is 0.
  struct WatchedPass {
    std::vector<float> layer_memory;  ///< as the pass leaves it
    std::vector<double> errors;       ///< see methods::Method::pass_figures
  };
  WatchedPass watched_pass() const;

  /// Of a batch of that size, by stage; see Replica::stage_activation_bytes.
  std::vector<std::int64_t> stage_activation_bytes(std::span<const std::size_t> ends) const;

  /// Measures, or reads the device's profile; once. `timed`: an exchange in timed_phase(method()).
  const scenarios::ComputeProfile& prepare(Exchange& timed, DeviceUpdate* device = nullptr);
  /// Times of an earlier measurement.
  void use_profile(const scenarios::ComputeProfile& profile);
  bool has_profile() const { return has_profile_; }
  const scenarios::ComputeProfile& profile() const { return profile_; }

  /// What is done otherwise than asked; empty = nothing.
  void add_note(const std::string& note) {
    if (!note.empty()) notes_.push_back(note);
  }
  const std::vector<std::string>& notes() const { return notes_; }

  /// Weights, statistics and codecs' states; the latter may lie elsewhere, or be earlier ones.
  void save(std::ostream& out, const StateStore& states, std::span<const float> statistics) const;
  void save(std::ostream& out) const { save(out, states_, statistics_); }
  /// Throws TrainerError for another seed or model.
  void load(std::istream& in);

 private:
  /// A copy of weights that place_kept() was given.
  struct Place {
    const float* source = nullptr;  ///< null: forgotten
    std::vector<float> weights;
    std::unique_ptr<Replica> replica;
  };
  static constexpr std::size_t kPlaces = 2;
  using Places = std::array<Place, kPlaces>;  ///< the last one used is the first

  double train_pass(std::span<const std::uint32_t> samples, int worker, int thread,
                    std::int64_t step, bool record, Gradients& gradients);
  /// The samples as the pass takes them, in `options` what there is to say of it.
  const Batch& batch_for_pass(std::span<const std::uint32_t> samples, int worker, int thread,
                              std::int64_t step, bool record, PassOptions& options);
  /// Throws Diverged: "the loss of worker 3 is not finite".
  [[noreturn]] void diverge(const char* what, int worker, std::int64_t step) const;
  /// Throws Diverged unless the loss and the gradients of a pass are finite.
  void check_finite(int worker, std::int64_t step, double loss, bool gradients_are) const;
  Batch some_batch() const;
  scenarios::Evaluation score();
  Score score_of(std::span<const std::uint32_t> samples, int thread);

  std::unique_ptr<DataSet> data_;
  std::unique_ptr<Model> model_;
  std::unique_ptr<methods::Method> method_;
  Layout layout_;
  scenarios::CollectiveChoice choice_;
  scenarios::Scenario scenario_;
  std::vector<float> weights_, statistics_;
  PassOptions options_;
  std::vector<std::span<float>> layer_memory_;  ///< [worker], or empty
  Sampler sampler_;
  StateStore states_;
  RateSchedule rates_;
  WorkerPool pool_;
  std::vector<std::vector<float>> placed_;          ///< [thread], empty with shared weights
  std::vector<std::unique_ptr<Replica>> replicas_;  ///< [thread]
  std::vector<Places> kept_;                        ///< [thread], empty with shared weights
  std::vector<Replica*> used_;                      ///< [thread]
  std::vector<Batch> batches_;                      ///< [thread]
  scenarios::ComputeProfile profile_;
  bool has_profile_ = false;
  std::vector<std::string> notes_;
};

}  // namespace gradwire::trainers
