#pragma once
#include "compressors/arithmetic/trits.h"
#include "compressors/cuda/packed.cuh"

/// The kernels of packed.cuh for codes 0, 1, 2 at five a byte, with the same rules. An encoder's
/// thread takes 20 elements, which are 5 Philox blocks and 4 bytes; a decoder's takes a byte.
namespace gradwire::compressors::cuda {

template <class Rule>
struct EncodeTrits {
  static constexpr unsigned kBlockThreads = kThreads, kElements = 20, kBytes = 4;
  Rule rule;
  Source from;
  std::uint8_t* trits;

  std::uint64_t units() const { return units_of(from.n, kThreads * kElements); }
  __device__ void run(std::uint64_t unit) const {
    if (!Rule::kChecks && refused(from.report)) return;
    const std::uint64_t i = unit * kThreads + threadIdx.x, first = kElements * i;
    if (first >= from.n) return;
    Rule own = rule;
    own.start();
    std::uint32_t bytes[kBytes] = {};
#pragma unroll
    for (unsigned quad = 0; quad < kElements / 4; ++quad) {
      std::uint32_t words[4] = {};
      if (own.draws()) draw_four(from.draws, from.first_element + first + 4 * quad, words);
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        const unsigned at = 4 * quad + j;
        if (first + at >= from.n) continue;
        const float value = from.values[first + at];
        if (Rule::kChecks && !is_finite(value)) refuse(from.report, first + at);
        bytes[at / kTritsInByte] +=
            trit_power(at % kTritsInByte) * own.code(first + at, value, words[j]);
      }
    }
#pragma unroll
    for (unsigned b = 0; b < kBytes; ++b)
      if (first + kTritsInByte * b < from.n)
        trits[kBytes * i + b] = static_cast<std::uint8_t>(bytes[b]);
  }
};

template <class Rule, bool kAdd>
struct DecodeTrits {
  static constexpr unsigned kBlockThreads = kThreads;
  Rule rule;
  Sink to;
  const std::uint8_t* trits;
  std::uint64_t codes_at;

  std::uint64_t units() const { return units_of(to.n, kThreads * kTritsInByte); }
  __device__ void run(std::uint64_t unit) const {
    const std::uint64_t i = unit * kThreads + threadIdx.x;
    if (kTritsInByte * i >= to.n) return;
    if (first_bad(to.report) < (to.trusted ? kNothingBad : codes_at)) return;
    Rule own = rule;
    own.start();
    const std::uint32_t byte = trits[i];
    if (byte > kLargestTritByte) refuse(to.report, codes_at + i);
#pragma unroll
    for (unsigned j = 0; j < kTritsInByte; ++j) {
      const std::uint64_t e = kTritsInByte * i + j;
      if (e >= to.n) continue;
      const float value = own.value(e, trit_of(byte, j));
      to.values[e] = kAdd ? to.values[e] + to.factor * value : value;
    }
  }
};

/// `make(tensor)` gives a tensor's rule; the codes of all begin at the byte `at`.
template <class Make>
void encode_trits(Encodes from, std::uint64_t at, const Make& make) {
  using Rule = decltype(make(from[0]));
  launch_items(from.size(), common_stream(from), "encode trits", [&](std::size_t i) {
    auto* trits = reinterpret_cast<std::uint8_t*>(from[i].payload + at);
    return EncodeTrits<Rule>{make(from[i]), from[i].source, trits};
  });
}

template <bool kAdd, class Make>
void decode_trits_to(Decodes to, std::uint64_t at, const Make& make) {
  using Rule = decltype(make(to[0]));
  launch_items(to.size(), common_stream(to), "decode trits", [&](std::size_t i) {
    const auto* trits = reinterpret_cast<const std::uint8_t*>(to[i].payload + at);
    return DecodeTrits<Rule, kAdd>{make(to[i]), to[i].sink, trits, at};
  });
}

template <class Make>
void decode_trits(Decodes to, std::uint64_t at, const Make& make) {
  if (to[0].sink.add)
    decode_trits_to<true>(to, at, make);
  else
    decode_trits_to<false>(to, at, make);
}

}  // namespace gradwire::compressors::cuda
