#pragma once
#include "trainers/passes/aten.h"

#include <string>
#include <vector>

namespace gradwire::trainers {

/// FLOPs of one LibTorch operation, a multiply-add counted as two: exact for convolutions, matrix
/// products, recurrences and attention (without biases), else one an element of the result.
/// `tensors`: all tensor arguments in their order, lists spread out; `result`: the first result.
double op_flops(const std::string& op, const std::vector<at::Tensor>& tensors,
                const at::Tensor& result);

}  // namespace gradwire::trainers
