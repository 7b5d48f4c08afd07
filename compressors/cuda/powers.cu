#include "compressors/arithmetic/natural.h"
#include "compressors/arithmetic/power_of_two.h"
#include "compressors/cuda/packed.cuh"
#include "compressors/cuda/reduce.cuh"

/// Powers of two: natural and log.
namespace gradwire::compressors::cuda {
namespace {

constexpr int kLogBits = 6;
constexpr std::uint64_t kLogCodes = 5;  ///< byte at which they begin

struct Natural9 {
  static constexpr bool kChecks = true;
  __device__ void start() {}
  __device__ bool draws() const { return true; }
  __device__ std::uint32_t code(std::uint64_t, float value, std::uint32_t word) const {
    return natural_code9(value, word);
  }
  __device__ bool good(std::uint32_t code) const { return (code & 255u) != 255; }
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

__global__ void check_log_kernel(const std::byte* payload, std::uint64_t n, CudaReport* report) {
  if (load_bytes(payload, 4) != n) refuse(report, 0);
}

}  // namespace

void natural_encode(const Source& from, std::uint32_t lowest, std::byte* payload) {
  if (lowest == 0)
    encode_packed(Natural9{}, from, {.bits = 9}, payload);
  else
    encode_packed(Natural8{lowest}, from, {.bits = 8}, payload);
}

void natural_decode(const std::byte* payload, std::uint32_t lowest, const Sink& to) {
  if (lowest == 0)
    decode_packed(Natural9{}, {.bits = 9}, payload, to);
  else
    decode_packed(Natural8{lowest}, {.bits = 8}, payload, to);
}

std::size_t log_scratch(std::uint64_t n) {
  return reduce_scratch<LargestPart>(whole_tensor(n));
}

void log_encode(const Source& from, std::byte* payload, std::byte* scratch) {
  reduce<LargestPart>(from, whole_tensor(from.n), scratch,
                      LogFinish{static_cast<std::uint32_t>(from.n), payload});
  encode_packed(LogRule{payload}, from, {.bits = kLogBits, .at = kLogCodes}, payload);
}

void log_decode(const std::byte* payload, const Sink& to) {
  if (!to.trusted) {
    check_log_kernel<<<1, 1, 0, stream_of(to.stream)>>>(payload, to.n, to.report);
    check_launch("check a log header");
  }
  decode_packed(LogRule{payload}, {.bits = kLogBits, .at = kLogCodes}, payload, to);
}

}  // namespace gradwire::compressors::cuda
