#pragma once
#include "compressors/codecs/dither/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `dither`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct DitherFormat {
  DitherLayout layout;
  bool euclidean;
};
std::size_t dither_scratch(std::uint64_t n);
void dither_encode(Encodes from, const DitherFormat& format);
void dither_decode(Decodes to, const DitherFormat& format);

}  // namespace gradwire::compressors::cuda
