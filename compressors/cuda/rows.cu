#include "compressors/arithmetic/half.h"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// rowquant: codes, high bits first, and then a scale in binary16 for each row or column, which may
/// begin on an odd byte.
namespace gradwire::compressors::cuda {
namespace {

constexpr std::uint32_t kInfiniteHalf = 0x7C00;

struct RowFinish {
  std::uint64_t columns;
  std::uint32_t top;
  std::byte* scales;
  LevelGrid* grids;
  CudaReport* report;
  __device__ void operator()(std::uint64_t row, const LargestPart& part) const {
    const std::uint16_t half = half_above(float_of(part.largest));
    if (half >= kInfiniteHalf) refuse(report, row * columns);
    store_bytes(scales + 2 * row, half, 2);
    const float scale = float_from_half(half);
    grids[row] = level_grid(-scale, scale, top);
  }
};

struct RowDecoder {
  const std::byte* scales;
  std::uint64_t columns;
  float top;
  float inverse_top;
  float scale = 0;
  std::uint64_t end = 0;

  __device__ void start() { inverse_top = 1.0f / top; }
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t e, std::uint32_t code) {
    if (e >= end) {
      const std::uint64_t row = e / columns;
      scale = float_from_half(static_cast<std::uint16_t>(load_bytes(scales + 2 * row, 2)));
      end = (row + 1) * columns;
    }
    return symmetric_value(code, scale, top, inverse_top);
  }
};

// A maximum does not depend on the order in which it is found.
__global__ void column_largest_kernel(Source from, std::uint64_t columns, std::uint32_t* largest) {
  for (std::uint64_t e = first_item(); e < from.n; e += stride()) {
    const std::uint32_t magnitude = magnitude_bits(from.values[e]);
    if (magnitude >= kInfinityBits) refuse(from.report, e);
    std::uint32_t* const own = largest + e % columns;
    if (magnitude > *static_cast<const volatile std::uint32_t*>(own)) atomicMax(own, magnitude);
  }
}

// Leaves half / (scale + 1e-6) where the largest magnitude was.
__global__ void column_scales_kernel(std::uint64_t columns, float half_levels, std::byte* scales,
                                     std::uint32_t* largest, CudaReport* report) {
  for (std::uint64_t c = first_item(); c < columns; c += stride()) {
    const std::uint16_t half = half_from_float(float_of(largest[c]));
    if (half >= kInfiniteHalf) refuse(report, c);
    store_bytes(scales + 2 * c, half, 2);
    largest[c] = bits_of(half_levels / (float_from_half(half) + 1e-6f));
  }
}

struct ColumnEncoder {
  static constexpr bool kChecks = false;
  const float* inverses;
  std::uint64_t columns;
  float half;

  __device__ void start() {}
  __device__ bool draws() const { return false; }
  __device__ std::uint32_t code(std::uint64_t e, float value, std::uint32_t) const {
    return scaled_code(value, inverses[e % columns], half);
  }
};

struct ColumnDecoder {
  const std::byte* scales;
  std::uint64_t columns;
  float half, inverse_half;

  __device__ void start() { inverse_half = 1.0f / half; }
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t e, std::uint32_t code) const {
    const auto bits = static_cast<std::uint16_t>(load_bytes(scales + 2 * (e % columns), 2));
    return scaled_value(code, float_from_half(bits), half, inverse_half);
  }
};

__global__ void check_scales_kernel(const std::byte* scales, std::uint64_t count, std::uint64_t at,
                                    CudaReport* report) {
  for (std::uint64_t i = first_item(); i < count; i += stride())
    if (load_bytes(scales + 2 * i, 2) >= kInfiniteHalf) refuse(report, at + 2 * i);
}

void check_scales(const std::byte* payload, const RowFormat& format, std::uint64_t count,
                  const Sink& to) {
  if (to.trusted) return;
  check_scales_kernel<<<grid_of(count), kThreads, 0, stream_of(to.stream)>>>(
      payload + format.scales_at, count, format.scales_at, to.report);
  check_launch("check rowquant scales");
}

float half_levels(const RowFormat& format) {
  return static_cast<float>(1u << (format.bits - 1));
}

}  // namespace

std::size_t rows_scratch(std::uint64_t n, std::uint64_t columns) {
  const Segments rows = segments_of(n, columns);
  return reduce_scratch<LargestPart>(rows) + aligned(rows.count * sizeof(LevelGrid));
}

void rows_encode(const Source& from, const RowFormat& format, LevelRounding rounding,
                 std::byte* payload, std::byte* scratch) {
  const Segments rows = segments_of(from.n, format.columns);
  auto* grids = reinterpret_cast<LevelGrid*>(scratch + reduce_scratch<LargestPart>(rows));
  reduce<LargestPart>(from, rows, scratch,
                      RowFinish{format.columns, (1u << format.bits) - 1, payload + format.scales_at,
                                grids, from.report});
  encode_packed(LevelEncoder{grids, format.columns, rounding}, from,
                {.bits = format.bits, .high_first = true}, payload);
}

void rows_decode(const std::byte* payload, const RowFormat& format, const Sink& to) {
  check_scales(payload, format, to.n / format.columns, to);
  const auto top = static_cast<float>((1u << format.bits) - 1);
  decode_packed(RowDecoder{payload + format.scales_at, format.columns, top, 0},
                {.bits = format.bits, .high_first = true}, payload, to, true);
}

std::size_t columns_scratch(std::uint64_t columns) {
  return aligned(columns * sizeof(std::uint32_t));
}

void columns_encode(const Source& from, const RowFormat& format, std::byte* payload,
                    std::byte* scratch) {
  const cudaStream_t stream = stream_of(from.stream);
  auto* largest = reinterpret_cast<std::uint32_t*>(scratch);
  check_cuda(cudaMemsetAsync(largest, 0, format.columns * sizeof *largest, stream),
             "clear column maxima");
  column_largest_kernel<<<grid_of(from.n), kThreads, 0, stream>>>(from, format.columns, largest);
  check_launch("find column maxima");
  column_scales_kernel<<<grid_of(format.columns), kThreads, 0, stream>>>(
      format.columns, half_levels(format), payload + format.scales_at, largest, from.report);
  check_launch("write column scales");
  encode_packed(
      ColumnEncoder{reinterpret_cast<const float*>(largest), format.columns, half_levels(format)},
      from, {.bits = format.bits, .high_first = true}, payload);
}

void columns_decode(const std::byte* payload, const RowFormat& format, const Sink& to) {
  check_scales(payload, format, format.columns, to);
  decode_packed(ColumnDecoder{payload + format.scales_at, format.columns, half_levels(format), 0},
                {.bits = format.bits, .high_first = true}, payload, to, true);
}

}  // namespace gradwire::compressors::cuda
