#pragma once
#include <cuda_runtime_api.h>

namespace cub {
template <class T, int kThreads>
class BlockScan {
 public:
  struct TempStorage {
    T values[kThreads];
  };
  explicit BlockScan(TempStorage& storage) : values_(storage.values) {}
  void ExclusiveSum(T value, T& before) {
    T up_to, total;
    InclusiveSum(value, up_to, total);
    before = up_to - value;
  }
  void InclusiveSum(T value, T& up_to, T& total) {
    values_[threadIdx.x] = value;
    __syncthreads();
    total = up_to = 0;
    for (unsigned t = 0; t < kThreads; ++t) {
      total += values_[t];
      if (t == threadIdx.x) up_to = total;
    }
    __syncthreads();
  }

 private:
  T* values_;
};
}  // namespace cub
