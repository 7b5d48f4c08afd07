#pragma once
#include "compressors/codec.h"

/// One source file a codec; each gives its row of the catalogue and makes it from checked options.
namespace gradwire::compressors {

struct CodecRow {
  CodecInfo info;
  CodecPtr (*make)(const OptionValues& options);
};

#define GRADWIRE_CODEC(name) CodecRow name##_row();
#include "compressors/codec_rows.inc"
#undef GRADWIRE_CODEC

/// max(1, ceil(ratio n)), at most n; 0 for n = 0. The product is taken 1e-12 (relative) low, so
/// that a ratio that is exact in decimals (0.07 * 100) does not round up to one more.
std::size_t topk_count(std::size_t n, double ratio);

}  // namespace gradwire::compressors
