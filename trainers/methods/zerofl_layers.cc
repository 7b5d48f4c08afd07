#include <cmath>

#include "trainers/passes/layer_rules.h"

/// Sparse passes of ZeroFL (arXiv 2208.02507), which are SWAT's (Raihan, Aamodt: "Sparse weight
/// activation training", arXiv 2001.01969). Of a layer y = f(x, w), linear in either, top() being
/// the ceil((1 - sp) n) elements of largest magnitude, the first of equal ones, others 0:
///
///   forward             y  = f(x, top(w))
///   gradient of x       dx = that of f(., top(w))
///   gradient of w       dw = that of f(top(x), .)       dense
///
/// Weights stay dense. Evaluations use the sparse forward pass. The last layer is left alone.
namespace gradwire::trainers {
namespace {

/// The first `kept` elements by magnitude; a tie goes to the lower index.
at::Tensor largest(const at::Tensor& values, std::int64_t kept) {
  const std::int64_t n = values.numel();
  if (kept >= n) return values;
  const at::Tensor flat = values.detach().abs().reshape({n});
  const at::Tensor bound = std::get<0>(flat.kthvalue(n - kept + 1));
  if (bound.item<float>() == 0) return values.detach();  // what is left out is 0 already
  at::Tensor above = flat.gt(bound);
  const at::Tensor equal = flat.eq(bound);
  const std::int64_t wanted = kept - above.sum().item<std::int64_t>();
  above = above.logical_or(equal.logical_and(equal.cumsum(0).le(wanted)));
  return values.detach() * above.reshape(values.sizes());
}

class SparsePasses final : public LayerRule {
 public:
  explicit SparsePasses(double sparsity) : share_(1 - sparsity) {}

  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    const bool sparse = layer.kind == LayerKind::kLinear || layer.kind == LayerKind::kConvolution;
    if (!sparse || layer.last) return compute(input, weights);
    std::vector<at::Tensor> constants = {top(weights[0])};
    for (const at::Tensor& each : weights.subspan(1)) constants.push_back(each.detach());
    const at::Tensor output = compute(input, constants);
    if (!layer.training) return output;
    // Adds 0 to what is computed, and the weights' gradient to what is differentiated.
    const at::Tensor of_weights = compute(top(input), weights);
    return output + (of_weights - of_weights.detach());
  }

 private:
  at::Tensor top(const at::Tensor& values) const {
    const double kept = std::ceil(share_ * static_cast<double>(values.numel()) - 1e-6);
    return largest(values, std::max<std::int64_t>(1, static_cast<std::int64_t>(kept))).detach();
  }

  double share_;
};

const LayerRuleEntry kSparsePasses("swat", [](const std::map<std::string, double>& options) {
  return std::make_unique<SparsePasses>(options.at("sparsity"));
});

}  // namespace
}  // namespace gradwire::trainers
