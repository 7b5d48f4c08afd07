#include "trainers/passes/layers.h"

#include <cmath>
#include <limits>

#include "trainers/passes/evonorm.h"

namespace gradwire::trainers {
namespace {

using Weights = std::span<const at::Tensor>;

/// Rule `number` around those that follow it, around the layer.
at::Tensor with_rules(const LayerRules& rules, std::size_t number, const Layer& layer,
                      const at::Tensor& x, Weights weights, const LayerFunction& compute) {
  if (number == rules.size()) return compute(x, weights);
  return rules[number]->forward(
      layer, x, weights, [&](const at::Tensor& inner, Weights inner_weights) {
        return with_rules(rules, number + 1, layer, inner, inner_weights, compute);
      });
}

}  // namespace

template <class Compute>
at::Tensor Layers::run(LayerKind kind, std::size_t first, std::size_t count, const at::Tensor& x,
                       const Compute& compute, std::span<const at::Tensor> running) const {
  const Weights weights = count ? Weights(parameters_).subspan(first, count) : Weights();
  if (rules_.empty()) return compute(x, weights);
  const bool last = count > 0 && first + count == parameters_.size();
  Layer layer{kind, first, statistics_.training, last, running, statistics_.record};
  if (count > 0 && statistics_.of_rules.defined())
    layer.remembered = statistics_.of_rules.select(0, static_cast<std::int64_t>(first));
  layer.draws = statistics_.draws;
  layer.draws.tensor = kLayerStream + static_cast<std::uint32_t>(first);
  if (count > 0) layer.memory = memory_of(first);
  layer.watch = statistics_.watch_layers && !layer.memory.empty();
  return with_rules(rules_, 0, layer, x, weights, compute);
}

std::span<float> Layers::memory_of(std::size_t parameter) const {
  const std::size_t each = statistics_.layer_memory.size() / parameters_.size();
  return statistics_.layer_memory.subspan(parameter * each, each);
}

at::Tensor Layers::linear(const at::Tensor& x, std::size_t first, bool bias) const {
  return run(LayerKind::kLinear, first, bias ? 2 : 1, x, [](const at::Tensor& in, Weights w) {
    return w.size() == 2 ? at::linear(in, w[0], w[1]) : at::linear(in, w[0]);
  });
}

at::Tensor Layers::convolution(const at::Tensor& x, std::size_t first, bool bias,
                               std::int64_t stride, std::int64_t padding) const {
  return run(LayerKind::kConvolution, first, bias ? 2 : 1, x, [&](const at::Tensor& in, Weights w) {
    return at::conv2d(in, w[0], w.size() == 2 ? w[1] : at::Tensor(), {stride, stride},
                      {padding, padding});
  });
}

at::Tensor Layers::normalisation(const at::Tensor& x, std::size_t first, std::size_t number) const {
  Weights running;
  if (!statistics_.values.empty()) running = Weights(statistics_.values).subspan(2 * number, 2);
  const auto compute = [&](const at::Tensor& in, Weights w) {
    const bool use = !statistics_.training || statistics_.record;
    const at::Tensor none;
    return at::batch_norm(in, w[0], w[1], use ? running[0] : none, use ? running[1] : none,
                          statistics_.training, /*momentum=*/0.1, /*eps=*/1e-5,
                          /*cudnn_enabled=*/true);
  };
  return run(LayerKind::kNormalisation, first, 2, x, compute, running);
}

at::Tensor Layers::evonorm(const at::Tensor& x, std::size_t first) const {
  return run(LayerKind::kEvoNorm, first, 3, x,
             [](const at::Tensor& in, Weights w) { return range_evonorm(in, w[0], w[1], w[2]); });
}

at::Tensor Layers::lstm(const at::Tensor& x, std::size_t first) const {
  return run(LayerKind::kRecurrent, first, 4, x, [&](const at::Tensor& in, Weights w) {
    const at::Tensor zero = at::zeros({1, in.size(0), w[1].size(1)}, in.options());
    return std::get<0>(at::lstm(in, {zero, zero}, {w[0], w[1], w[2], w[3]}, /*has_biases=*/true,
                                /*num_layers=*/1, /*dropout=*/0.0, statistics_.training,
                                /*bidirectional=*/false, /*batch_first=*/true));
  });
}

at::Tensor Layers::embedding(const at::Tensor& tokens, std::size_t first) const {
  return run(LayerKind::kEmbedding, first, 1, tokens,
             [](const at::Tensor& in, Weights w) { return at::embedding(w[0], in); });
}

at::Tensor Layers::layer_norm(const at::Tensor& x, std::size_t first) const {
  return run(LayerKind::kLayerNorm, first, 2, x, [](const at::Tensor& in, Weights w) {
    return at::layer_norm(in, {in.size(-1)}, w[0], w[1]);
  });
}

at::Tensor Layers::causal_attention(const at::Tensor& x, std::int64_t heads) const {
  return run(LayerKind::kAttention, 0, 0, x, [&](const at::Tensor& in, Weights) {
    const std::int64_t batch = in.size(0), places = in.size(1), width = in.size(2) / 3;
    // [3, batch, heads, places, width of a head]
    const at::Tensor parts =
        in.view({batch, places, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const double scale = 1 / std::sqrt(static_cast<double>(width / heads));
    const at::Tensor scores = at::matmul(parts[0] * scale, parts[1].transpose(-2, -1));
    const at::Tensor later = at::ones({places, places}, in.options().dtype(at::kBool)).triu(1);
    const at::Tensor shares =
        at::softmax(scores.masked_fill(later, -std::numeric_limits<double>::infinity()), -1);
    return at::matmul(shares, parts[2]).transpose(1, 2).reshape({batch, places, width});
  });
}

at::Tensor Layers::relu(const at::Tensor& x) const {
  return run(LayerKind::kActivation, 0, 0, x,
             [](const at::Tensor& in, Weights) { return at::relu(in); });
}

at::Tensor Layers::tanh(const at::Tensor& x) const {
  return run(LayerKind::kActivation, 0, 0, x,
             [](const at::Tensor& in, Weights) { return at::tanh(in); });
}

at::Tensor Layers::max_pool(const at::Tensor& x) const {
  return run(LayerKind::kPooling, 0, 0, x, [](const at::Tensor& in, Weights) {
    return at::max_pool2d(in, {2, 2});
  });
}

at::Tensor Layers::average_pool(const at::Tensor& x) const {
  return run(LayerKind::kPooling, 0, 0, x, [](const at::Tensor& in, Weights) {
    return at::mean(in, {2, 3});
  });
}

}  // namespace gradwire::trainers
