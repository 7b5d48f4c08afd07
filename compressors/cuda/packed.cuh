#pragma once
#include "compressors/arithmetic/packed_group.h"
#include "compressors/cuda/launch.cuh"

/// Kernels of the codecs with packed codes of fixed width. A thread takes 8 elements, whose codes
/// are whole bytes; a block's 2,048 pass through shared memory, so that global memory is accessed
/// in order. What a code is, a Rule says: a small struct, copied to each thread.
///
/// An encoder's rule:
///   static constexpr bool kChecks;  // refuses what is not finite; false: that was done before
///   void start();                   // once a thread, before its first element
///   bool draws() const;             // whether `word` below means something
///   std::uint32_t code(std::uint64_t e, float value, std::uint32_t word);   // ascending e
/// A decoder's rule:
///   void start();
///   bool good(std::uint32_t code) const;
///   float value(std::uint64_t e, std::uint32_t code);
namespace gradwire::compressors::cuda {

inline constexpr int kWidestCode = 9;
inline constexpr unsigned kTile = kThreads * kGroupCodes;

inline unsigned tiles_grid(std::uint64_t n) {
  const std::uint64_t tiles = (n + kTile - 1) / kTile;
  return static_cast<unsigned>(tiles < 1 ? 1 : tiles > 16384 ? 16384 : tiles);
}

/// Copies by all threads of a block, in words where both sides are aligned.
__device__ inline void copy_by_block(std::uint8_t* to, const std::uint8_t* from, unsigned bytes) {
  const bool words =
      ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) & 3u) == 0;
  const unsigned whole = words ? bytes / 4 : 0;
  for (unsigned i = threadIdx.x; i < whole; i += blockDim.x)
    reinterpret_cast<std::uint32_t*>(to)[i] = reinterpret_cast<const std::uint32_t*>(from)[i];
  for (unsigned i = 4 * whole + threadIdx.x; i < bytes; i += blockDim.x) to[i] = from[i];
}

/// values[first], ... , 8 of them; 0 beyond n.
__device__ inline void load_eight(const float* values, std::uint64_t first, std::uint64_t n,
                                  float* eight) {
  const float* from = values + first;
  if (first + kGroupCodes <= n && reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
    const float4 a = reinterpret_cast<const float4*>(from)[0];
    const float4 b = reinterpret_cast<const float4*>(from)[1];
    eight[0] = a.x, eight[1] = a.y, eight[2] = a.z, eight[3] = a.w;
    eight[4] = b.x, eight[5] = b.y, eight[6] = b.z, eight[7] = b.w;
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < kGroupCodes; ++j) eight[j] = first + j < n ? from[j] : 0.0f;
}

__device__ inline void store_eight(const float* eight, std::uint64_t first, std::uint64_t n,
                                   float* values) {
  float* to = values + first;
  if (first + kGroupCodes <= n && reinterpret_cast<std::uintptr_t>(to) % 16 == 0) {
    reinterpret_cast<float4*>(to)[0] = make_float4(eight[0], eight[1], eight[2], eight[3]);
    reinterpret_cast<float4*>(to)[1] = make_float4(eight[4], eight[5], eight[6], eight[7]);
    return;
  }
#pragma unroll
  for (unsigned j = 0; j < kGroupCodes; ++j)
    if (first + j < n) to[j] = eight[j];
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

template <class Rule>
__global__ void encode_packed_kernel(Rule rule, Source from, int bits, bool high_first,
                                     std::uint8_t* codes_out) {
  if (!Rule::kChecks && block_refused(from.report)) return;
  __shared__ alignas(16) std::uint8_t packed[kThreads * kWidestCode];
  rule.start();
  for (std::uint64_t tile = std::uint64_t{blockIdx.x} * kTile; tile < from.n;
       tile += std::uint64_t{gridDim.x} * kTile) {
    const unsigned in_tile = static_cast<unsigned>(min(from.n - tile, std::uint64_t{kTile}));
    const unsigned begin = threadIdx.x * kGroupCodes;
    if (begin < in_tile) {
      std::uint32_t codes[kGroupCodes];
      codes_of_group(rule, from, tile + begin, min(in_tile - begin, kGroupCodes), codes);
      put_group(codes, bits, high_first, packed + threadIdx.x * bits);
    }
    __syncthreads();
    copy_by_block(codes_out + tile / kGroupCodes * bits, packed, (in_tile * bits + 7) / 8);
    __syncthreads();
  }
}

/// Bad codes are refused at the byte in which they begin, `codes_at` being that of the first. Does
/// nothing if a byte below `skip_below` was refused before.
template <class Rule, bool kAdd>
__global__ void decode_packed_kernel(Rule rule, const std::uint8_t* codes_in,
                                     std::uint64_t codes_at, int bits, bool high_first, Sink to,
                                     std::uint64_t skip_below) {
  if (block_refused(to.report, skip_below)) return;
  __shared__ alignas(16) std::uint8_t packed[kThreads * kWidestCode];
  rule.start();
  for (std::uint64_t tile = std::uint64_t{blockIdx.x} * kTile; tile < to.n;
       tile += std::uint64_t{gridDim.x} * kTile) {
    const unsigned in_tile = static_cast<unsigned>(min(to.n - tile, std::uint64_t{kTile}));
    copy_by_block(packed, codes_in + tile / kGroupCodes * bits, (in_tile * bits + 7) / 8);
    __syncthreads();
    const unsigned begin = threadIdx.x * kGroupCodes;
    if (begin < in_tile) {
      std::uint32_t codes[kGroupCodes];
      float values[kGroupCodes];
      take_group(packed + threadIdx.x * bits, bits, high_first, codes);
      if (kAdd) load_eight(to.values, tile + begin, to.n, values);
#pragma unroll
      for (unsigned j = 0; j < kGroupCodes; ++j) {
        if (begin + j >= in_tile) continue;  // bits beyond the last code are nobody's
        const std::uint64_t e = tile + begin + j;
        if (!rule.good(codes[j])) refuse(to.report, codes_at + e * bits / 8);
        const float value = rule.value(e, codes[j]);
        values[j] = kAdd ? values[j] + to.factor * value : value;
      }
      store_eight(values, tile + begin, to.n, to.values);
    }
    __syncthreads();
  }
}

struct PackedCodes {
  int bits;
  bool high_first = false;
  std::uint64_t at = 0;  ///< byte of the payload where they begin
};

template <class Rule>
void encode_packed(const Rule& rule, const Source& from, PackedCodes codes, std::byte* payload) {
  encode_packed_kernel<<<tiles_grid(from.n), kThreads, 0, stream_of(from.stream)>>>(
      rule, from, codes.bits, codes.high_first,
      reinterpret_cast<std::uint8_t*>(payload + codes.at));
  check_launch("encode packed codes");
}

/// Run after a check of the payload's other fields, unless the sink trusts it. `fields_follow`:
/// they come after the codes, all of which are good.
template <class Rule>
void decode_packed(const Rule& rule, PackedCodes codes, const std::byte* payload, const Sink& to,
                   bool fields_follow = false) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(payload + codes.at);
  const std::uint64_t skip_below = to.trusted || fields_follow ? kNothingBad : codes.at;
  const auto kernel = to.add ? decode_packed_kernel<Rule, true> : decode_packed_kernel<Rule, false>;
  kernel<<<tiles_grid(to.n), kThreads, 0, stream_of(to.stream)>>>(rule, bytes, codes.at, codes.bits,
                                                                  codes.high_first, to, skip_below);
  check_launch("decode packed codes");
}

}  // namespace gradwire::compressors::cuda
