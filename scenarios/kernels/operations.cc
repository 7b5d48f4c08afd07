#include "scenarios/kernels/operations.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::scenarios {
namespace {

constexpr Operation kOperations[] = {
    {"eager-softmax", 8.5, 7.5, 4, 3},
    {"eager-heads", 14, 11, 7, 8},
    {"eager-dropout-add", 7.5, 7.5, 3, 3},
    {"eager-gelu", 13, 25, 6, 13},
    {"fused-softmax", 4.5, 5.5, 2, 2},
    {"fused-heads", 2, 8, 1, 2},
    {"fused-dropout-add", 3.5, 9, 1, 3},
    {"fused-gelu", 2, 4, 1, 2},
    {"eager-rms-norm", 18, 25, 7, 11},
    {"eager-rotation", 10, 10, 6, 8},
    {"repeat-heads", 2, 2, 2, 2},
    {"eager-gate", 5, 8, 2, 4},
    {"layer-norm", 2, 4, 1, 2},
    {"cross-entropy", 8, 6, 4, 3},
};

}  // namespace

const Operation* operation_of(std::string_view kind) {
  const auto* found = std::ranges::find(kOperations, kind, &Operation::kind);
  return found == std::end(kOperations) ? nullptr : found;
}

Kernel operation_kernel(std::string_view kind, double elements) {
  const Operation* operation = operation_of(kind);
  GRADWIRE_ASSERT(operation);
  return memory_kernel(operation->forward * elements, operation->backward * elements,
                       operation->forward_kernels, operation->backward_kernels);
}

}  // namespace gradwire::scenarios
