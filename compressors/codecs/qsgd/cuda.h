#pragma once
#include "compressors/cuda/launchers.h"

/// Launches of `qsgd`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct QsgdFormat {
  std::uint32_t levels;
  int bits;
  std::uint64_t bucket;
  bool max_norm;
};
/// Byte at which the codes of n elements begin.
std::uint64_t qsgd_codes_at(const QsgdFormat& format, std::uint64_t n);
std::size_t qsgd_scratch(std::uint64_t n, std::uint64_t bucket);
void qsgd_encode(Encodes from, const QsgdFormat& format);
void qsgd_decode(Decodes to, const QsgdFormat& format);

}  // namespace gradwire::compressors::cuda
