#pragma once
#include "compressors/codecs/qsgd/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `qsgd`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct QsgdFormat {
  QsgdLayout layout;
  bool max_norm;
};
std::size_t qsgd_scratch(std::uint64_t n, std::uint64_t bucket);
void qsgd_encode(Encodes from, const QsgdFormat& format);
void qsgd_decode(Decodes to, const QsgdFormat& format);

}  // namespace gradwire::compressors::cuda
