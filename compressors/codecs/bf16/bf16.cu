#include "compressors/arithmetic/bfloat.h"
#include "compressors/codecs/bf16/cuda.h"
#include "compressors/cuda/words.cuh"

/// bfloat16.
namespace gradwire::compressors::cuda {
namespace {

struct BfloatFormat {
  using Word = std::uint16_t;
  __device__ static std::uint16_t from_float(float value, bool saturate) {
    return bfloat_from_float(value, saturate);
  }
  __device__ static float to_float(std::uint16_t word) { return float_from_bfloat(word); }
};

}  // namespace

void bf16_encode(Encodes from, bool saturate) {
  encode_words<BfloatFormat>(from, saturate);
}

void bf16_decode(Decodes to) {
  decode_words<BfloatFormat>(to);
}

}  // namespace gradwire::compressors::cuda
