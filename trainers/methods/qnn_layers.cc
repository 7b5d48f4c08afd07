#include <ATen/ops/conv2d.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/round.h>
#include <ATen/ops/where.h>

#include <cmath>

#include "base/exact_text.h"
#include "compressors/arithmetic/power_of_two.h"
#include "compressors/codec.h"
#include "compressors/xnor_gemm.h"
#include "trainers/passes/layer_rules.h"

/// Layers of quantised networks (Hubara et al., arXiv 1609.07061). Of a linear layer or convolution
/// y = f(x, w) + b, with kw bits of a weight and ka of an activation:
///
///   odd_k(x)   2 code - (2^k - 1), an odd integer: the nearest of 2^k levels on [-1, 1], times
///              2^k - 1; one bit: sign(x), sign(0) = +1, or, where activations are drawn in
///              training, +1 with probability (x + 1) / 2
///   forward    y = f(odd_ka(x), odd_kw(w)) / ((2^ka - 1) (2^kw - 1)) + b
///   backward   through either quantiser as it comes where |x| <= 1, 0 beyond
///
/// so that products are sums of integers, which floats hold exactly up to 2^24, in any order. What
/// the network's first layer sees is quantised to multiples of a step in 8 bits. Activations are
/// what quantises the next layer's input, and nothing themselves. A normalisation by shifts, over a
/// batch and all positions, AP2(x) being the nearest power of two, differentiated as x:
///
///   c = x - mean(x);  v = mean(c AP2(c));  y = AP2(scale) c AP2(1 / sqrt(v + e)) + shift
///
/// Evaluations take the running mean and v. There, linear layers multiply bit planes, as integers.
namespace gradwire::trainers {
namespace {

constexpr int kFloatBits = 32;  ///< not quantised
constexpr int kInputBits = 8;
constexpr double kEpsilon = 1e-4;  // of the authors' code
constexpr double kRunningRate = 0.1;

/// Of +-1: +1 with probability (x + 1) / 2, as compressors/codecs/kbit/arithmetic.h draws it.
at::Tensor drawn_signs(const at::Tensor& x, const RandomStream& draws) {
  at::Tensor words = at::empty(x.sizes(), at::kFloat);
  float* const word = words.data_ptr<float>();
  for (std::int64_t e = 0; e < words.numel(); ++e)
    word[e] = static_cast<float>(philox_word(draws, static_cast<std::uint64_t>(e)) >> 8);
  constexpr float kHalf = 8388608;  // 2^23
  const at::Tensor above = (words - kHalf).to(x.device()) < x.detach() * kHalf;
  return 2 * above.to(at::kFloat) - 1;
}

/// Is `value`, and has the gradient of `passed`.
at::Tensor with_gradient_of(const at::Tensor& value, const at::Tensor& passed) {
  return value.detach() + (passed - passed.detach());
}

/// As compressors/codecs/kbit/arithmetic.h has it, bit for bit; `share` of a gradient within [-1,
/// 1] passes.
at::Tensor odd_levels(const at::Tensor& x, int bits, double share) {
  const double top = (1 << bits) - 1;
  const at::Tensor clipped = x.clamp(-1, 1);
  at::Tensor odd;
  if (bits == 1) {
    odd = at::ones_like(x).masked_fill(x.detach() < 0, -1);
  } else {
    const at::Tensor scaled = clipped.detach() * (0.5 * top), below = at::floor(scaled);
    const at::Tensor to_even = scaled.eq(below).logical_and(below.remainder(2).eq(1));
    odd = 2 * below + 1 - 2 * to_even.to(at::kFloat);
  }
  return with_gradient_of(odd, clipped * (top * share));
}

/// Multiples of the step, as integers.
at::Tensor steps_of(const at::Tensor& x, double step) {
  constexpr int kHalf = 1 << (kInputBits - 1);
  return at::round(x.detach() / step).clamp(-kHalf, kHalf - 1);
}

/// AP2(x), from the bits of x: rounding its exponent up from the root of 2 on.
at::Tensor power_near(const at::Tensor& x) {
  const at::Tensor bits = x.detach().contiguous().view(at::kInt);
  const auto rounding = static_cast<std::int32_t>(compressors::kPowerRounding);
  const auto upper = static_cast<std::int32_t>(0xFF800000u);
  return with_gradient_of((bits + rounding).bitwise_and(upper).view(at::kFloat), x);
}

/// A matrix of floats as bit planes.
class Planes {
 public:
  Planes(const at::Tensor& values, const compressors::Codec& codec, int bits,
         compressors::CodeMeaning meaning)
      : rows_(static_cast<std::size_t>(values.size(0))),
        columns_(static_cast<std::size_t>(values.size(1))),
        bits_(bits),
        meaning_(meaning) {
    const at::Tensor whole = values.detach().contiguous();
    const compressors::TensorView view{
        "layer", whole.sizes(), {whole.data_ptr<float>(), rows_ * columns_}};
    bytes_.resize(codec.max_encoded_size(view));
    compressors::EncodeJob job{.tensor = view, .payload = bytes_};
    codec.encode(job, {});
  }
  compressors::BitPlanes view() const { return {bytes_, rows_, columns_, bits_, meaning_}; }

