#include "compressors/codecs/minmax/cuda.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/range.cuh"

/// Levels between the ends of each bucket.
namespace gradwire::compressors::cuda {
namespace {

struct MinMaxFinish {
  std::uint64_t bucket;
  std::uint32_t top;
  float* header;
  LevelGrid* grids;
  CudaReport* report;
  __device__ void operator()(std::uint64_t b, const RangePart& range) const {
    const LevelGrid grid = level_grid(range.smallest + 0.0f, range.largest + 0.0f, top);
    if (!is_finite(grid.unit)) refuse(report, b * bucket);
    header[2 * b] = grid.unit;
    header[2 * b + 1] = grid.origin;
    grids[b] = grid;
  }
};

struct MinMaxDecoder {
  const float* header;
  std::uint64_t bucket;
  std::uint32_t top;
  LevelGrid grid = {};
  std::uint64_t end = 0;

  __device__ void start() {}
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t e, std::uint32_t code) {
    if (e >= end) {
      const std::uint64_t b = e / bucket;
      grid = level_grid_from_unit(header[2 * b + 1], header[2 * b], top);
      end = (b + 1) * bucket;
    }
    return level_value(code, grid);
  }
};

/// Fewer bytes than a block has threads.
struct PadPayload {
  static constexpr unsigned kBlockThreads = 32;
  std::byte* padding;
  std::uint64_t bytes;

  std::uint64_t units() const { return bytes > 0 ? 1 : 0; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x < bytes) padding[threadIdx.x] = std::byte{0};
  }
};

Segments buckets_of(std::uint64_t n, const MinMaxLayout& layout) {
  return segments_of(n, layout.bucket());
}

LevelGrid* minmax_grids(const EncodeTensor& tensor, const MinMaxLayout& layout) {
  const Segments buckets = buckets_of(tensor.source.n, layout);
  return reinterpret_cast<LevelGrid*>(tensor.scratch + reduce_scratch<RangePart>(buckets));
}

PackedCodes minmax_codes(const MinMaxLayout& layout, std::uint64_t n) {
  return {.bits = layout.bits(), .at = layout.at<MinMaxLayout::kCodes>({.n = n})};
}

}  // namespace

std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket) {
  const Segments buckets = segments_of(n, bucket);
  return reduce_scratch<RangePart>(buckets) + aligned(buckets.count * sizeof(LevelGrid));
}

void minmax_encode(Encodes from, const MinMaxLayout& layout, LevelRounding rounding) {
  const auto buckets = [&](const EncodeTensor& tensor) {
    return buckets_of(tensor.source.n, layout);
  };
  reduce<RangePart>(from, buckets, [&](const EncodeTensor& tensor) {
    return MinMaxFinish{layout.bucket(), layout.top(), reinterpret_cast<float*>(tensor.payload),
                        minmax_grids(tensor, layout), tensor.source.report};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(LevelEncoder{minmax_grids(tensor, layout), layout.bucket(), rounding},
                     minmax_codes(layout, tensor.source.n));
  });
  launch_items(from.size(), common_stream(from), "pad payloads", [&](std::size_t i) {
    const Extent extent = extent_of(from[i]);
    const std::uint64_t at = layout.at<MinMaxLayout::kPadding>(extent);
    return PadPayload{from[i].payload + at, layout.size(extent) - at};
  });
}

void minmax_decode(Decodes to, const MinMaxLayout& layout) {
  const auto header = [](const DecodeTensor& tensor) {
    return reinterpret_cast<const float*>(tensor.payload);
  };
  check_fields(to, layout);
  decode_packed(to, [&](const DecodeTensor& tensor) {
    return std::pair(MinMaxDecoder{header(tensor), layout.bucket(), layout.top()},
                     minmax_codes(layout, tensor.sink.n));
  });
}

}  // namespace gradwire::compressors::cuda
