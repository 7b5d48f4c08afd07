#include "compressors/arithmetic/ternary.h"

#include "compressors/arithmetic/dead_zone.h"
#include "compressors/arithmetic/ternary_threshold.h"
#include "compressors/cuda/reduce.cuh"
#include "compressors/cuda/trits.cuh"

/// terngrad; and ternary, whose threshold threshold.cu finds.
namespace gradwire::compressors::cuda {
namespace {

constexpr std::uint64_t kTernGradCodes = 4, kTernaryCodes = 8;  ///< bytes at which codes begin

using AboutFirst = MomentsPart<true>;

struct ScaleFinish {
  std::uint64_t n;
  TernGradFormat format;
  float* scale;
  __device__ void operator()(std::uint64_t, const AboutFirst& part) const {
    const float largest = float_of(part.largest);
    *scale = format.released
                 ? ternary_released_scale(part.sum, part.sum_squares, largest, n, format.clip)
                 : ternary_scale(part.sum, part.sum_squares, largest, n, format.clip);
  }
};

struct TernGradEncoder {
  static constexpr bool kChecks = true;
  const float* scale;
  TernaryRule rule = {};

  __device__ void start() { rule = ternary_rule(*scale); }
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t word) const {
    return static_cast<std::uint32_t>(ternary_term(value, ternary_draw(word), rule) + 1);
  }
};

// The factor is multiplied to the scale, as on the CPU.
struct TernGradDecoder {
  const float* scale;
  float factor;
  float unit = 0;

  __device__ void start() { unit = factor * *scale; }
  __device__ bool good(std::uint32_t code) const { return code != 3; }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return ternary_value(code, unit);
  }
};

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

struct StoreScale {
  static constexpr unsigned kBlockThreads = 32;
  float scale;  ///< negative: none
  float* target;

  std::uint64_t units() const { return scale < 0.0f ? 0 : 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x == 0) *target = scale;
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

struct CheckScale {
  static constexpr unsigned kBlockThreads = 32;
  const float* scale;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x == 0 && !is_scale(*scale)) refuse(report, 0);
  }
};

struct CheckTernary {
  static constexpr unsigned kBlockThreads = 32;
  const std::uint32_t* header;
  std::uint64_t n;
  float largest_multiple;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x != 0) return;
    if (header[0] != n) refuse(report, 0);
    const float level = float_of(header[1]);
    if (!is_finite(level * largest_multiple) || header[1] >> 31 != 0) refuse(report, 4);
  }
};

void check_ternary(Decodes to, float largest_multiple) {
  if (to[0].sink.trusted) return;
  launch_items(to.size(), common_stream(to), "check ternary headers", [&](std::size_t i) {
    const auto* header = reinterpret_cast<const std::uint32_t*>(to[i].payload);
    return CheckTernary{header, to[i].sink.n, largest_multiple, to[i].sink.report};
  });
}

float* scale_of(const EncodeTensor& tensor) {
  return reinterpret_cast<float*>(tensor.payload);
}
const float* floats_of(const DecodeTensor& tensor) {
  return reinterpret_cast<const float*>(tensor.payload);
}
const FoundThreshold* found_in(const EncodeTensor& tensor) {
  return reinterpret_cast<const FoundThreshold*>(tensor.scratch);
}

/// Codes of three values: in base 3, or two bits each. `make(tensor)` gives a rule.
template <class Make>
void encode_three(Encodes from, bool base3, std::uint64_t at, const Make& make) {
  if (base3) return encode_trits(from, at, make);
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(make(tensor), PackedCodes{.bits = 2, .at = at});
  });
}

/// The same; `make(tensor, factor)` gives a rule that applies the factor itself.
template <class Make>
void decode_three(Decodes to, bool base3, std::uint64_t at, const Make& make) {
  const float factor = to[0].sink.factor;
  TensorList<DecodeTensor> plain;
  for (DecodeTensor tensor : to) {
    tensor.sink.factor = 1.0f;
    plain.push_back(tensor);
  }
  const auto rule = [&](const DecodeTensor& tensor) { return make(tensor, factor); };
  if (base3) return decode_trits(plain.span(), at, rule);
  decode_packed(plain.span(), [&](const DecodeTensor& tensor) {
    return std::pair(rule(tensor), PackedCodes{.bits = 2, .at = at});
  });
}

