#pragma once
#include <string>
#include <vector>

#include "bench/measured/table.h"

/// What a training step computes, kernel by kernel: shapes for a roofline.
namespace gradwire::bench {

/// A kernel of the forward pass and those of the backward pass that belong to it.
struct StepKernel {
  enum class Kind {
    kMatrix,       ///< dense layers and 1 x 1 convolutions
    kConvolution,  ///< by implicit matrix products
    kWinograd,     ///< 3 x 3, stride 1: fewer multiplications in fp32
    kAttention,    ///< both products of attention, softmax apart unless `fused`
    kMemory,       ///< normalisation, activations, dropout, sums: bound by memory
  };
  Kind kind = Kind::kMemory;
  double repeats = 1;          ///< one after another: equal layers
  double count = 1;            ///< of products side by side
  double m = 0, n = 0, k = 0;  ///< of a product: [m, k] x [k, n]
  double forward = 0;          ///< elements read and written
  double backward = 0;         ///< the same; of kMemory alone
  int forward_kernels = 1;
  int backward_kernels = 2;
  bool input_gradient = true;
  bool fused = false;
};

struct StepWork {
  std::vector<StepKernel> kernels;
  double parameters = 0;
  double update_bytes = 0;  ///< that the optimiser moves for a parameter
};

/// Why the row's workload has no kernels here; empty if it has.
std::string why_no_work(const MeasuredStep& step);

/// Of one forward and backward pass of `step.batch` samples. Convolutional networks come from the
/// shipped layer tables, transformers (gpt, bert-large, llama-8b) from their shape: unfused
/// dropout, normalisation and softmax, and with llama fused attention, grouped keys and values (a
/// quarter), SwiGLU of 3.5 hidden. Precondition: why_no_work is empty.
StepWork work_of(const MeasuredStep& step);

}  // namespace gradwire::bench
