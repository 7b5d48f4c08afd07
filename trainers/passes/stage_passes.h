#pragma once
#include <functional>
#include <vector>

#include "trainers/passes/live_bytes.h"
#include "trainers/passes/network.h"
#include "trainers/passes/replica.h"

/// A pass of a model that is cut into stages, as workers of a pipeline make it: each has a graph of
/// its own for autograd, which starts at what it received. Includes LibTorch.
namespace gradwire::trainers {

using LossOfResults = std::function<at::Tensor(const at::Tensor& results)>;

/// The loss; leaves gradients at the parameters. Stage s goes back, by its own graph, from the
/// gradient that it is handed; activations are copied at boundaries and nowhere else. The gradient
/// is that of the loss times `loss_scale`. Arguments as Replica::train_stages takes them.
at::Tensor pass_stages(const Network& network, std::span<const std::size_t> ends,
                       const std::vector<at::Tensor>& parameters, const at::Tensor& input,
                       const Statistics& statistics, const LayerRules& rules,
                       StageBoundaries& boundaries, const LossOfResults& loss, float loss_scale);

/// What each stage of such a pass keeps between its two passes: see
/// Replica::stage_activation_bytes. `live` counts from the first stage's start on.
class StageBytes final : public StageBoundaries {
 public:
  explicit StageBytes(const LiveBytes& live) : live_(live) {}
  void activations(std::size_t, std::span<const std::int64_t>, std::span<float> values) override {
    end_stage(static_cast<std::int64_t>(values.size_bytes()));  // the next one's copy
  }
  void turn() override { end_stage(0); }
  void gradients(std::size_t, std::span<const std::int64_t>, std::span<float>) override {}
  const std::vector<std::int64_t>& kept() const { return kept_; }

 private:
  void end_stage(std::int64_t of_next) {
    const std::int64_t now = live_.bytes() - of_next;
    kept_.push_back(now - before_);
    before_ = now;
  }
  const LiveBytes& live_;
  std::int64_t before_ = 0;
  std::vector<std::int64_t> kept_;
};

}  // namespace gradwire::trainers
