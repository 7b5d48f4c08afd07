#pragma once
#include "compressors/codecs/terngrad/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `terngrad`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct TernGradFormat {
  double clip;
  bool released;
  TernGradLayout layout;
};
std::size_t terngrad_scratch(std::uint64_t n);
/// The tensor's own scale at the payload's start.
void terngrad_scale(Encodes from, const TernGradFormat& format);
void terngrad_encode(Encodes from, const TernGradFormat& format);
void terngrad_decode(Decodes to, const TernGradFormat& format);

}  // namespace gradwire::compressors::cuda
