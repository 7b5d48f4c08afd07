#include "trainers/timing/op_counts.h"

namespace gradwire::trainers {
namespace {

double count(const at::Tensor& tensor) {
  return static_cast<double>(tensor.numel());
}

double extent(const at::Tensor& tensor, std::int64_t dimension) {
  return tensor.dim() == 0 ? 1.0 : static_cast<double>(tensor.size(dimension));
}

/// Each element of the result (transposed: of the input) meets a filter's weights.
double convolution_flops(const std::vector<at::Tensor>& tensors, const at::Tensor& result,
                         bool transposed) {
  const at::Tensor& weight = tensors[1];
  return 2 * count(transposed ? tensors[0] : result) * count(weight) / extent(weight, 0);
}

/// Every matrix of weights once a token, in each layer and direction.
double recurrence_flops(const std::vector<at::Tensor>& tensors) {
  double weights = 0;
  for (const at::Tensor& tensor : tensors)
    if (tensor.dim() == 2 && tensor.requires_grad()) weights += count(tensor);
  return 2 * weights * count(tensors[0]) / extent(tensors[0], -1);
}

/// Queries [..., t, d] with keys [..., s, d]: t s d for the scores, as many for their sums.
double attention_flops(const std::vector<at::Tensor>& tensors) {
  return 4 * count(tensors[0]) * extent(tensors[1], -2);
}

bool is_one_of(const std::string& op, std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (op == name) return true;
  return false;
}

}  // namespace

double op_flops(const std::string& op, const std::vector<at::Tensor>& tensors,
                const at::Tensor& result) {
  const std::size_t n = tensors.size();
  if (n > 1 && op.starts_with("conv"))
    return convolution_flops(tensors, result, op.find("transpose") != std::string::npos);
  if (n > 1 && op == "_convolution") return convolution_flops(tensors, result, false);
  if (n > 1 && op == "linear") return 2 * count(result) * extent(tensors[1], -1);
  if (n > 1 && is_one_of(op, {"mm", "bmm", "matmul"}))
    return 2 * count(result) * extent(tensors[0], -1);
  if (n > 2 && is_one_of(op, {"addmm", "baddbmm"}))
    return 2 * count(result) * extent(tensors[1], -1);
  if (n > 2 && is_one_of(op, {"lstm", "gru", "rnn_tanh", "rnn_relu"}))
    return recurrence_flops(tensors);
  if (n > 2 && op == "scaled_dot_product_attention") return attention_flops(tensors);
  return count(result);
}

}  // namespace gradwire::trainers
