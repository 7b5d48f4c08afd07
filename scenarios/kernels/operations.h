#pragma once
#include <string_view>

#include "scenarios/kernels/kernel.h"

/// What programs run for the parts of a transformer that memory bounds.
namespace gradwire::scenarios {

/// For each element that a layer of the kind writes, the elements that its kernels read and write,
/// counted operation by operation: a mask of dropout is half an element, a bias is added where the
/// product does not, and its gradient is a sum.
///
/// | kind | what it stands for |
/// |---|---|
/// | eager-... | every operation of the formula a kernel, as PyTorch ran BERT in 2019 |
/// | fused-... | one kernel each, with what stands beside it, as Megatron-LM runs GPT |
/// | ...-softmax | scale, mask, softmax and dropout of attention's scores |
/// | ...-heads | biases of query, key and value; heads apart and together again |
/// | ...-dropout-add | bias and dropout of a part of the block, and its sum with the input |
/// | ...-gelu | bias and GELU (eager: by erf) |
/// | eager-rms-norm, eager-rotation | six operations in fp32; positions turned in fp32 |
/// | repeat-heads, eager-gate | shared keys and values repeated; SiLU and gate |
/// | cross-entropy | of logits, in fp32 |
struct Operation {
  std::string_view kind;
  double forward = 0, backward = 0;
  int forward_kernels = 1, backward_kernels = 1;
};

/// Null where no operation has that name.
const Operation* operation_of(std::string_view kind);

/// Of an operation that writes so many elements. Precondition (assertion): there is one.
Kernel operation_kernel(std::string_view kind, double elements);

}  // namespace gradwire::scenarios