 private:
  std::size_t rows_, columns_;
  int bits_;
  compressors::CodeMeaning meaning_;
  std::vector<std::byte> bytes_;
};

at::Tensor product(const Planes& x, const Planes& w) {
  const compressors::BitPlanes a = x.view(), b = w.view();
  const at::Tensor counts =
      at::empty({static_cast<std::int64_t>(a.rows), static_cast<std::int64_t>(b.rows)}, at::kInt);
  const auto count = static_cast<std::size_t>(counts.numel());
  compressors::bit_plane_gemm(a, b, {counts.data_ptr<std::int32_t>(), count});
  return counts.to(at::kFloat);
}

compressors::CodecPtr unit_codec(int bits) {
  return compressors::make_codec("kbit", {{"bits", std::to_string(bits)}, {"layout", "planes"}});
}

class QuantisedLayers final : public LayerRule {
 public:
  /// Throws Error for a step that codec `kbit` does not take.
  explicit QuantisedLayers(const std::map<std::string, double>& options)
      : weight_bits_(static_cast<int>(options.at("weight_bits"))),
        activation_bits_(static_cast<int>(options.at("activation_bits"))),
        step_(options.at("input_step")),
        share_(options.at("straight_through")),
        drawn_(options.at("drawn") != 0),
        shifts_(options.at("shifts") != 0),
        packed_(options.at("packed") != 0 && weight_bits_ <= 8) {
    if (!packed_) return;
    weight_codec_ = unit_codec(weight_bits_);
    if (activation_bits_ <= 8) activation_codec_ = unit_codec(activation_bits_);
    if (step_ == 0) return;
    input_codec_ = compressors::make_codec("kbit", {{"bits", std::to_string(kInputBits)},
                                                    {"grid", "step"},
                                                    {"step", exact_text(static_cast<float>(step_))},
                                                    {"layout", "planes"}});
  }

  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    switch (layer.kind) {
      case LayerKind::kLinear:
      case LayerKind::kConvolution:
        return quantises(layer) ? quantised(layer, input, weights, compute)
                                : compute(input, weights);
      case LayerKind::kActivation:
        return activation_bits_ == kFloatBits ? compute(input, weights) : input;
      case LayerKind::kNormalisation:
        return shifts_ ? shifted(layer, input, weights) : compute(input, weights);
      default:
        return compute(input, weights);
    }
  }

