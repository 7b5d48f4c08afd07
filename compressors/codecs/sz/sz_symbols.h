#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/codecs/sz/sz_block.h"

/// From codes p to symbols and tokens, chunk by chunk (kSzChunk elements), each by itself, so that
/// any thread may do any chunk.
namespace gradwire {
class ThreadTeam;
}
namespace gradwire::compressors {

/// The tensor's codes p as a matrix, and how they are predicted.
struct SzCodes {
  const std::int32_t* codes = nullptr;
  std::size_t n = 0, columns = 0;
  std::uint32_t radius = 0;
  int predictor = 0;  ///< 0 none, 1: 1D, 2: 2D Lorenzo
};

/// Symbols (indices: difference + radius, 0 = escape) of elements [begin, begin + count).
void sz_symbols(const SzCodes& codes, std::size_t begin, std::size_t count, std::uint16_t* symbols);

/// How often each symbol and each class of zero runs occurs.
struct SzCounts {
  std::span<std::uint32_t> symbols;  ///< [2 radius]
  std::uint32_t runs[kSzRunClasses + 1] = {};
};
/// Counts all symbols, by any number of threads.
void count_sz_symbols(const SzCodes& codes, ThreadTeam* team, SzCounts& counts);

/// Calls sink.symbols(begin, count) for stretches without zeros and sink.zeros(run) for runs of
/// zeros, in order. `mask`: the zeros among n symbols, ceil(n / 64) words.
template <class Sink>
void for_each_run(const std::uint64_t* mask, std::size_t n, Sink&& sink) {
  std::size_t run = 0;
  for (std::size_t base = 0; base < n; base += 64) {
    const std::size_t valid = n - base < 64 ? n - base : 64;
    const std::uint64_t bits = mask[base / 64];
    for (std::size_t at = 0; at < valid;) {
      const std::uint64_t rest = bits >> at;
      if ((rest & 1) != 0) {
        const auto zeros = static_cast<std::size_t>(std::countr_one(rest));
        run += zeros;
        at += zeros;
        continue;
      }
      if (run > 0) sink.zeros(run);
      run = 0;
      const auto others = static_cast<std::size_t>(std::countr_zero(rest));
      const std::size_t count = others < valid - at ? others : valid - at;
      sink.symbols(base + at, count);
      at += count;
    }
  }
  if (run > 0) sink.zeros(run);
}

inline std::size_t run_class(std::size_t run) {
  return static_cast<std::size_t>(std::bit_width(run)) - 1;
}

}  // namespace gradwire::compressors
