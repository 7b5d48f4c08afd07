#pragma once
#include <ATen/Tensor.h>

#include <memory>
#include <string>
#include <vector>

#include "trainers/timing/bench_methods.h"

/// Methods as people write them today, in LibTorch's operations: what each worker encodes of its
/// gradients, what becomes of the messages, the update. Nothing is sent.
namespace gradwire::trainers {

/// [worker][tensor]
using TwinGradients = std::vector<std::vector<at::Tensor>>;

/// Null where there is none of that name. Gradients are left as they are.
std::unique_ptr<MethodTwin> make_method_twin(const std::string& method, TwinGradients gradients);

}  // namespace gradwire::trainers
