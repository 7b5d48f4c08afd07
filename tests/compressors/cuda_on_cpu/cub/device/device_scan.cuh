#pragma once
#include <cuda_runtime_api.h>

namespace cub {
struct DeviceScan {
  template <class T, class Count>
  static cudaError_t ExclusiveSum(void* temporary, std::size_t& bytes, const T* values, T* sums,
                                  Count n, cudaStream_t) {
    if (temporary == nullptr) {
      bytes = 1;
      return cudaSuccess;
    }
    T sum = 0;
    for (Count i = 0; i < n; ++i) {
      const T value = values[i];  // may be the same memory
      sums[i] = sum;
      sum += value;
    }
    return cudaSuccess;
  }
};
}  // namespace cub
