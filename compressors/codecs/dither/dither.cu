#include "compressors/codecs/dither/arithmetic.h"
#include "compressors/codecs/dither/cuda.h"
#include "compressors/codecs/qsgd/arithmetic.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Powers of two below a norm.
namespace gradwire::compressors::cuda {
namespace {

using SquaresPart = MomentsPart<false>;

struct DitherFinish {
  DitherFormat format;
  RandomStream draws;
  std::uint64_t first_element;
  std::byte* payload;
  DitherRule* rule;
  __device__ void operator()(std::uint64_t, const SquaresPart& part) const {
    const float norm =
        format.euclidean ? norm_from_squares(part.sum_squares) : float_of(part.largest);
    *rule = dither_rule(norm, format.layout.levels());
    if (!format.layout.natural_norm()) return store_bytes(payload, bits_of(norm), 4);
    RandomStream stream = draws;
    stream.worker ^= kNormWorkerBit;
    store_bytes(payload, natural_code9(norm, philox_word(stream, first_element)), 2);
  }
};

struct DitherEncoder {
  static constexpr bool kChecks = false;
  const DitherRule* found;
  int bits;
  DitherRule rule = {};

  __device__ void start() { rule = *found; }
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t word) const {
    return dither_code(value, word, rule, bits);
  }
};

struct DitherDecoder {
  const std::byte* payload;
  DitherFormat format;
  float norm = 0;

  __device__ void start() { norm = format.layout.section<DitherLayout::kNorm>().value(payload); }
  __device__ bool good(std::uint32_t code) const {
    return format.layout.section<DitherLayout::kCodes>().check.good(code);
  }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return dither_value(code, norm, format.layout.levels(), format.layout.bits());
  }
};

PackedCodes dither_codes(const DitherFormat& format) {
  return {.bits = format.layout.bits(), .at = format.layout.at<DitherLayout::kCodes>({})};
}

DitherRule* rule_of(const EncodeTensor& tensor) {
  return reinterpret_cast<DitherRule*>(tensor.scratch +
                                       reduce_scratch<SquaresPart>(whole_tensor(tensor)));
}

}  // namespace

std::size_t dither_scratch(std::uint64_t n) {
  return reduce_scratch<SquaresPart>(whole_tensor(n)) + aligned(sizeof(DitherRule));
}

void dither_encode(Encodes from, const DitherFormat& format) {
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<SquaresPart>(from, whole, [&](const EncodeTensor& tensor) {
    const Source& source = tensor.source;
    return DitherFinish{format, source.draws, source.first_element, tensor.payload,
                        rule_of(tensor)};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(DitherEncoder{rule_of(tensor), format.layout.bits()}, dither_codes(format));
  });
}

void dither_decode(Decodes to, const DitherFormat& format) {
  check_fields(to, format.layout);
  decode_packed(to, [&](const DecodeTensor& tensor) {
    return std::pair(DitherDecoder{tensor.payload, format}, dither_codes(format));
  });
}

}  // namespace gradwire::compressors::cuda
