#pragma once
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "trainers/schedules/gossip/gossip_models.h"
#include "trainers/schedules/gossip/gossip_step.h"

/// Decentralised training by gossip, in lockstep of steps. Worker i has weights x_i of its own. In
/// step t, W being the graph's doubly stochastic weights (/schedule/graph, sim/graph/mixing.h):
///
///   x_i <- update(x_i, gradient at x_i of its next batch);   x_i <- sum over j of W_ij x_j
///
/// the second with the weights that neighbours have sent after their step t: D-PSGD (Lian et al.,
/// arXiv 1705.09056, algorithm 1 with lines 4 and 5 in the other order, as its section 2 allows).
/// What a codec makes of messages, and what workers make of them, methods say
/// (methods::GossipPlan). The last /schedule/final_mixing steps leave out the first part.
///
/// Mixing keeps the mean of all models, which is what evaluations score; at the end each worker's
/// own is scored, too. A worker waits for those that send to it and for nobody else, so that steps
/// drift apart in virtual time by as much as the graph allows; what is learned does not depend on
/// it. Layers with running statistics keep worker 0's.
namespace gradwire::trainers {

class GossipTrainer final : public scenarios::Trainer {
 public:
  /// Throws TrainerError where scenario, data and model do not fit each other, SimError where there
  /// is no graph to mix by.
  GossipTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
                std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  const scenarios::ComputeProfile& prepare() override;
  void use_profile(const scenarios::ComputeProfile& profile) override;
  bool next(scenarios::StepPlan& plan) override;
  void on_submitted(const scenarios::StepPlan& plan, sim::GraphId graph) override;
  /// `consensus_distance`, `mean_drift` (MixOutcome), `edge_bytes`: of one message.
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome& outcome) override;
  /// The last step's distance, the largest drift, bytes of an edge in a step, `spectral_gap`,
  /// `gossip_edges`, `local_accuracy_mean` and `_worst` of the workers' own models once the last
  /// step is evaluated, memory.
  std::vector<scenarios::Figure> figures() const override;
  std::vector<std::string> notes() const override { return learner_.notes(); }
  scenarios::Evaluation evaluate() override;
  std::vector<std::byte> model_file() override;
  scenarios::Evaluation evaluate_file(std::span<const std::byte> file,
                                      std::string_view subject) override;
  std::int64_t steps_total() const override { return learner_.scenario().workload.steps; }
  std::int64_t parameters() const override { return learner_.layout().elements(); }
  std::uint64_t learning_hash() const override;
  void save(std::ostream& out) const override;
  void load(std::istream& in) override;

  void add_note(const std::string& note) { learner_.add_note(note); }
  const GossipModels& models() const { return models_; }
  const sim::Mixing& mixing() const { return mixing_; }

 private:
  struct Row {
    MixOutcome outcome;
    double edge_bytes = 0;
  };
  bool learns() const;
  void make_step();
  void run_step(scenarios::StepPlan& plan);
  void move_messages(scenarios::StepPlan& plan);
  void fill(scenarios::StepPlan& plan);
  void score_locals();

  Learner learner_;
  const bool keeps_payloads_;
  sim::Mixing mixing_;
  GossipModels models_;
  std::unique_ptr<GossipStep> graph_;
  std::vector<double> losses_;  ///< [worker], of its last step that learned
  std::int64_t step_ = 0;
  std::uint64_t chain_ = 0;  ///< hash over losses and bytes of all steps so far
  std::optional<sim::GraphId> last_graph_;
  std::map<std::int64_t, Row> rows_;  ///< of steps that are under way
  Row last_;
  double drift_ = 0;  ///< the largest one
  std::vector<double> local_accuracy_;
};

}  // namespace gradwire::trainers
