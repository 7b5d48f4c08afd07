#pragma once
#include <cstdint>

/// Launches of the optimisers' kernels on device memory; `stream` is a cudaStream_t. Each gives,
/// bit for bit, what trainers/updates/sgd.cc and adam.cc compute. Throws Error(kFailure) where a
/// launch fails.
namespace gradwire::trainers::cuda {

/// velocity null: without momentum.
void sgd(float rate, float momentum, float decay, const float* gradient, float* velocity,
         float* weights, std::int64_t n, void* stream);
/// `rate`, `root`: adam_factors().
void adam(float rate, float root, float decay, const float* gradient, float* first, float* second,
          float* weights, std::int64_t n, void* stream);

}  // namespace gradwire::trainers::cuda
