#pragma once

/// What a training step computes, kernel by kernel: shapes for a roofline (kernel_time.h).
namespace gradwire::scenarios {

/// A kernel of the forward pass and those of the backward pass that belong to it.
struct Kernel {
  enum class Kind {
    kMatrix,       ///< dense layers and 1 x 1 convolutions
    kConvolution,  ///< by implicit matrix products
    kWinograd,     ///< 3 x 3 and 5 x 5, stride 1: fewer multiplications in fp32
    kActivations,  ///< a product of two activations
    kAttention,    ///< both products of attention, softmax apart unless `fused`
    kMemory,       ///< normalisation, activations, dropout, sums: bound by memory
  };
  Kind kind = Kind::kMemory;
  double repeats = 1;          ///< one after another: equal layers, steps of a recurrence
  double count = 1;            ///< of products side by side
  double m = 0, n = 0, k = 0;  ///< of a product: [m, k] x [k, n]
  double forward = 0;          ///< elements read and written
  double backward = 0;         ///< the same; of kMemory alone
  int forward_kernels = 1;
  int backward_kernels = 2;
  bool input_gradient = true;
  bool fused = false;
};

/// Elements read and written, and kernels, of what memory bounds.
inline Kernel memory_kernel(double forward, double backward, int forward_kernels = 1,
                            int backward_kernels = 1) {
  Kernel one;
  one.forward = forward;
  one.backward = backward;
  one.forward_kernels = forward_kernels;
  one.backward_kernels = backward_kernels;
  return one;
}

inline Kernel matrix_kernel(double m, double n, double k) {
  Kernel one;
  one.kind = Kernel::Kind::kMatrix;
  one.m = m;
  one.n = n;
  one.k = k;
  one.forward = m * k + m * n + n * k;
  return one;
}

}  // namespace gradwire::scenarios