int top_of(int bits) {
  return (1 << (bits - 1)) - 1;
}

DeadZoneGrid* dead_zone_grid_of(const EncodeTensor& tensor) {
  return reinterpret_cast<DeadZoneGrid*>(tensor.scratch +
                                         reduce_scratch<LargestPart>(whole_tensor(tensor)));
}

PackedCodes dead_zone_codes(int bits) {
  return {.bits = bits, .at = kTernaryCodes};
}

}  // namespace

std::size_t terngrad_scratch(std::uint64_t n) {
  return reduce_scratch<AboutFirst>(whole_tensor(n));
}

void terngrad_scale(Encodes from, const TernGradFormat& format) {
  const auto segments = [](const EncodeTensor& tensor) {
    return tensor.shared_scale < 0.0f ? whole_tensor(tensor) : Segments{};
  };
  reduce<AboutFirst>(from, segments, [&](const EncodeTensor& tensor) {
    return ScaleFinish{tensor.source.n, format, scale_of(tensor)};
  });
}

void terngrad_encode(Encodes from, const TernGradFormat& format) {
  terngrad_scale(from, format);
  launch_items(from.size(), common_stream(from), "store scales", [&](std::size_t i) {
    return StoreScale{from[i].shared_scale, scale_of(from[i])};
  });
  encode_three(from, format.base3, kTernGradCodes,
               [](const EncodeTensor& tensor) { return TernGradEncoder{scale_of(tensor)}; });
}

void terngrad_decode(Decodes to, const TernGradFormat& format) {
  if (!to[0].sink.trusted)
    launch_items(to.size(), common_stream(to), "check scales", [&](std::size_t i) {
      return CheckScale{floats_of(to[i]), to[i].sink.report};
    });
  decode_three(to, format.base3, kTernGradCodes, [](const DecodeTensor& tensor, float factor) {
    return TernGradDecoder{floats_of(tensor), factor};
  });
}

void threshold_encode(Encodes from, bool base3) {
  launch_items(from.size(), common_stream(from), "write ternary headers", [&](std::size_t i) {
    const Source& source = from[i].source;
    auto* header = reinterpret_cast<std::uint32_t*>(from[i].payload);
    return ThresholdHeader{static_cast<std::uint32_t>(source.n), found_in(from[i]), header,
                           source.report};
  });
  encode_three(from, base3, kTernaryCodes,
               [](const EncodeTensor& tensor) { return ThresholdEncoder{found_in(tensor)}; });
}

void threshold_decode(Decodes to, bool base3) {
  check_ternary(to, 1.0f);
  decode_three(to, base3, kTernaryCodes, [](const DecodeTensor& tensor, float factor) {
    return ThresholdDecoder{floats_of(tensor) + 1, factor};
  });
}

std::size_t dead_zone_scratch(std::uint64_t n) {
  return reduce_scratch<LargestPart>(whole_tensor(n)) + aligned(sizeof(DeadZoneGrid));
}

void dead_zone_encode(Encodes from, int bits, float dead_zone) {
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<LargestPart>(from, whole, [&](const EncodeTensor& tensor) {
    return DeadZoneFinish{static_cast<std::uint32_t>(tensor.source.n), top_of(bits), dead_zone,
                          reinterpret_cast<std::uint32_t*>(tensor.payload),
                          dead_zone_grid_of(tensor)};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(DeadZoneEncoder{dead_zone_grid_of(tensor)}, dead_zone_codes(bits));
  });
}

void dead_zone_decode(Decodes to, int bits) {
  check_ternary(to, static_cast<float>(top_of(bits)));
  decode_packed(to, [&](const DecodeTensor& tensor) {
    const auto largest = 2 * static_cast<std::uint32_t>(top_of(bits));
    return std::pair(DeadZoneDecoder{floats_of(tensor) + 1, largest}, dead_zone_codes(bits));
  });
}

}  // namespace gradwire::compressors::cuda
