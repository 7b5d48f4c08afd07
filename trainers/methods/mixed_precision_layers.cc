#include "trainers/passes/layer_rules.h"

/// Layers in fp16, by rounding: what goes into a layer, its weights and what comes out are halves,
/// and so are their gradients on the way back, since a conversion's gradient is converted too. Sums
/// within a layer are fp32, as in a matrix unit. Normalisation keeps fp32 weights and statistics.
namespace gradwire::trainers {
namespace {

at::Tensor rounded(const at::Tensor& values) {
  if (!values.is_floating_point()) return values;  // tokens
  return values.to(at::kHalf).to(at::kFloat);
}

class HalfLayers final : public LayerRule {
 public:
  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    std::vector<at::Tensor> halves(weights.begin(), weights.end());
    if (layer.kind != LayerKind::kNormalisation && layer.kind != LayerKind::kLayerNorm &&
        layer.kind != LayerKind::kEvoNorm)
      for (at::Tensor& each : halves) each = rounded(each);
    return rounded(compute(rounded(input), halves));
  }
};

const LayerRuleEntry kHalfLayers("fp16",
                                 [](const auto&) { return std::make_unique<HalfLayers>(); });

}  // namespace
}  // namespace gradwire::trainers
