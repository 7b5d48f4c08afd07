#include "trainers/device/cuda_kernels.h"

#include "compressors/cuda/cuda_memory.h"
#include "trainers/updates/adam_factors.h"

namespace gradwire::trainers::cuda {
namespace {

constexpr int kThreads = 256;

unsigned grid_of(std::int64_t n) {
  const std::int64_t blocks = (n + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

__device__ std::int64_t first_item() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

__global__ void sgd_kernel(float rate, float momentum, float decay, const float* gradient,
                           float* velocity, float* weights, std::int64_t n) {
  for (std::int64_t e = first_item(); e < n; e += stride()) {
    float change = gradient[e] + decay * weights[e];
    if (velocity != nullptr) {
      change = momentum * velocity[e] + change;
      velocity[e] = change;
    }
    weights[e] = weights[e] - rate * change;
  }
}

__global__ void adam_kernel(float rate, float root, float decay, float b1, float b2,
                            const float* gradient, float* first, float* second, float* weights,
                            std::int64_t n) {
  for (std::int64_t e = first_item(); e < n; e += stride()) {
    const float g = gradient[e] + decay * weights[e];
    first[e] = b1 * first[e] + (1 - b1) * g;
    second[e] = b2 * second[e] + (1 - b2) * (g * g);
    weights[e] = weights[e] - rate * first[e] / (sqrtf(second[e]) * root + 1e-8f);
  }
}

}  // namespace

void sgd(float rate, float momentum, float decay, const float* gradient, float* velocity,
         float* weights, std::int64_t n, void* stream) {
  sgd_kernel<<<grid_of(n), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      rate, momentum, decay, gradient, velocity, weights, n);
  compressors::check_cuda(cudaGetLastError(), "update weights by sgd");
}

void adam(float rate, float root, float decay, const float* gradient, float* first, float* second,
          float* weights, std::int64_t n, void* stream) {
  adam_kernel<<<grid_of(n), kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      rate, root, decay, static_cast<float>(AdamFactors::kBeta1),
      static_cast<float>(AdamFactors::kBeta2), gradient, first, second, weights, n);
  compressors::check_cuda(cudaGetLastError(), "update weights by adam");
}

}  // namespace gradwire::trainers::cuda
