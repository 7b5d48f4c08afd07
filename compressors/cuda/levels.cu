#include "compressors/arithmetic/levels.h"
#include "compressors/bit_packing.h"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"
#include "compressors/payload.h"

/// Evenly spaced levels between two ends: int8 and minmax.
namespace gradwire::compressors::cuda {
namespace {

constexpr std::uint32_t kInt8Top = 255;

struct RangePart {
  static constexpr bool kPivot = false;
  float smallest = __builtin_inff(), largest = -__builtin_inff();
  __device__ void take(float value, double) {
    smallest = fminf(smallest, value);
    largest = fmaxf(largest, value);
  }
  __device__ void merge(const RangePart& later) {
    smallest = fminf(smallest, later.smallest);
    largest = fmaxf(largest, later.largest);
  }
};

// Zeros among the ends are +0.
struct Int8Finish {
  std::uint64_t n;
  std::uint32_t* header;
  LevelGrid* grid;
  __device__ void operator()(std::uint64_t, const RangePart& range) const {
    const float smallest = n == 0 ? 0.0f : range.smallest + 0.0f;
    const float largest = n == 0 ? 0.0f : range.largest + 0.0f;
    header[0] = static_cast<std::uint32_t>(n);
    header[1] = bits_of(smallest);
    header[2] = bits_of(largest);
    *grid = level_grid(smallest, largest, kInt8Top);
  }
};

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

struct Int8Decoder {
  const std::byte* payload;
  LevelGrid grid = {};
  float largest = 0;

  __device__ void start() {
    const auto* header = reinterpret_cast<const float*>(payload);
    largest = header[2];
    grid = level_grid(header[1], largest, kInt8Top);
  }
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return code == kInt8Top ? largest : level_value(code, grid);
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

struct CheckInt8 {
  static constexpr unsigned kBlockThreads = 32;
  const std::byte* payload;
  std::uint64_t n;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x != 0) return;
    const auto* header = reinterpret_cast<const float*>(payload);
    if (bits_of(header[0]) != n) refuse(report, 0);
    if (!is_finite(header[1])) refuse(report, 4);
    if (!is_finite(header[2]) || header[2] < header[1]) refuse(report, 8);
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

constexpr PackedCodes kInt8Codes{.bits = 8, .at = 12};

LevelGrid* int8_grid(const EncodeTensor& tensor) {
  return reinterpret_cast<LevelGrid*>(tensor.scratch +
                                      reduce_scratch<RangePart>(whole_tensor(tensor)));
}

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

std::size_t int8_scratch(std::uint64_t n) {
  return reduce_scratch<RangePart>(whole_tensor(n)) + aligned(sizeof(LevelGrid));
}

void int8_encode(Encodes from, LevelRounding rounding) {
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<RangePart>(from, whole, [](const EncodeTensor& tensor) {
    return Int8Finish{tensor.source.n, reinterpret_cast<std::uint32_t*>(tensor.payload),
                      int8_grid(tensor)};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(LevelEncoder{int8_grid(tensor), whole_tensor(tensor).length, rounding},
                     kInt8Codes);
  });
}

void int8_decode(Decodes to) {
  if (!to[0].sink.trusted)
    launch_items(to.size(), common_stream(to), "check int8 headers", [&](std::size_t i) {
      return CheckInt8{to[i].payload, to[i].sink.n, to[i].sink.report};
    });
  decode_packed(to, [](const DecodeTensor& tensor) {
    return std::pair(Int8Decoder{tensor.payload}, kInt8Codes);
  });
}

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
