#include "compressors/codecs/dither/arithmetic.h"
#include "compressors/codecs/dither/cuda.h"
#include "compressors/codecs/qsgd/arithmetic.h"
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
    *rule = dither_rule(norm, format.levels);
    if (!format.natural_norm) return store_bytes(payload, bits_of(norm), 4);
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

__device__ float dither_norm(const std::byte* payload, bool natural) {
  return natural ? natural_value9(load_bytes(payload, 2)) : load_float(payload);
}

struct DitherDecoder {
  const std::byte* payload;
  DitherFormat format;
  float norm = 0;

  __device__ void start() { norm = dither_norm(payload, format.natural_norm); }
  __device__ bool good(std::uint32_t code) const {
    return (code & ((1u << (format.bits - 1)) - 1)) <= static_cast<std::uint32_t>(format.levels);
  }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return dither_value(code, norm, format.levels, format.bits);
  }
};

struct CheckDither {
  static constexpr unsigned kBlockThreads = 32;
  const std::byte* payload;
  bool natural;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x != 0) return;
    const bool good = natural ? load_bytes(payload, 2) <= 254 : is_scale(load_float(payload));
    if (!good) refuse(report, 0);
  }
};

PackedCodes dither_codes(const DitherFormat& format) {
  return {.bits = format.bits, .at = format.natural_norm ? 2u : 4u};
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
    return std::pair(DitherEncoder{rule_of(tensor), format.bits}, dither_codes(format));
  });
}

void dither_decode(Decodes to, const DitherFormat& format) {
  if (!to[0].sink.trusted)
    launch_items(to.size(), common_stream(to), "check norms", [&](std::size_t i) {
      return CheckDither{to[i].payload, format.natural_norm, to[i].sink.report};
    });
  decode_packed(to, [&](const DecodeTensor& tensor) {
    return std::pair(DitherDecoder{tensor.payload, format}, dither_codes(format));
  });
}

}  // namespace gradwire::compressors::cuda
