#pragma once
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "results/prediction/least_squares.h"

/// What the form of a step does not know of a device and of the program that was measured on it.
namespace gradwire::bench {

enum class Constant : std::size_t {
  kMatrixFp32,       ///< share of the peak that large products reach, without tensor cores
  kConvolutionFp32,  ///< the same of convolutions
  kWinograd,         ///< Winograd's gain over other convolutions in fp32
  kMatrixTensor,     ///< share of the tensor cores' peak
  kConvolutionTensor,
  kMemory,    ///< share of the memory's bandwidth
  kTile,      ///< tiles a multiprocessor at which half of that efficiency is reached
  kTraffic,   ///< multiple of the counted traffic of kernels that memory bounds
  kHost,      ///< the host's time to launch a kernel, s
  kStep,      ///< of a step: input, scalars, synchronisation, s
  kParallel,  ///< of a step of several workers, s
  kExposed,   ///< multiple of the reduction's time that nothing hides
  kUpdate,    ///< multiple of the optimiser's counted traffic
  kFp8,       ///< gain of products in fp8
  kCompiled,  ///< what torch.compile leaves of the traffic
  kCount,
};
inline constexpr std::size_t kConstants = static_cast<std::size_t>(Constant::kCount);

/// Values by constant; the unknowns of a fit are their logarithms.
using Constants = std::array<double, kConstants>;

/// Logarithms with their priors: what is known before a table is seen, for any device.
std::vector<results::Unknown> constant_unknowns();
Constants constants_at(std::span<const double> logarithms);
inline double of(const Constants& constants, Constant which) {
  return constants[static_cast<std::size_t>(which)];
}

}  // namespace gradwire::bench
