#include "compressors/codecs/int8/cuda.h"
#include "compressors/cuda/level_encoder.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/range.cuh"

/// 256 levels between the ends of a tensor.
namespace gradwire::compressors::cuda {
namespace {

constexpr std::uint32_t kInt8Top = 255;

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

struct CheckInt8 {
  static constexpr unsigned kBlockThreads = 32;
  const std::byte* payload;
  std::uint64_t n;
  CudaReport* report;

  std::uint64_t units() const { return 1; }
  __device__ void run(std::uint64_t) const {
    if (threadIdx.x != 0) return;
    const auto* header = reinterpret_cast<const float*>(payload);
    if (bits_of(header[0]) != n) refuse(report, 0);
    if (!is_finite(header[1])) refuse(report, 4);
    if (!is_finite(header[2]) || header[2] < header[1]) refuse(report, 8);
  }
};

constexpr PackedCodes kInt8Codes{.bits = 8, .at = 12};

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
                     kInt8Codes);
  });
}

void int8_decode(Decodes to) {
  if (!to[0].sink.trusted)
    launch_items(to.size(), common_stream(to), "check int8 headers", [&](std::size_t i) {
      return CheckInt8{to[i].payload, to[i].sink.n, to[i].sink.report};
    });
  decode_packed(to, [](const DecodeTensor& tensor) {
    return std::pair(Int8Decoder{tensor.payload}, kInt8Codes);
  });
}

}  // namespace gradwire::compressors::cuda
