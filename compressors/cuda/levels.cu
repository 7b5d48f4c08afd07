#include "compressors/arithmetic/levels.h"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

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

__global__ void check_int8_kernel(const std::byte* payload, std::uint64_t n, CudaReport* report) {
  const auto* header = reinterpret_cast<const float*>(payload);
  if (bits_of(header[0]) != n) refuse(report, 0);
  if (!is_finite(header[1])) refuse(report, 4);
  if (!is_finite(header[2]) || header[2] < header[1]) refuse(report, 8);
}

__global__ void check_minmax_kernel(const float* header, std::uint64_t buckets,
                                    CudaReport* report) {
  for (std::uint64_t b = first_item(); b < buckets; b += stride()) {
    if (!is_scale(header[2 * b])) refuse(report, 8 * b);
    if (!is_finite(header[2 * b + 1])) refuse(report, 8 * b + 4);
  }
}

}  // namespace

std::size_t int8_scratch(std::uint64_t n) {
  return reduce_scratch<RangePart>(whole_tensor(n)) + aligned(sizeof(LevelGrid));
}

void int8_encode(const Source& from, LevelRounding rounding, std::byte* payload,
                 std::byte* scratch) {
  const Segments whole = whole_tensor(from.n);
  auto* grid = reinterpret_cast<LevelGrid*>(scratch + reduce_scratch<RangePart>(whole));
  reduce<RangePart>(from, whole, scratch,
                    Int8Finish{from.n, reinterpret_cast<std::uint32_t*>(payload), grid});
  encode_packed(LevelEncoder{grid, whole.length, rounding}, from, {.bits = 8, .at = 12}, payload);
}

void int8_decode(const std::byte* payload, const Sink& to) {
  if (!to.trusted) {
    check_int8_kernel<<<1, 1, 0, stream_of(to.stream)>>>(payload, to.n, to.report);
    check_launch("check an int8 header");
  }
  decode_packed(Int8Decoder{payload}, {.bits = 8, .at = 12}, payload, to);
}

std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket) {
  const Segments buckets = segments_of(n, bucket);
  return reduce_scratch<RangePart>(buckets) + aligned(buckets.count * sizeof(LevelGrid));
}

void minmax_encode(const Source& from, const MinMaxFormat& format, LevelRounding rounding,
                   std::byte* payload, std::byte* scratch) {
  const Segments buckets = segments_of(from.n, format.bucket);
  auto* grids = reinterpret_cast<LevelGrid*>(scratch + reduce_scratch<RangePart>(buckets));
  reduce<RangePart>(from, buckets, scratch,
                    MinMaxFinish{format.bucket, (1u << format.bits) - 1,
                                 reinterpret_cast<float*>(payload), grids, from.report});
  encode_packed(LevelEncoder{grids, format.bucket, rounding}, from,
                {.bits = format.bits, .at = format.codes_at}, payload);
  check_cuda(cudaMemsetAsync(payload + format.codes_end, 0, format.end - format.codes_end,
                             stream_of(from.stream)),
             "pad a payload");
}

void minmax_decode(const std::byte* payload, const MinMaxFormat& format, const Sink& to) {
  const auto* header = reinterpret_cast<const float*>(payload);
  const std::uint64_t buckets = format.codes_at / 8;
  if (!to.trusted) {
    check_minmax_kernel<<<grid_of(buckets), kThreads, 0, stream_of(to.stream)>>>(header, buckets,
                                                                                 to.report);
    check_launch("check minmax headers");
  }
  decode_packed(MinMaxDecoder{header, format.bucket, (1u << format.bits) - 1},
                {.bits = format.bits, .at = format.codes_at}, payload, to);
}

}  // namespace gradwire::compressors::cuda
