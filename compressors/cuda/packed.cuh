#pragma once
#include <utility>

#include "compressors/arithmetic/packed_group.h"
#include "compressors/cuda/eight.cuh"

/// Kernels of the codecs with packed codes of fixed width. A thread takes 8 elements, whose codes
/// are whole bytes; a block's 2,048 pass through shared memory, so that global memory is accessed
/// in order. What a code is, a Rule says: a small struct, copied to each thread.
///
/// An encoder's rule:
///   static constexpr bool kChecks;  // refuses what is not finite; false: that was done before
///   void start();                   // once a thread and tile, before the first element
///   bool draws() const;             // whether `word` below means something
///   std::uint32_t code(std::uint64_t e, float value, std::uint32_t word);   // ascending e
/// A decoder's rule:
///   void start();
///   bool good(std::uint32_t code) const;
///   float value(std::uint64_t e, std::uint32_t code);
namespace gradwire::compressors::cuda {

inline constexpr int kWidestCode = 9;
static_assert(kGroupCodes == kEight);

/// Copies by all threads of a block, in words where both sides are aligned.
__device__ inline void copy_by_block(std::uint8_t* to, const std::uint8_t* from, unsigned bytes) {
  const bool words =
      ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 3u) == 0;
  const unsigned whole = words ? bytes / 4 : 0;
  for (unsigned i = threadIdx.x; i < whole; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  for (unsigned i = 4 * whole + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}

/// Codes of `count` <= 8 elements from `first` on; 0 for the rest.
template <class Rule>
__device__ void codes_of_group(Rule& rule, const Source& from, std::uint64_t first, unsigned count,
                               std::uint32_t* codes) {
  float values[kGroupCodes];
  std::uint32_t words[kGroupCodes] = {};
  load_eight(from.values, first, from.n, values);
  if (rule.draws()) {
    draw_four(from.draws, from.first_element + first, words);
    draw_four(from.draws, from.first_element + first + 4, words + 4);
  }
#pragma unroll
  for (unsigned j = 0; j < kGroupCodes; ++j) {
    codes[j] = 0;
    if (j >= count) continue;
    if (Rule::kChecks && !is_finite(values[j])) refuse(from.report, first + j);
    codes[j] = rule.code(first + j, values[j], words[j]);
  }
}

struct PackedCodes {
  int bits;
  bool high_first = false;
  std::uint64_t at = 0;  ///< byte of the payload where they begin
};

template <class Rule>
struct EncodePacked {
  static constexpr unsigned kBlockThreads = kThreads;
  Rule rule;
  Source from;
  PackedCodes format;
  std::uint8_t* codes_out;

  std::uint64_t units() const { return units_of(from.n, kTile); }
  __device__ void run(std::uint64_t unit) const {
    if (!Rule::kChecks && block_refused(from.report)) return;
    __shared__ alignas(16) std::uint8_t packed[kThreads * kWidestCode];
    const int bits = format.bits;
    const std::uint64_t tile = unit * kTile;
    const unsigned in_tile = static_cast<unsigned>(min(from.n - tile, std::uint64_t{kTile}));
    const unsigned begin = threadIdx.x * kGroupCodes;
    if (begin < in_tile) {
      Rule own = rule;
      own.start();
      std::uint32_t codes[kGroupCodes];
      codes_of_group(own, from, tile + begin, min(in_tile - begin, kGroupCodes), codes);
      put_group(codes, bits, format.high_first, packed + threadIdx.x * bits);
    }
    __syncthreads();
    copy_by_block(codes_out + tile / kGroupCodes * bits, packed, (in_tile * bits + 7) / 8);
    __syncthreads();
  }
};

/// Bad codes are refused at the byte in which they begin. Does nothing if a byte below `skip_below`
/// was refused before.
template <class Rule, bool kAdd>
struct DecodePacked {
  static constexpr unsigned kBlockThreads = kThreads;
  Rule rule;
  Sink to;
  PackedCodes format;
  const std::uint8_t* codes_in;
  std::uint64_t skip_below;

  std::uint64_t units() const { return units_of(to.n, kTile); }
  __device__ void run(std::uint64_t unit) const {
    if (block_refused(to.report, skip_below)) return;
    __shared__ alignas(16) std::uint8_t packed[kThreads * kWidestCode];
    const int bits = format.bits;
    const std::uint64_t tile = unit * kTile;
    const unsigned in_tile = static_cast<unsigned>(min(to.n - tile, std::uint64_t{kTile}));
    copy_by_block(packed, codes_in + tile / kGroupCodes * bits, (in_tile * bits + 7) / 8);
    __syncthreads();
    const unsigned begin = threadIdx.x * kGroupCodes;
    if (begin < in_tile) decode_group(tile, begin, in_tile, packed + threadIdx.x * bits);
    __syncthreads();
  }

  __device__ void decode_group(std::uint64_t tile, unsigned begin, unsigned in_tile,
                               const std::uint8_t* group) const {
    Rule own = rule;
    own.start();
    std::uint32_t codes[kGroupCodes];
    float values[kGroupCodes];
    take_group(group, format.bits, format.high_first, codes);
    if (kAdd) load_eight(to.values, tile + begin, to.n, values);
#pragma unroll
    for (unsigned j = 0; j < kGroupCodes; ++j) {
      if (begin + j >= in_tile) continue;  // bits beyond the last code are nobody's
      const std::uint64_t e = tile + begin + j;
      if (!own.good(codes[j])) refuse(to.report, format.at + e * format.bits / 8);
      const float value = own.value(e, codes[j]);
      values[j] = kAdd ? values[j] + to.factor * value : value;
    }
    store_eight(values, tile + begin, to.n, to.values);
  }
};

/// `make(tensor)` gives a tensor's rule and PackedCodes, as a pair.
template <class Make>
void encode_packed(Encodes from, const Make& make) {
  launch_items(from.size(), common_stream(from), "encode packed codes", [&](std::size_t i) {
    const auto [rule, codes] = make(from[i]);
    using Rule = typename decltype(make(from[i]))::first_type;
    auto* bytes = reinterpret_cast<std::uint8_t*>(from[i].payload + codes.at);
    return EncodePacked<Rule>{rule, from[i].source, codes, bytes};
  });
}

template <bool kAdd, class Make>
void decode_packed_to(Decodes to, const Make& make, bool fields_follow) {
  launch_items(to.size(), common_stream(to), "decode packed codes", [&](std::size_t i) {
    const auto [rule, codes] = make(to[i]);
    using Rule = typename decltype(make(to[i]))::first_type;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(to[i].payload + codes.at);
    const std::uint64_t skip_below = to[i].sink.trusted || fields_follow ? kNothingBad : codes.at;
    return DecodePacked<Rule, kAdd>{rule, to[i].sink, codes, bytes, skip_below};
  });
}

/// Run after a check of the payloads' other fields, unless the sinks trust them. `fields_follow`:
/// they come after the codes, all of which are good.
template <class Make>
void decode_packed(Decodes to, const Make& make, bool fields_follow = false) {
  if (to[0].sink.add)
    decode_packed_to<true>(to, make, fields_follow);
  else
    decode_packed_to<false>(to, make, fields_follow);
}

}  // namespace gradwire::compressors::cuda
