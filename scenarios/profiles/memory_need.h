#pragma once
#include <string_view>

#include "scenarios/profiles/profile.h"

/// What training a layer table holds in a worker's device memory.
///
/// Model. P parameters, N workers, B samples at a time, a elements of activations that a layer
/// writes for a sample, w bytes of one (2 in fp16, else 4):
///
///   weights      4 P (fp16: 6 P, the fp32 ones among them)     / N with ZeRO's stage 3
///   gradients    4 P                                            / N from stage 2 on
///   optimiser    4 P, the momentum of SGD (attention: 8 P, Adam's moments)   / N from stage 1 on;
///   0 on the host activations  B w sum of a: the backward pass needs what each layer wrote; relu
///   and sums, which
///                write over what they read, and copies by heads not counted. In s segments that
///                are computed again: the most that one of them has, and what the others' last
///                layers wrote
///
/// Limits. Nothing of what kernels use for themselves, of messages and buckets under way, of
/// allocators' waste; fused attention needs less, and what goes past a cut beside the last layer's
/// output (a sum's other operand) more.
namespace gradwire::scenarios {

struct MemoryNeed {
  double weights = 0, gradients = 0, optimizer = 0, activations = 0;  ///< bytes
  double total() const { return weights + gradients + optimizer + activations; }
};

struct MemoryPlan {
  int batch = 1;     ///< samples that pass at a time
  int segments = 0;  ///< that are computed again; 0 = everything is kept
  int workers = 1;
  int zero = 0;                ///< stage of ZeRO
  bool state_on_host = false;  ///< the optimiser's
  std::string_view precision = "fp32";
};

MemoryNeed memory_need(const WorkloadProfile& workload, const MemoryPlan& plan);

}  // namespace gradwire::scenarios
