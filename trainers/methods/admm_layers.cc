#include <ATen/ops/empty_like.h>

#include "trainers/methods/lowbit_projection.h"
#include "trainers/passes/layer_rules.h"

/// Straight-through training of weights of few bits: in training, a layer's matrices w are seen as
/// proj(w), whose gradients pass to w as they come. Evaluations are of weights that are projected.
namespace gradwire::trainers {
namespace {

using methods::LowbitProjection;

class StraightThrough final : public LayerRule {
 public:
  explicit StraightThrough(const std::map<std::string, double>& options) {
    const auto choice = [&](const char* name) {
      return methods::lowbit_choices(name)[static_cast<std::size_t>(options.at(name))];
    };
    projection_ = {choice("table"), choice("tie"),
                   static_cast<std::int64_t>(options.at("iterations"))};
  }

  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    if (!layer.training) return compute(input, weights);
    std::vector<at::Tensor> seen(weights.begin(), weights.end());
    for (at::Tensor& each : seen)
      if (methods::is_lowbit({each.sizes().data(), each.sizes().size()}))
        each = projected(each) + (each - each.detach());
    return compute(input, seen);
  }

 private:
  at::Tensor projected(const at::Tensor& weights) const {
    const at::Tensor flat = weights.detach().cpu().contiguous();
    at::Tensor result = at::empty_like(flat);
    const auto n = static_cast<std::size_t>(flat.numel());
    const methods::LowbitTensor tensors[] = {{{flat.sizes().data(), flat.sizes().size()},
                                              {flat.data_ptr<float>(), n},
                                              {result.data_ptr<float>(), n}}};
    projection_.project(tensors);
    return result.to(weights.device());
  }

  LowbitProjection projection_;
};

const LayerRuleEntry kEntry("straight-through", [](const std::map<std::string, double>& options) {
  return std::make_unique<StraightThrough>(options);
});

}  // namespace
}  // namespace gradwire::trainers
