#include "compressors/bit_packing.h"
#include "compressors/codecs/minmax/cuda.h"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/range.cuh"
#include "compressors/payload.h"

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

struct CheckMinMax {
  static constexpr unsigned kBlockThreads = kThreads;
  const float* header;
  std::uint64_t buckets;
  CudaReport* report;

  std::uint64_t units() const { return units_of(buckets, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, buckets, [&](std::uint64_t b) {
      if (!is_scale(header[2 * b])) refuse(report, 8 * b);
      if (!is_finite(header[2 * b + 1])) refuse(report, 8 * b + 4);
    });
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

Segments buckets_of(std::uint64_t n, const MinMaxFormat& format) {
  return segments_of(n, format.bucket);
}

LevelGrid* minmax_grids(const EncodeTensor& tensor, const MinMaxFormat& format) {
  const Segments buckets = buckets_of(tensor.source.n, format);
  return reinterpret_cast<LevelGrid*>(tensor.scratch + reduce_scratch<RangePart>(buckets));
}

std::uint32_t top_of(const MinMaxFormat& format) {
  return (1u << format.bits) - 1;
}

PackedCodes minmax_codes(const MinMaxFormat& format, std::uint64_t n) {
  return {.bits = format.bits, .at = minmax_places(format, n).codes_at};
}

}  // namespace

MinMaxPlaces minmax_places(const MinMaxFormat& format, std::uint64_t n) {
  const std::uint64_t codes_at = 8 * units_of(n, format.bucket);
  const std::uint64_t codes = packed_bytes(n, format.bits);
  return {codes_at, codes_at + codes, codes_at + padded_to_8(codes)};
}

std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket) {
  const Segments buckets = segments_of(n, bucket);
  return reduce_scratch<RangePart>(buckets) + aligned(buckets.count * sizeof(LevelGrid));
}

void minmax_encode(Encodes from, const MinMaxFormat& format, LevelRounding rounding) {
  const auto buckets = [&](const EncodeTensor& tensor) {
    return buckets_of(tensor.source.n, format);
  };
  reduce<RangePart>(from, buckets, [&](const EncodeTensor& tensor) {
    return MinMaxFinish{format.bucket, top_of(format), reinterpret_cast<float*>(tensor.payload),
                        minmax_grids(tensor, format), tensor.source.report};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(LevelEncoder{minmax_grids(tensor, format), format.bucket, rounding},
                     minmax_codes(format, tensor.source.n));
  });
  launch_items(from.size(), common_stream(from), "pad payloads", [&](std::size_t i) {
    const MinMaxPlaces places = minmax_places(format, from[i].source.n);
    return PadPayload{from[i].payload + places.codes_end, places.end - places.codes_end};
  });
}

void minmax_decode(Decodes to, const MinMaxFormat& format) {
  const auto header = [](const DecodeTensor& tensor) {
    return reinterpret_cast<const float*>(tensor.payload);
  };
  if (!to[0].sink.trusted)
    launch_items(to.size(), common_stream(to), "check minmax headers", [&](std::size_t i) {
      const Sink& sink = to[i].sink;
      return CheckMinMax{header(to[i]), buckets_of(sink.n, format).count, sink.report};
    });
  decode_packed(to, [&](const DecodeTensor& tensor) {
    return std::pair(MinMaxDecoder{header(tensor), format.bucket, top_of(format)},
                     minmax_codes(format, tensor.sink.n));
  });
}

}  // namespace gradwire::compressors::cuda
