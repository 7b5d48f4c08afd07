#include "compressors/arithmetic/half.h"
#include "compressors/codecs/fp16/cuda.h"
#include "compressors/cuda/words.cuh"

/// binary16.
namespace gradwire::compressors::cuda {
namespace {

struct HalfFormat {
  using Word = std::uint16_t;
  __device__ static std::uint16_t from_float(float value, bool saturate) {
    return half_from_float(value, saturate);
  }
  __device__ static float to_float(std::uint16_t word) { return float_from_half(word); }
};

}  // namespace

void fp16_encode(Encodes from, bool saturate) {
  encode_words<HalfFormat>(from, saturate);
}

void fp16_decode(Decodes to) {
  decode_words<HalfFormat>(to);
}

}  // namespace gradwire::compressors::cuda
