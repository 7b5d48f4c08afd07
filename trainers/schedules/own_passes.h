#pragma once
#include "trainers/methods/method.h"
#include "trainers/schedules/learner.h"

namespace gradwire::trainers {

/// What a method that computes by itself takes of one worker in one step. Precondition: the
/// learner's weights are placed (ReplicaWeights::kPlaced).
class OwnPasses final : public methods::WorkerPasses {
 public:
  /// All must outlive it; `gradients` is room for a pass.
  OwnPasses(Learner& learner, int worker, int thread, std::int64_t step, Gradients& gradients)
      : learner_(learner), worker_(worker), thread_(thread), step_(step), gradients_(gradients) {}

  double subtract_batch(std::span<const float> weights, std::span<const float> from,
                        std::span<float> difference) override;
  double add_batch(std::span<const float> weights, std::span<float> sum) override;
  double of_all(std::span<const float> weights, std::span<float> gradient) override;

 private:
  double of_batch(std::span<const float> weights, const Learner::TakeGradient& take);
  /// gradient += factor * that of the last pass.
  void add(float factor, std::span<float> gradient) const;

  Learner& learner_;
  int worker_, thread_;
  std::int64_t step_;
  Gradients& gradients_;
  bool recorded_ = false;  ///< statistics, which a step records once
};

}  // namespace gradwire::trainers
