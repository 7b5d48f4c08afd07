#pragma once
#include <cstdint>

#include "base/host_device.h"
#include "compressors/codec.h"

namespace gradwire::compressors {

/// What the size of a payload follows from, besides the codec's options.
struct Extent {
  std::uint64_t n = 0;        ///< elements
  std::uint64_t columns = 0;  ///< the last dimension; n for at most one dimension
  std::uint64_t nodes = 1;    ///< the first dimension; 1 for at most one

  GRADWIRE_HD constexpr std::uint64_t rows() const { return n == 0 ? 0 : n / columns; }
  /// Elements of one of `nodes`.
  GRADWIRE_HD constexpr std::uint64_t fan_in() const { return nodes == 0 ? 0 : n / nodes; }
};

inline Extent extent_of(const TensorSpec& tensor) {
  if (tensor.shape.size() < 2) return {tensor.n, tensor.n, 1};
  return {tensor.n, static_cast<std::uint64_t>(tensor.shape.back()),
          static_cast<std::uint64_t>(tensor.shape.front())};
}

}  // namespace gradwire::compressors