 private:
  bool is_input(const Layer& layer) const { return layer.first_parameter == 0; }
  bool quantises(const Layer& layer) const {
    return weight_bits_ != kFloatBits || (activation_bits_ != kFloatBits && !is_input(layer));
  }
  bool floats_in(const Layer& layer) const {
    return is_input(layer) ? step_ == 0 : activation_bits_ == kFloatBits;
  }
  bool by_planes(const Layer& layer, const at::Tensor& input) const {
    return packed_ && !layer.training && layer.kind == LayerKind::kLinear && !floats_in(layer) &&
           input.is_cpu();
  }
  double unit(int bits) const { return bits == kFloatBits ? 1.0 : 1.0 / ((1 << bits) - 1); }

  at::Tensor quantised(const Layer& layer, const at::Tensor& input,
                       std::span<const at::Tensor> weights, const LayerFunction& compute) const {
    const double of_input = floats_in(layer)  ? 1.0
                            : is_input(layer) ? step_
                                              : unit(activation_bits_);
    at::Tensor sums;
    if (by_planes(layer, input)) {
      sums = packed_product(layer, input, weights[0]);
    } else {
      const at::Tensor x = floats_in(layer)  ? input
                           : is_input(layer) ? steps_of(input, step_)
                                             : activation(layer, input);
      const at::Tensor w =
          weight_bits_ == kFloatBits ? weights[0] : odd_levels(weights[0], weight_bits_, share_);
      sums = compute(x, std::span(&w, 1));
    }
    const at::Tensor y = sums * (of_input * unit(weight_bits_));
    if (weights.size() < 2) return y;
    std::vector<std::int64_t> by_channel(static_cast<std::size_t>(y.dim()), 1);
    by_channel[1] = weights[1].numel();
    return y + weights[1].reshape(by_channel);
  }

  at::Tensor activation(const Layer& layer, const at::Tensor& input) const {
    if (drawn_ && layer.training)
      return with_gradient_of(drawn_signs(input, layer.draws), input.clamp(-1, 1) * share_);
    return odd_levels(input, activation_bits_, share_);
  }

  at::Tensor packed_product(const Layer& layer, const at::Tensor& input,
                            const at::Tensor& weights) const {
    using compressors::CodeMeaning;
    const Planes w(weights, *weight_codec_, weight_bits_, CodeMeaning::kOdd);
    if (is_input(layer))
      return product({input, *input_codec_, kInputBits, CodeMeaning::kCentred}, w);
    return product({input, *activation_codec_, activation_bits_, CodeMeaning::kOdd}, w);
  }

  at::Tensor shifted(const Layer& layer, const at::Tensor& x,
                     std::span<const at::Tensor> weights) const {
    std::vector<std::int64_t> but_channels = {0};
    std::vector<std::int64_t> by_channel(static_cast<std::size_t>(x.dim()), 1);
    for (std::int64_t d = 2; d < x.dim(); ++d) but_channels.push_back(d);
    by_channel[1] = x.size(1);
    const auto along = [&](const at::Tensor& each) { return each.reshape(by_channel); };
    const at::Tensor mean = layer.training ? x.mean(but_channels, true) : along(layer.running[0]);
    const at::Tensor c = x - mean;
    const at::Tensor v =
        layer.training ? (c * power_near(c)).mean(but_channels, true) : along(layer.running[1]);
    if (layer.training && layer.record) {
      remember(layer.running[0], mean);
      remember(layer.running[1], v);
    }
    const at::Tensor scale = power_near((v + kEpsilon).rsqrt());
    return c * scale * power_near(along(weights[0])) + along(weights[1]);
  }
  static void remember(const at::Tensor& running, const at::Tensor& now) {
    running.mul_(1 - kRunningRate).add_(now.detach().reshape(running.sizes()), kRunningRate);
  }

  int weight_bits_, activation_bits_;
  double step_, share_;
  bool drawn_, shifts_, packed_;
  compressors::CodecPtr weight_codec_, activation_codec_, input_codec_;
};

const LayerRuleEntry kQuantisedLayers("qnn", [](const std::map<std::string, double>& options) {
  return std::make_unique<QuantisedLayers>(options);
});

}  // namespace
}  // namespace gradwire::trainers
