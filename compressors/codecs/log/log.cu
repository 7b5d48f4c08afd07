#include "compressors/arithmetic/power_of_two.h"
#include "compressors/codecs/log/cuda.h"
#include "compressors/cuda/headers.cuh"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Powers of two, on a log scale.
namespace gradwire::compressors::cuda {
namespace {

struct LogFinish {
  std::uint32_t n;
  std::byte* payload;
  __device__ void operator()(std::uint64_t, const LargestPart& part) const {
    store_bytes(payload, n, 4);
    store_bytes(payload + 4, static_cast<std::uint32_t>(log_largest_exponent(part.largest)), 1);
  }
};

struct LogRule {
  static constexpr bool kChecks = false;
  const std::byte* payload;
  int emax = 0;

  __device__ void start() {
    emax = static_cast<std::int8_t>(static_cast<std::uint8_t>(payload[4]));
  }
  __device__ bool draws() const { return false; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t) const {
    return log_code(value, emax);
  }
  __device__ bool good(std::uint32_t) const { return true; }
  __device__ float value(std::uint64_t, std::uint32_t code) const { return log_value(code, emax); }
};

PackedCodes log_format() {
  return {.bits = LogLayout::kBits, .at = LogLayout().at<LogLayout::kCodes>({})};
}

}  // namespace

std::size_t log_scratch(std::uint64_t n) {
  return reduce_scratch<LargestPart>(whole_tensor(n));
}

void log_encode(Encodes from) {
  const auto whole = [](const EncodeTensor& tensor) { return whole_tensor(tensor); };
  reduce<LargestPart>(from, whole, [](const EncodeTensor& tensor) {
    return LogFinish{static_cast<std::uint32_t>(tensor.source.n), tensor.payload};
  });
  encode_packed(from, [](const EncodeTensor& tensor) {
    return std::pair(LogRule{tensor.payload}, log_format());
  });
}

void log_decode(Decodes to) {
  check_fields(to, LogLayout());
  decode_packed(to, [](const DecodeTensor& tensor) {
    return std::pair(LogRule{tensor.payload}, log_format());
  });
}

}  // namespace gradwire::compressors::cuda
