#pragma once
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "scenarios/trainer.h"
#include "trainers/schedules/learner.h"
#include "trainers/schedules/pipeline/pipeline_graph.h"
#include "trainers/schedules/pipeline/replica_boundaries.h"
#include "trainers/schedules/set_updates.h"

/// A model cut into stages, each on a worker, in lockstep of steps. A replica's batch is cut into
/// micro-batches; each passes through the stages forwards and back, and then all stages update:
///
///   g = sum over micro-batches k of share_k * gradient of the mean loss over k
///
/// share_k being its share of the batch's samples; gradients are added up in the order of the
/// micro-batches, whatever that of the passes (GPipe, 1F1B), so that both learn the same. Stage s +
/// 1 computes on what it received, and goes back to that; stage s goes back, by its own graph, from
/// the gradient that it received (methods::BoundaryPlan). Several replicas have equal weights;
/// the gradients of each stage are exchanged among those that have it, as in data parallelism.
///
/// What is learned does not depend on host threads, nor on virtual time. Evaluations go through the
/// whole model, without messages. Layers with running statistics keep replica 0's.
namespace gradwire::trainers {

class PipelineTrainer final : public scenarios::Trainer {
 public:
  /// Throws TrainerError where scenario, data and model do not fit each other.
  PipelineTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                  std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  const scenarios::ComputeProfile& prepare() override;
  void use_profile(const scenarios::ComputeProfile& profile) override;
  bool next(scenarios::StepPlan& plan) override;
  void on_submitted(const scenarios::StepPlan& plan, sim::GraphId graph) override;
  /// pipeline_figures(), `activation_bytes` and `activation_gradient_bytes`, and where activations
  /// are encoded `buffer_error` and `quantiser_error` (BoundaryLoss).
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome& outcome) override;
  /// Means over steps of `pipeline_bubble` and `exposed_transfer_s`; memory of the stage that has
  /// most; `epoch_loss`, the last epoch's mean of the training loss;
  /// where activations are encoded that epoch's `buffer_error_last` and `quantiser_error_last`, and
  /// `buffer_error_fall`, over the error of the second epoch; where samples are remembered
  /// `buffer_bytes`, of the worker that has most.
  std::vector<scenarios::Figure> figures() const override;
  std::vector<std::string> notes() const override { return learner_.notes(); }
  scenarios::Evaluation evaluate() override { return learner_.evaluate(); }
  std::vector<std::byte> model_file() override;
  scenarios::Evaluation evaluate_file(std::span<const std::byte> file,
                                      std::string_view subject) override;
  std::int64_t steps_total() const override { return learner_.scenario().workload.steps; }
  std::int64_t parameters() const override { return learner_.layout().elements(); }
  std::uint64_t learning_hash() const override;
  void save(std::ostream& out) const override;
  void load(std::istream& in) override;

  void add_note(const std::string& note) { learner_.add_note(note); }
  const StageCut& cut() const { return cut_; }
  const Layout& layout() const { return learner_.layout(); }
  std::span<const float> weights() const { return learner_.weights(); }
  /// Of the last step, as the update took it.
  std::span<const float> mean() const { return mean_; }
  const BoundaryChannels& channels() const { return channels_; }

 private:
  /// What a step, or an epoch, came to.
  struct Row {
    double loss = 0;
    std::int64_t steps = 0;
    std::int64_t activation_bytes = 0, gradient_bytes = 0;
    BoundaryLoss error;
  };
  methods::BoundaryPlan boundary() const { return learner_.method().boundary(); }
  int micro_batches() const { return scenario_.workload.micro_batches; }
  void make_channels(const scenarios::TrainerOptions& options);
  void check_samples();
  void make_graph();
  BoundaryTimes times_of_boundaries() const;
  void time_boundaries(scenarios::ComputeProfile& profile);
  void pass_of(int replica, int thread);
  void add_pass(int replica, float share);
  GradientSpans gradients_of(int replica) const;
  void run_step(scenarios::StepPlan& plan);
  void fill(scenarios::StepPlan& plan, Bytes payload, std::span<const Bytes> exchanged);
  std::int64_t epoch_of(std::int64_t step) const;
  std::int64_t buffer_bytes() const;
  std::int64_t activation_bytes() const;
  std::vector<scenarios::Figure> memory() const;

  scenarios::Scenario scenario_;  ///< of all workers
  const bool keeps_payloads_;
  StageCut cut_;
  Learner learner_;  ///< of replicas: a worker there is one of them
  SetUpdates updates_;
  std::unique_ptr<Exchange> exchange_;
  std::unique_ptr<StepTemplate> among_replicas_;
  std::unique_ptr<PipelineGraph> graph_;
  BoundaryChannels channels_;
  std::vector<ReplicaBoundaries> boundaries_;                     ///< [replica]
  std::vector<std::unique_ptr<Gradients>> gradients_;             ///< [replica]
  std::vector<std::vector<float>> sums_;                          ///< [replica], of micro-batches
  std::vector<std::vector<std::span<const float>>> sum_tensors_;  ///< the same by tensor
  std::vector<float> mean_;
  std::vector<double> losses_;  ///< [replica]
  std::int64_t step_ = 0;
  std::uint64_t chain_ = 0;  ///< hash over losses and bytes of all steps so far
  std::optional<sim::GraphId> last_graph_;
  std::map<std::int64_t, Row> rows_;    ///< of steps that are under way
  std::map<std::int64_t, Row> epochs_;  ///< so far
  struct Waits {                        ///< sums over steps that have ended
    double bubble = 0, exposed = 0;
    std::int64_t steps = 0;
  };
  Waits waits_;
};

}  // namespace gradwire::trainers
