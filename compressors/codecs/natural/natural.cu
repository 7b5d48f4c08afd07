#include "compressors/codecs/natural/arithmetic.h"
#include "compressors/codecs/natural/cuda.h"
#include "compressors/cuda/packed.cuh"

/// Powers of two next to the values.
namespace gradwire::compressors::cuda {
namespace {

struct Natural9 {
  static constexpr bool kChecks = true;
  __device__ void start() {}
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t word) const {
    return natural_code9(value, word);
  }
  __device__ bool good(std::uint32_t code) const { return NaturalCode{9}.good(code); }
  __device__ float value(std::uint64_t, std::uint32_t code) const { return natural_value9(code); }
};

struct Natural8 {
  static constexpr bool kChecks = true;
  std::uint32_t lowest;
  __device__ void start() {}
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t word) const {
    return natural_code8(value, word, lowest);
  }
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return natural_value8(code, lowest);
  }
};

constexpr PackedCodes kNineBits{.bits = 9}, kEightBits{.bits = 8};

}  // namespace

void natural_encode(Encodes from, std::uint32_t lowest) {
  if (lowest == 0)
    encode_packed(from, [](const EncodeTensor&) { return std::pair(Natural9{}, kNineBits); });
  else
    encode_packed(from,
                  [&](const EncodeTensor&) { return std::pair(Natural8{lowest}, kEightBits); });
}

void natural_decode(Decodes to, std::uint32_t lowest) {
  if (lowest == 0)
    decode_packed(to, [](const DecodeTensor&) { return std::pair(Natural9{}, kNineBits); });
  else
    decode_packed(to, [&](const DecodeTensor&) { return std::pair(Natural8{lowest}, kEightBits); });
}

}  // namespace gradwire::compressors::cuda
