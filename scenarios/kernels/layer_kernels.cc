#include "scenarios/kernels/layer_kernels.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "scenarios/kernels/operations.h"

namespace gradwire::scenarios {
namespace {

using Kind = Kernel::Kind;
using Layer = WorkloadProfile::Layer;

double size(const Layer& layer, std::size_t tensor, std::size_t dimension) {
  return static_cast<double>(layer.tensors[tensor].shape[dimension]);
}

/// Windows that cuDNN has Winograd's algorithm for.
bool has_winograd(double height, double width) {
  return height == width && (height == 3 || height == 5);
}

Kernel convolution(const Layer& layer, double batch) {
  const double outputs = size(layer, 0, 0), inputs = size(layer, 0, 1);
  const double window = size(layer, 0, 2) * size(layer, 0, 3);
  const double positions = static_cast<double>(layer.activations) / outputs;
  Kernel one = matrix_kernel(batch * positions, outputs, inputs * window);
  one.forward = batch * static_cast<double>(layer.inputs + layer.activations) +
                static_cast<double>(layer.elements);
  // Twice the places: two groups, of half of the inputs each, as no stride leaves a half.
  const double before = static_cast<double>(layer.inputs) / inputs / positions;
  const bool keeps_size = before == 1 || before == 2;
  if (window > 1)
    one.kind = keeps_size && has_winograd(size(layer, 0, 2), size(layer, 0, 3))
                   ? Kind::kWinograd
                   : Kind::kConvolution;
  one.input_gradient = inputs > 3;
  return one;
}

/// One filter a channel: as many channels come in as filters are, though each has but one of them.
/// (A grey image has one channel for all filters.)
bool is_depth_wise(const Layer& layer) {
  const double filters = size(layer, 0, 0);
  const double positions = static_cast<double>(layer.activations) / filters;
  return filters > 1 && size(layer, 0, 1) == 1 &&
         static_cast<double>(layer.inputs) >= filters * positions;
}

/// Some ten multiplications for an element that is read: memory bounds it, in the backward pass
/// twice, for the gradients of the inputs and of the weights.
Kernel depth_wise(const Layer& layer, double batch) {
  const double moved = batch * static_cast<double>(layer.inputs + layer.activations);
  return memory_kernel(moved, 2 * moved, 1, 2);
}

Kernel linear(const Layer& layer, double batch) {
  const double outputs = size(layer, 0, 0);
  return matrix_kernel(batch * static_cast<double>(layer.activations) / outputs, outputs,
                       size(layer, 0, 1));
}

/// Rows of a dense layer whose weight stands at another one: of r rows, i inputs and o outputs
/// each, r i and r o elements pass it in 2 r i o FLOPs. 0 where its counts are not those.
double rows_of_tied(const Layer& layer) {
  if (layer.kind != "linear" || layer.flops <= 0) return 0;
  const double rows = 2 * static_cast<double>(layer.inputs) *
                      static_cast<double>(layer.activations) / static_cast<double>(layer.flops);
  return rows >= 1 && rows == std::floor(rows) ? rows : 0;
}

Kernel tied_linear(const Layer& layer, double batch, double rows) {
  return matrix_kernel(batch * rows, static_cast<double>(layer.activations) / rows,
                       static_cast<double>(layer.inputs) / rows);
}

/// Scores of earlier tokens alone, in one kernel with what is done with them: t^2 d multiply-adds
/// of t tokens of width d = h w, which is taken to be in heads of w = 128.
Kernel causal_attention(const Layer& layer, double batch) {
  constexpr double kHeadWidth = 128;
  const double written = static_cast<double>(layer.activations);
  const double tokens = static_cast<double>(layer.flops) / 2 / written;
  Kernel one = matrix_kernel(tokens, tokens / 2, kHeadWidth);
  one.kind = Kind::kAttention;
  one.count = batch * written / tokens / kHeadWidth;
  one.forward = batch * static_cast<double>(layer.inputs + layer.activations);
  one.backward_kernels = 1;
  one.fused = true;
  return one;
}

/// Tensors: of inputs [4 h, i], of the state [4 h, h].
std::vector<Kernel> lstm(const Layer& layer, double batch) {
  const double steps = static_cast<double>(layer.inputs) / size(layer, 0, 1);
  Kernel state = matrix_kernel(batch, size(layer, 1, 0), size(layer, 1, 1));
  state.repeats = steps;
  Kernel gates = memory_kernel(2 * batch * size(layer, 1, 0), 3 * batch * size(layer, 1, 0));
  gates.repeats = steps;
  return {matrix_kernel(batch * steps, size(layer, 0, 0), size(layer, 0, 1)), state, gates};
}

/// Of no known shape: all that is written, each a sum of so many products.
Kernel product(const Layer& layer, double batch) {
  const double out = batch * static_cast<double>(layer.activations);
  const double each =
      static_cast<double>(layer.flops) / 2 / std::max(1.0, static_cast<double>(layer.activations));
  Kernel one = matrix_kernel(out, 1, each);
  one.kind = Kind::kActivations;
  one.forward = batch * static_cast<double>(layer.inputs + layer.activations);
  return one;
}

Kernel moved(const Layer& layer, double batch) {
  const double in = batch * static_cast<double>(layer.inputs);
  const double out = batch * static_cast<double>(layer.activations);
  const std::string_view kind = layer.kind;
  if (kind == "batch-norm") return memory_kernel(2 * in + out, 3 * in + 2 * out);
  if (operation_of(kind)) return operation_kernel(kind, out);
  if (kind == "rms-norm") return memory_kernel(in + out, 2 * in + 2 * out, 1, 2);
  if (kind == "relu" || kind == "gelu" || kind == "tanh" || kind == "softmax")
    return memory_kernel(in + out, in + 2 * out);
  if (kind == "add") return memory_kernel(in + out, out);
  if (kind == "silu-gate") return memory_kernel(in + out, 2 * in + out);
  return memory_kernel(in + out, in + out);
}

bool has_shape(const Layer& layer, std::size_t dimensions, std::size_t tensors = 1) {
  return layer.tensors.size() >= tensors &&
         std::all_of(layer.tensors.begin(),
                     layer.tensors.begin() + static_cast<std::ptrdiff_t>(tensors),
                     [&](const auto& tensor) {
                       return tensor.shape.size() == dimensions &&
                              std::ranges::all_of(tensor.shape, [](auto n) { return n > 0; });
                     });
}

}  // namespace

std::vector<Kernel> layer_kernels(const Layer& layer, double batch) {
  if (layer.kind == "convolution" && has_shape(layer, 4))
    return {is_depth_wise(layer) ? depth_wise(layer, batch) : convolution(layer, batch)};
  if (layer.kind == "linear" && has_shape(layer, 2)) return {linear(layer, batch)};
  if (const double rows = rows_of_tied(layer); rows > 0) return {tied_linear(layer, batch, rows)};
  if (layer.kind == "causal-attention" && layer.flops > 0 && layer.activations > 0)
    return {causal_attention(layer, batch)};
  if (layer.kind == "lstm" && has_shape(layer, 2, 2)) return lstm(layer, batch);
  // A table of another make: products where it has more arithmetic than it moves.
  if (layer.kind == "matrix-product" || layer.flops > 16 * (layer.inputs + layer.activations))
    return {product(layer, batch)};
  return {moved(layer, batch)};
}

}  // namespace gradwire::scenarios
