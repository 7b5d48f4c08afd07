#pragma once
#include "compressors/cuda/reduce.cuh"

namespace gradwire::compressors::cuda {

/// A part of reduce.cuh: the ends of the values. Zeros among them may have either sign.
struct RangePart {
  static constexpr bool kPivot = false;
  float smallest = __builtin_inff(), largest = -__builtin_inff();
  __device__ void take(float value, double) {
    smallest = fminf(smallest, value);
    largest = fmaxf(largest, value);
  }
  __device__ void merge(const RangePart& later) {
    smallest = fminf(smallest, later.smallest);
    largest = fmaxf(largest, later.largest);
  }
};

}  // namespace gradwire::compressors::cuda
