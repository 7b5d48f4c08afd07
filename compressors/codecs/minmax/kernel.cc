#include "compressors/codecs/minmax/kernel.h"

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/minmax/kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/grid_encoder-inl.h"
#include "compressors/kernels/range-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

/// Makes the grids of one bucket after another, and writes their headers.
struct GridMaker {
  const float* values;
  std::size_t n, bucket;
  std::uint32_t top;
  std::byte* headers;
  BucketsSeen seen;

  HWY_INLINE LevelGrid make(std::size_t begin) {
    ValueRange range = range_of(values + begin, std::min(bucket, n - begin));
    if (!range.finite) range = {0.0f, 0.0f, seen.finite = false};
    const LevelGrid grid = level_grid(range.smallest, range.largest, top);
    if (std::isinf(grid.unit) && seen.too_wide == n) seen.too_wide = begin;
    const float header[2] = {grid.unit, grid.origin};
    std::memcpy(headers, header, sizeof header);
    headers += sizeof header;
    return grid;
  }
};

/// Codes of a few buckets, packed in the first-level cache.
struct PackedPart {
  alignas(64) std::uint8_t bytes[kLevelChunk + 64];  ///< room for vectors to write beyond the end

  CodeOutput output(const CodeOutput& like) {
    return {reinterpret_cast<std::byte*>(bytes), like.bits, like.order};
  }
  HWY_INLINE void send(std::size_t size, bool streamed, std::byte* to) const {
    if (streamed)
      stream_bytes(bytes, size, reinterpret_cast<std::uint8_t*>(to));
    else
      std::memcpy(to, bytes, size);
  }
};

// Each bucket's codes at once after its range: working on several ranges ahead of the codes hides
// the latency of the reductions, and is a fifth slower where values come from memory.
HWY_ATTR BucketsSeen BucketedCodes(const float* values, std::size_t n, std::size_t bucket,
                                   std::uint32_t top, std::byte* headers, const CodeOutput& codes,
                                   bool streamed) {
  GridMaker grids{values, n, bucket, top, headers, {true, n}};
  PackedPart packed;
  const CodeWriter writer(packed.output(codes), kLevelChunk + 2 * kWordUnit);
  const std::size_t part = kLevelChunk / bucket * bucket;
  for (std::size_t begin = 0; begin < n; begin += part) {
    const std::size_t count = std::min(part, n - begin);
    for (std::size_t at = 0; at < count; at += bucket) {
      const LevelGrid grid = grids.make(begin + at);
      const GridEncoder<LevelRounding::kHalfUp> encoder{values + begin, grid, writer};
      const std::size_t end = std::min(count, at + bucket);
      if (grid.wide)
        encoder.tail(at, end - at, nullptr);
      else
        encode_all(encoder, at, end);
    }
    packed.send(packed_bytes(count, codes.bits), streamed, codes.from(begin).bytes);
  }
  return grids.seen;
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(BucketedCodes);

BucketsSeen bucketed_codes(const float* values, std::size_t n, std::size_t bucket,
                           std::uint32_t top, std::byte* headers, const CodeOutput& codes,
                           bool streamed) {
  GRADWIRE_ASSERT(bucket % 64 == 0 && bucket <= kLevelChunk);
  return HWY_DYNAMIC_DISPATCH(BucketedCodes)(values, n, bucket, top, headers, codes, streamed);
}

}  // namespace gradwire::compressors::kernels
#endif
