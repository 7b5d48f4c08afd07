#pragma once
#include "compressors/arithmetic/trits.h"
#include "compressors/cuda/packed.cuh"

/// The kernels of packed.cuh for codes 0, 1, 2 at five a byte, with the same rules. An encoder's
/// thread takes 20 elements, which are 5 Philox blocks and 4 bytes; a decoder's takes a byte.
namespace gradwire::compressors::cuda {

template <class Rule>
__global__ void encode_trits_kernel(Rule rule, Source from, std::uint8_t* trits) {
  constexpr unsigned kElements = 20, kBytes = 4;
  if (!Rule::kChecks && refused(from.report)) return;
  rule.start();
  for (std::uint64_t i = first_item(); kElements * i < from.n; i += stride()) {
    const std::uint64_t first = kElements * i;
    std::uint32_t bytes[kBytes] = {};
#pragma unroll
    for (unsigned quad = 0; quad < kElements / 4; ++quad) {
      std::uint32_t words[4] = {};
      if (rule.draws()) draw_four(from.draws, from.first_element + first + 4 * quad, words);
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned at = 4 * quad + j;
        if (first + at >= from.n) continue;
        const float value = from.values[first + at];
        if (Rule::kChecks && !is_finite(value)) refuse(from.report, first + at);
        bytes[at / kTritsInByte] +=
            trit_power(at % kTritsInByte) * rule.code(first + at, value, words[j]);
      }
    }
#pragma unroll
    for (unsigned b = 0; b < kBytes; ++b)
      if (first + kTritsInByte * b < from.n)
        trits[kBytes * i + b] = static_cast<std::uint8_t>(bytes[b]);
  }
}

template <class Rule, bool kAdd>
__global__ void decode_trits_kernel(Rule rule, const std::uint8_t* trits, std::uint64_t codes_at,
                                    Sink to, std::uint64_t skip_below) {
  if (first_bad(to.report) < skip_below) return;
  rule.start();
  for (std::uint64_t i = first_item(); kTritsInByte * i < to.n; i += stride()) {
    const std::uint32_t byte = trits[i];
    if (byte > kLargestTritByte) refuse(to.report, codes_at + i);
#pragma unroll
    for (unsigned j = 0; j < kTritsInByte; ++j) {
      const std::uint64_t e = kTritsInByte * i + j;
      if (e >= to.n) continue;
      const float value = rule.value(e, trit_of(byte, j));
      to.values[e] = kAdd ? to.values[e] + to.factor * value : value;
    }
  }
}

template <class Rule>
void encode_trits(const Rule& rule, const Source& from, std::uint64_t at, std::byte* payload) {
  encode_trits_kernel<<<grid_of((from.n + 19) / 20), kThreads, 0, stream_of(from.stream)>>>(
      rule, from, reinterpret_cast<std::uint8_t*>(payload + at));
  check_launch("encode trits");
}

template <class Rule>
void decode_trits(const Rule& rule, std::uint64_t at, const std::byte* payload, const Sink& to) {
  const auto kernel = to.add ? decode_trits_kernel<Rule, true> : decode_trits_kernel<Rule, false>;
  kernel<<<grid_of((to.n + 4) / 5), kThreads, 0, stream_of(to.stream)>>>(
      rule, reinterpret_cast<const std::uint8_t*>(payload + at), at, to,
      to.trusted ? kNothingBad : at);
  check_launch("decode trits");
}

}  // namespace gradwire::compressors::cuda
