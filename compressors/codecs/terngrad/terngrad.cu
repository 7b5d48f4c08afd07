#include "compressors/codecs/terngrad/arithmetic.h"
#include "compressors/codecs/terngrad/cuda.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/reduce.cuh"
#include "compressors/cuda/three_values.cuh"

/// A scale, and ternary terms drawn by it.
namespace gradwire::compressors::cuda {
namespace {

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

struct StoreScale {
  static constexpr unsigned kBlockThreads = 32;
  float scale;  ///< negative: none
  float* target;

  std::uint64_t units() const { return scale < 0.0f ? 0 : 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x == 0) *target = scale;
  }
};

float* scale_of(const EncodeTensor& tensor) {
  return reinterpret_cast<float*>(tensor.payload);
}

const float* floats_of(const DecodeTensor& tensor) {
  return reinterpret_cast<const float*>(tensor.payload);
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
  encode_three(from, format.layout.base3(), format.layout.at<TernGradLayout::kCodes>({}),
               [](const EncodeTensor& tensor) { return TernGradEncoder{scale_of(tensor)}; });
}

void terngrad_decode(Decodes to, const TernGradFormat& format) {
  check_fields(to, format.layout);
  decode_three(to, format.layout.base3(), format.layout.at<TernGradLayout::kCodes>({}),
               [](const DecodeTensor& tensor, float factor) {
                 return TernGradDecoder{floats_of(tensor), factor};
               });
}

}  // namespace gradwire::compressors::cuda
