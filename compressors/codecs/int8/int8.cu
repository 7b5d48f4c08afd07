#include "compressors/codecs/int8/cuda.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/range.cuh"

/// 256 levels between the ends of a tensor.
namespace gradwire::compressors::cuda {
namespace {

constexpr std::uint32_t kInt8Top = Int8Layout::kTop;

// Zeros among the ends are +0.
struct Int8Finish {
  std::uint64_t n;
  std::uint32_t* header;
  LevelGrid* grid;
  __device__ void operator()(std::uint64_t, const RangePart& range) const {
    const float smallest = n == 0 ? 0.0f : range.smallest + 0.0f;
    const float largest = n == 0 ? 0.0f : range.largest + 0.0f;
    header[0] = static_cast<std::uint32_t>(n);
    header[1] = bits_of(smallest);
    header[2] = bits_of(largest);
    *grid = level_grid(smallest, largest, kInt8Top);
  }
};

struct Int8Decoder {
  const std::byte* payload;
  LevelGrid grid = {};
  float largest = 0;

  __device__ void start() {
    const auto* header = reinterpret_cast<const float*>(payload);
    largest = header[2];
    grid = level_grid(header[1], largest, kInt8Top);
  }
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t, std::uint32_t code) const {
    return code == kInt8Top ? largest : level_value(code, grid);
  }
};

PackedCodes int8_codes() {
  return {.bits = 8, .at = Int8Layout().at<Int8Layout::kCodes>({})};
}

LevelGrid* int8_grid(const EncodeTensor& tensor) {
  return reinterpret_cast<LevelGrid*>(tensor.scratch +
                                      reduce_scratch<RangePart>(whole_tensor(tensor)));
}

}  // namespace

std::size_t int8_scratch(std::uint64_t n) {
  return reduce_scratch<RangePart>(whole_tensor(n)) + aligned(sizeof(LevelGrid));
}

void int8_encode(Encodes from, LevelRounding rounding) {
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<RangePart>(from, whole, [](const EncodeTensor& tensor) {
    return Int8Finish{tensor.source.n, reinterpret_cast<std::uint32_t*>(tensor.payload),
                      int8_grid(tensor)};
  });
  encode_packed(from, [&](const EncodeTensor& tensor) {
    return std::pair(LevelEncoder{int8_grid(tensor), whole_tensor(tensor).length, rounding},
                     int8_codes());
  });
}

void int8_decode(Decodes to) {
  check_fields(to, Int8Layout());
  decode_packed(to, [](const DecodeTensor& tensor) {
    return std::pair(Int8Decoder{tensor.payload}, int8_codes());
  });
}

}  // namespace gradwire::compressors::cuda
