#pragma once
#include "trainers/schedules/synchronous_trainer.h"

/// Synchronous data parallelism over a network that loses data for good (udp-lossy). Nothing is
/// sent again and nobody is told: worker w decodes what has arrived at w.
///
///   g_w = grad of mean loss over B_w at w's own weights x_w,t
///   m_w = (1/N) sum of what of the g_v has reached w; what is missing counts as zero
///   x_w,t+1 = update_w(x_w,t, m_w)
///
/// So replicas drift apart. A codec's memory (error feedback) takes what was sent as delivered.
/// docs/network.md says what a gap costs by exchange and codec, and what others do.
///
/// A step is planned as if all of it arrived, which gives the messages' sizes; when it has ended
/// (on_step_ended) what is missing is known, and the exchange is done again without it. The next
/// step starts when all workers have ended this one. Where nothing is lost all is bit-equal to
/// SynchronousTrainer, its hash too.
///
/// weights(), evaluate() and running statistics are worker 0's: the model that would be saved.
namespace gradwire::trainers {

class LossyTrainer final : public SynchronousTrainer {
 public:
  LossyTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
               std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  /// Asserts that the step before has ended.
  bool next(scenarios::StepPlan& plan) override;
  /// `missing_share`: of the payload's bytes; `gradient_error`: rms over workers of |m_w - m| /
  /// |m|, m being the mean of a network that loses nothing, with these weights; `weight_spread`:
  /// rms over workers of |x_w - x| / |x|, x being the workers' mean, after the update.
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome& outcome) override;
  /// The same of the run: of all its bytes, the mean over its steps, at its end.
  std::vector<scenarios::Figure> figures() const override;
  /// Where all workers hold equal weights: as SynchronousTrainer's; else over all of them.
  std::uint64_t learning_hash() const override;

  /// Of `worker`, after the last step that ended.
  std::span<const float> weights_of(int worker) const;
  /// Its mean gradient of that step.
  std::span<const float> mean_of(int worker) const;

 private:
  struct Sums {
    std::int64_t missing = 0, payload = 0, steps = 0;
    double gradient_error = 0;
    double weight_spread = 0;  ///< the last step's
  };

  void place_weights(int worker, int thread) override;
  void save_content(std::ostream& out) const override;
  void load_content(std::istream& in) override;
  std::span<float> weights_of(int worker);
  SetUpdates& update_of(int worker);
  const SetUpdates& update_of(int worker) const;
  void exchange_again(std::span<const sim::MissingData> missing);
  double gradient_error() const;
  double weight_spread() const;
  std::vector<scenarios::Figure> as_figures(const Sums& sums) const;

  std::vector<std::vector<float>> others_;  ///< [worker - 1]: their weights
  std::vector<SetUpdates> other_updates_;   ///< [worker - 1]
  /// Before the step that is under way.
  struct Before {
    StateStore states;
    std::vector<float> statistics;
    std::uint64_t chain = 0;
  };
  Before before_;
  std::vector<float> complete_;  ///< the mean if nothing were lost
  bool under_way_ = false, lost_ = false;
  Sums all_;
};

}  // namespace gradwire::trainers
