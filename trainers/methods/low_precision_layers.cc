#include <ATen/core/grad_mode.h>
#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/round.h>

#include <algorithm>

#include "trainers/passes/evonorm.h"
#include "trainers/passes/layer_rules.h"

/// Layers in few bits as Aketi, Kodge, Roy (arXiv 2111.09389) train them. Of b bits and a range
/// [lo, hi], codes are 0 to 2^b - 1:
///
///   s = max((hi - lo) / (2^b - 1), 1e-8);  Q(x) = s clamp(rint((x - lo) / s)) + lo
///
/// and its gradient is 1. Of a linear layer or a convolution y = f(x, w), b:
///
///   forward    y = f(Q(x), Q(w), Q(b)), ranges being each tensor's own, and of x the means over
///              the batch of a sample's least and greatest; evaluations take running ones,
///              r <- 0.1 r + 0.9 new
///   backward   of w from dy as it comes, of x from Q(dy) with dy's own range, where codes are
///              drawn: up with the probability of what is beyond the one below
///
/// Range-EvoNorm sees Q(x) and has its gate, scale, shift and factors quantised; all of its
/// gradients are taken from Q(dy).
namespace gradwire::trainers {
namespace {

constexpr int kFloatBits = 32;  ///< not quantised
constexpr double kLeastUnit = 1e-8, kOldShare = 0.1;

struct Grid {
  at::Tensor low, unit;  ///< one element each
  double top;

  Grid(const at::Tensor& lo, const at::Tensor& hi, int bits)
      : low(lo), top(static_cast<double>((1 << bits) - 1)) {
    unit = ((hi - lo) / top).clamp_min(kLeastUnit);
  }
  at::Tensor codes(const at::Tensor& x) const { return (x - low) / unit; }
  at::Tensor values(const at::Tensor& codes) const { return codes.clamp(0, top) * unit + low; }
};

/// Of values that no gradient is asked of.
at::Tensor nearest(const at::Tensor& x, const at::Tensor& lo, const at::Tensor& hi, int bits) {
  const Grid grid(lo, hi, bits);
  return grid.values(at::round(grid.codes(x)));
}

at::Tensor uniforms(const at::Tensor& like, const RandomStream& draws) {
  at::Tensor all = at::empty(like.sizes(), at::kFloat);
  float* const to = all.data_ptr<float>();
  const std::int64_t count = all.numel();
  for (std::int64_t e = 0; e < count; e += 4) {
    const PhiloxBlock block = philox_block(draws, static_cast<std::uint32_t>(e / 4));
    for (std::int64_t i = e; i < std::min(e + 4, count); ++i)
      to[i] = uniform_from_word(block.word[i - e]);
  }
  return all.to(like.device());
}

at::Tensor drawn(const at::Tensor& x, int bits, const RandomStream& draws) {
  const Grid grid(x.amin(), x.amax(), bits);
  const at::Tensor codes = grid.codes(x), below = at::floor(codes);
  return grid.values(below + (uniforms(x, draws) < codes - below).to(at::kFloat));
}

/// Is `value`, and has the gradient of `passed`.
at::Tensor with_gradient_of(const at::Tensor& value, const at::Tensor& passed) {
  return value.detach() + (passed - passed.detach());
}

class LowPrecision final : public LayerRule {
 public:
  explicit LowPrecision(const std::map<std::string, double>& options)
      : weight_bits_(static_cast<int>(options.at("weight_bits"))),
        activation_bits_(static_cast<int>(options.at("activation_bits"))),
        gradient_bits_(static_cast<int>(options.at("gradient_bits"))) {}

  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    switch (layer.kind) {
      case LayerKind::kLinear:
      case LayerKind::kConvolution:
        return product(layer, input, weights, compute);
      case LayerKind::kEvoNorm:
        return evonorm(layer, input, weights);
      default:
        return compute(input, weights);
    }
  }

 private:
  at::Tensor product(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights, const LayerFunction& compute) const {
    const at::Tensor x = activation(layer, input);
    const std::vector<at::Tensor> w = quantised(weights);
    if (!layer.training || gradient_bits_ == kFloatBits) return compute(x, w);
    const at::Tensor of_weights = compute(x.detach(), w);
    if (!input.requires_grad()) return of_weights;
    std::vector<at::Tensor> constants;
    for (const at::Tensor& each : w) constants.push_back(each.detach());
    const at::Tensor of_input = compute(x, constants);
    draw_gradient(layer, of_input);
    return with_gradient_of(of_input, of_weights) + (of_input - of_input.detach());
  }

  at::Tensor evonorm(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights) const {
    const at::Tensor x = activation(layer, input);
    const std::vector<at::Tensor> w = quantised(weights);
    const at::Tensor y = range_evonorm(x, w[0], w[1], w[2], [this](const at::Tensor& factors) {
      return own_range(factors, activation_bits_);
    });
    if (layer.training && gradient_bits_ != kFloatBits && y.requires_grad())
      draw_gradient(layer, y);
    return y;
  }

  static at::Tensor own_range(const at::Tensor& values, int bits) {
    if (bits == kFloatBits) return values;
    const at::Tensor x = values.detach();
    return with_gradient_of(nearest(x, x.amin(), x.amax(), bits), values);
  }

  std::vector<at::Tensor> quantised(std::span<const at::Tensor> weights) const {
    std::vector<at::Tensor> all;
    for (const at::Tensor& each : weights) all.push_back(own_range(each, weight_bits_));
    return all;
  }

  at::Tensor activation(const Layer& layer, const at::Tensor& input) const {
    if (activation_bits_ == kFloatBits) return input;
    const at::Tensor x = input.detach();
    at::Tensor lo, hi;
    if (layer.training) {
      const at::Tensor samples = x.reshape({x.size(0), -1});
      lo = samples.amin(1).mean();
      hi = samples.amax(1).mean();
      if (layer.record) remember(layer, lo, hi);
    } else {
      lo = layer.remembered[0];
      hi = layer.remembered[1];
    }
    return with_gradient_of(nearest(x, lo, hi, activation_bits_), input);
  }

  static void remember(const Layer& layer, const at::Tensor& lo, const at::Tensor& hi) {
    const at::NoGradGuard no_gradients;
    at::Tensor running = layer.remembered;
    running.mul_(kOldShare);
    running[0].add_(lo * (1 - kOldShare));
    running[1].add_(hi * (1 - kOldShare));
  }

  /// What goes back through `output` is quantised on its way.
  void draw_gradient(const Layer& layer, const at::Tensor& output) const {
    output.register_hook([bits = gradient_bits_, draws = layer.draws](const at::Tensor& gradient) {
      return drawn(gradient, bits, draws);
    });
  }

  int weight_bits_, activation_bits_, gradient_bits_;
};

const LayerRuleEntry kLowPrecision("low-precision",
                                   [](const std::map<std::string, double>& options) {
                                     return std::make_unique<LowPrecision>(options);
                                   });

}  // namespace
}  // namespace gradwire::trainers
