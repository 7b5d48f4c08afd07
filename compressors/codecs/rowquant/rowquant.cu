#include "compressors/arithmetic/half.h"
#include "compressors/codecs/rowquant/arithmetic.h"
#include "compressors/codecs/rowquant/cuda.h"
#include "compressors/cuda/headers.cuh"
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

struct ClearColumns {
  static constexpr unsigned kBlockThreads = kThreads;
  std::uint64_t columns;
  std::uint32_t* largest;

  std::uint64_t units() const { return units_of(columns, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, columns, [&](std::uint64_t c) { largest[c] = 0; });
  }
};

// A maximum does not depend on the order in which it is found.
struct ColumnMaxima {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  std::uint64_t columns;
  std::uint32_t* largest;

  std::uint64_t units() const { return units_of(from.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, from.n, [&](std::uint64_t e) {
      const std::uint32_t magnitude = magnitude_bits(from.values[e]);
      if (magnitude >= kInfinityBits) refuse(from.report, e);
      std::uint32_t* const own = largest + e % columns;
      if (magnitude > *static_cast<const volatile std::uint32_t*>(own)) atomicMax(own, magnitude);
    });
  }
};

// Leaves half / (scale + 1e-6) where the largest magnitude was.
struct ColumnScales {
  static constexpr unsigned kBlockThreads = kThreads;
  std::uint64_t columns;
  float half_levels;
  std::byte* scales;
  std::uint32_t* largest;
  CudaReport* report;

  std::uint64_t units() const { return units_of(columns, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, columns, [&](std::uint64_t c) {
      const std::uint16_t half = half_from_float(float_of(largest[c]));
      if (half >= kInfiniteHalf) refuse(report, c);
      store_bytes(scales + 2 * c, half, 2);
      largest[c] = bits_of(half_levels / (float_from_half(half) + 1e-6f));
    });
  }
};

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

Segments rows_of(const EncodeTensor& tensor) {
  if (tensor.source.n == 0) return {};
  return segments_of(tensor.source.n, tensor.columns);
}

LevelGrid* grids_of(const EncodeTensor& tensor) {
  return reinterpret_cast<LevelGrid*>(tensor.scratch +
                                      reduce_scratch<LargestPart>(rows_of(tensor)));
}

std::byte* scales_of(const EncodeTensor& tensor, const RowQuantLayout& layout) {
  return tensor.payload + layout.scales_at(tensor.source.n);
}
const std::byte* scales_of(const DecodeTensor& tensor, const RowQuantLayout& layout) {
  return tensor.payload + layout.scales_at(tensor.sink.n);
}

PackedCodes high_first(const RowQuantLayout& layout) {
  return {.bits = layout.bits(), .high_first = true};
}

float half_levels(const RowQuantLayout& layout) {
  return static_cast<float>(1u << (layout.bits() - 1));
}

void find_columns(Encodes from, const RowQuantLayout& layout) {
  const auto largest = [&](std::size_t i) {
    return reinterpret_cast<std::uint32_t*>(from[i].scratch);
  };
  launch_items(from.size(), common_stream(from), "clear column maxima", [&](std::size_t i) {
    return ClearColumns{from[i].columns, largest(i)};
  });
  launch_items(from.size(), common_stream(from), "find column maxima", [&](std::size_t i) {
    return ColumnMaxima{from[i].source, from[i].columns, largest(i)};
  });
  launch_items(from.size(), common_stream(from), "write column scales", [&](std::size_t i) {
    return ColumnScales{from[i].columns, half_levels(layout), scales_of(from[i], layout),
                        largest(i), from[i].source.report};
  });
}

}  // namespace

std::size_t rows_scratch(std::uint64_t n, std::uint64_t columns) {
  const Segments rows = segments_of(n, columns);
  return reduce_scratch<LargestPart>(rows) + aligned(rows.count * sizeof(LevelGrid));
}

void rows_encode(Encodes from, const RowQuantLayout& layout, LevelRounding rounding) {
  const auto rows = [](const EncodeTensor& tensor) { return rows_of(tensor); };
  reduce<LargestPart>(from, rows, [&](const EncodeTensor& tensor) {
    return RowFinish{tensor.columns, layout.top(), scales_of(tensor, layout), grids_of(tensor),
                     tensor.source.report};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(LevelEncoder{grids_of(tensor), tensor.columns, rounding}, high_first(layout));
  });
}

void rows_decode(Decodes to, const RowQuantLayout& layout) {
  check_fields(to, layout);
  const auto rule = [&](const DecodeTensor& tensor) {
    const auto top = static_cast<float>(layout.top());
    return std::pair(RowDecoder{scales_of(tensor, layout), tensor.columns, top, 0},
                     high_first(layout));
  };
  decode_packed(to, rule, true);
}

std::size_t columns_scratch(std::uint64_t columns) {
  return aligned(columns * sizeof(std::uint32_t));
}

void columns_encode(Encodes from, const RowQuantLayout& layout) {
  find_columns(from, layout);
  encode_packed(from, [&](const EncodeTensor& tensor) {
    const auto* inverses = reinterpret_cast<const float*>(tensor.scratch);
    return std::pair(ColumnEncoder{inverses, tensor.columns, half_levels(layout)},
                     high_first(layout));
  });
}

void columns_decode(Decodes to, const RowQuantLayout& layout) {
  check_fields(to, layout);
  const auto rule = [&](const DecodeTensor& tensor) {
    return std::pair(
        ColumnDecoder{scales_of(tensor, layout), tensor.columns, half_levels(layout), 0},
        high_first(layout));
  };
  decode_packed(to, rule, true);
}

}  // namespace gradwire::compressors::cuda
