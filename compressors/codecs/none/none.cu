#include "compressors/codecs/none/cuda.h"
#include "compressors/cuda/words.cuh"

/// binary32.
namespace gradwire::compressors::cuda {
namespace {

struct FloatFormat {
  using Word = float;
  __device__ static float from_float(float value, bool) { return value; }
  __device__ static float to_float(float word) { return word; }
};

}  // namespace

void none_encode(Encodes from) {
  encode_words<FloatFormat>(from, false);
}

void none_decode(Decodes to) {
  decode_words<FloatFormat>(to);
}

}  // namespace gradwire::compressors::cuda
