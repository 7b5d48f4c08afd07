#include "compressors/codecs/ternary/cuda.h"
#include "compressors/codecs/ternary/dead_zone.h"
#include "compressors/codecs/ternary/threshold.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/reduce.cuh"
#include "compressors/cuda/three_values.cuh"

/// Three values, whose threshold threshold.cu finds, or levels about a dead zone.
namespace gradwire::compressors::cuda {
namespace {

struct ThresholdEncoder {
  static constexpr bool kChecks = false;
  const FoundThreshold* found;
  std::uint32_t lowest = 0;

  __device__ void start() { lowest = found->lowest; }
  __device__ bool draws() const { return false; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t) const {
    return threshold_code(value, lowest);
  }
};

struct ThresholdDecoder {
  const float* stored;
  float factor;
  float level = 0;

  __device__ void start() { level = factor * *stored; }
  __device__ bool good(std::uint32_t code) const { return code != 3; }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return threshold_value(code, level);
  }
};

struct DeadZoneFinish {
  std::uint32_t n;
  int top;
  float dead_zone;
  std::uint32_t* header;
  DeadZoneGrid* grid;
  __device__ void operator()(std::uint64_t, const LargestPart& part) const {
    *grid = dead_zone_grid(float_of(part.largest), top, dead_zone);
    header[0] = n;
    header[1] = bits_of(grid->step);
  }
};

struct DeadZoneEncoder {
  static constexpr bool kChecks = false;
  const DeadZoneGrid* found;
  DeadZoneGrid grid = {};

  __device__ void start() { grid = *found; }
  __device__ bool draws() const { return false; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t) const {
    return dead_zone_code(value, grid);
  }
};

struct DeadZoneDecoder {
  const float* stored;
  std::uint32_t largest;
  float step = 0;

  __device__ void start() { step = *stored; }
  __device__ bool good(std::uint32_t code) const { return code <= largest; }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return dead_zone_value(code, step);
  }
};

struct ThresholdHeader {
  static constexpr unsigned kBlockThreads = 32;
  std::uint32_t n;
  const FoundThreshold* found;
  std::uint32_t* header;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x != 0 || refused(report)) return;
    header[0] = n;
    header[1] = bits_of(found->level);
  }
};

const float* floats_of(const DecodeTensor& tensor) {
  return reinterpret_cast<const float*>(tensor.payload);
}

const FoundThreshold* found_in(const EncodeTensor& tensor) {
  return reinterpret_cast<const FoundThreshold*>(tensor.scratch);
}

DeadZoneGrid* dead_zone_grid_of(const EncodeTensor& tensor) {
  return reinterpret_cast<DeadZoneGrid*>(tensor.scratch +
                                         reduce_scratch<LargestPart>(whole_tensor(tensor)));
}

PackedCodes dead_zone_codes(const DeadZoneLayout& layout) {
  return {.bits = layout.bits(), .at = layout.at<kTernaryCodes>({})};
}

}  // namespace

void threshold_encode(Encodes from, const ThresholdLayout& layout) {
  launch_items(from.size(), common_stream(from), "write ternary headers", [&](std::size_t i) {
    const Source& source = from[i].source;
    auto* header = reinterpret_cast<std::uint32_t*>(from[i].payload);
    return ThresholdHeader{static_cast<std::uint32_t>(source.n), found_in(from[i]), header,
                           source.report};
  });
  encode_three(from, layout.base3(), layout.at<kTernaryCodes>({}),
               [](const EncodeTensor& tensor) { return ThresholdEncoder{found_in(tensor)}; });
}

void threshold_decode(Decodes to, const ThresholdLayout& layout) {
  check_fields(to, layout);
  decode_three(to, layout.base3(), layout.at<kTernaryCodes>({}),
               [](const DecodeTensor& tensor, float factor) {
                 return ThresholdDecoder{floats_of(tensor) + 1, factor};
               });
}

std::size_t dead_zone_scratch(std::uint64_t n) {
  return reduce_scratch<LargestPart>(whole_tensor(n)) + aligned(sizeof(DeadZoneGrid));
}

void dead_zone_encode(Encodes from, const DeadZoneLayout& layout, float dead_zone) {
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<LargestPart>(from, whole, [&](const EncodeTensor& tensor) {
    return DeadZoneFinish{static_cast<std::uint32_t>(tensor.source.n), layout.top(), dead_zone,
                          reinterpret_cast<std::uint32_t*>(tensor.payload),
                          dead_zone_grid_of(tensor)};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(DeadZoneEncoder{dead_zone_grid_of(tensor)}, dead_zone_codes(layout));
  });
}

void dead_zone_decode(Decodes to, const DeadZoneLayout& layout) {
  check_fields(to, layout);
  decode_packed(to, [&](const DecodeTensor& tensor) {
    const auto largest = layout.section<kTernaryCodes>().check.largest;
    return std::pair(DeadZoneDecoder{floats_of(tensor) + 1, largest}, dead_zone_codes(layout));
  });
}

}  // namespace gradwire::compressors::cuda
