#pragma once
#include "compressors/arithmetic/levels.h"
#include "compressors/cuda/launchers.h"

/// Launches of `minmax`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct MinMaxFormat {
  int bits;
  std::uint64_t bucket;
};
/// Of the payload of n elements, in bytes; zeros follow codes_end.
struct MinMaxPlaces {
  std::uint64_t codes_at, codes_end, end;
};
MinMaxPlaces minmax_places(const MinMaxFormat& format, std::uint64_t n);
std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket);
void minmax_encode(Encodes from, const MinMaxFormat& format, LevelRounding rounding);
void minmax_decode(Decodes to, const MinMaxFormat& format);

}  // namespace gradwire::compressors::cuda
