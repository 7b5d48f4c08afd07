#pragma once
#include "compressors/codecs/ternary/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `ternary`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t threshold_scratch(std::uint32_t n);
void find_threshold(const Source& from, std::byte* scratch);

/// What threshold.cu finds at the start of a tensor's scratch and threshold_encode reads.
struct FoundThreshold {
  std::uint32_t lowest;
  float level;
};
/// Header and codes of two bits or in base 3.
void threshold_encode(Encodes from, const ThresholdLayout& layout);
void threshold_decode(Decodes to, const ThresholdLayout& layout);
std::size_t dead_zone_scratch(std::uint64_t n);
void dead_zone_encode(Encodes from, const DeadZoneLayout& layout, float dead_zone);
void dead_zone_decode(Decodes to, const DeadZoneLayout& layout);

}  // namespace gradwire::compressors::cuda
