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

__global__ void threshold_header_kernel(std::uint32_t n, const FoundThreshold* found,
                                        std::uint32_t* header, CudaReport* report) {
  if (refused(report)) return;
  header[0] = n;
  header[1] = bits_of(found->level);
}

__global__ void check_scale_kernel(const float* scale, CudaReport* report) {
  if (!is_scale(*scale)) refuse(report, 0);
}

__global__ void check_ternary_kernel(const std::uint32_t* header, std::uint64_t n,
                                     float largest_multiple, CudaReport* report) {
  if (header[0] != n) refuse(report, 0);
  const float level = float_of(header[1]);
  if (!is_finite(level * largest_multiple) || header[1] >> 31 != 0) refuse(report, 4);
}

void check_ternary(const std::byte* payload, float largest_multiple, const Sink& to) {
  if (to.trusted) return;
  check_ternary_kernel<<<1, 1, 0, stream_of(to.stream)>>>(
      reinterpret_cast<const std::uint32_t*>(payload), to.n, largest_multiple, to.report);
  check_launch("check a ternary header");
}

/// For rules that apply the factor themselves.
Sink without_factor(Sink to) {
  to.factor = 1.0f;
  return to;
}

int top_of(int bits) {
  return (1 << (bits - 1)) - 1;
}

}  // namespace

std::size_t terngrad_scratch(std::uint64_t n) {
  return reduce_scratch<AboutFirst>(whole_tensor(n));
}

void terngrad_scale(const Source& from, const TernGradFormat& format, float* scale,
                    std::byte* scratch) {
  reduce<AboutFirst>(from, whole_tensor(from.n), scratch, ScaleFinish{from.n, format, scale});
}

void terngrad_codes(const Source& from, const TernGradFormat& format, std::byte* payload) {
  const TernGradEncoder rule{reinterpret_cast<const float*>(payload)};
  if (format.base3)
    encode_trits(rule, from, kTernGradCodes, payload);
  else
    encode_packed(rule, from, {.bits = 2, .at = kTernGradCodes}, payload);
}

void terngrad_decode(const std::byte* payload, const TernGradFormat& format, const Sink& to) {
  const auto* scale = reinterpret_cast<const float*>(payload);
  if (!to.trusted) {
    check_scale_kernel<<<1, 1, 0, stream_of(to.stream)>>>(scale, to.report);
    check_launch("check a scale");
  }
  const TernGradDecoder rule{scale, to.factor};
  if (format.base3)
    decode_trits(rule, kTernGradCodes, payload, without_factor(to));
  else
    decode_packed(rule, {.bits = 2, .at = kTernGradCodes}, payload, without_factor(to));
}

void threshold_encode(const Source& from, bool base3, const FoundThreshold* threshold,
                      std::byte* payload) {
  threshold_header_kernel<<<1, 1, 0, stream_of(from.stream)>>>(
      static_cast<std::uint32_t>(from.n), threshold, reinterpret_cast<std::uint32_t*>(payload),
      from.report);
  check_launch("write a ternary header");
  if (base3)
    encode_trits(ThresholdEncoder{threshold}, from, kTernaryCodes, payload);
  else
    encode_packed(ThresholdEncoder{threshold}, from, {.bits = 2, .at = kTernaryCodes}, payload);
}

void threshold_decode(const std::byte* payload, bool base3, const Sink& to) {
  check_ternary(payload, 1.0f, to);
  const ThresholdDecoder rule{reinterpret_cast<const float*>(payload) + 1, to.factor};
  if (base3)
    decode_trits(rule, kTernaryCodes, payload, without_factor(to));
  else
    decode_packed(rule, {.bits = 2, .at = kTernaryCodes}, payload, without_factor(to));
}

std::size_t dead_zone_scratch(std::uint64_t n) {
  return reduce_scratch<LargestPart>(whole_tensor(n)) + aligned(sizeof(DeadZoneGrid));
}

void dead_zone_encode(const Source& from, int bits, float dead_zone, std::byte* payload,
                      std::byte* scratch) {
  const Segments whole = whole_tensor(from.n);
  auto* grid = reinterpret_cast<DeadZoneGrid*>(scratch + reduce_scratch<LargestPart>(whole));
  reduce<LargestPart>(from, whole, scratch,
                      DeadZoneFinish{static_cast<std::uint32_t>(from.n), top_of(bits), dead_zone,
                                     reinterpret_cast<std::uint32_t*>(payload), grid});
  encode_packed(DeadZoneEncoder{grid}, from, {.bits = bits, .at = kTernaryCodes}, payload);
}

void dead_zone_decode(const std::byte* payload, int bits, const Sink& to) {
  check_ternary(payload, static_cast<float>(top_of(bits)), to);
  decode_packed(DeadZoneDecoder{reinterpret_cast<const float*>(payload) + 1,
                                2 * static_cast<std::uint32_t>(top_of(bits))},
                {.bits = bits, .at = kTernaryCodes}, payload, to);
}

}  // namespace gradwire::compressors::cuda
