#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "compressors/codec.h"

/// The stored block of `sz`, little-endian:
///
///   n u32 | error bound f32 | form u8 | ndim u8 | dims u32 each | then, unless the form is raw:
///   radius u16 | nsym u16 | nsym x (symbol i16, code length u8), symbols ascending
///   | nbits u32 | n_outlier u32 | [tokens u32 | run bits u32] | [n_exact u32]
///   | symbols: nbits of canonical Huffman codes, MSB-first | [run lengths, MSB-first]
///   | n_outlier x (index u32, p i32), indices ascending | [n_exact x (index u32, value f32)]
///
/// Form: bits 0 and 1 are the predictor (0 none, 1: 1D, 2: 2D Lorenzo; 3: raw, n values f32 follow
/// the dims); bit 6: exact values are there (beyond the grid of p, whose p is 0 then); bit 7: zeros
/// are coded as runs. Without bits 6 and 7 it is the block of the method's notes.
///
/// Zero runs: the tensor is cut into chunks of 4,096 elements; in a chunk, each longest run of z
/// zero symbols is one token of class c = floor(log2 z): for c = 0 the zero symbol itself, else
/// symbol radius + c - 1; z - 2^c follows in c bits of the run lengths. Other symbols are their own
/// tokens. Huffman codes tokens then.
namespace gradwire::compressors {

inline constexpr std::string_view kSzName = "sz";
inline constexpr std::size_t kSzChunk = 4096;
inline constexpr std::size_t kSzRunClasses = 12;  ///< 1 to 12; class 0 is the zero symbol
inline constexpr std::uint32_t kSzLargestRadius = 4096;
inline constexpr std::uint8_t kSzRaw = 3;
inline constexpr std::size_t kSzEntry = 8;  ///< bytes of an outlier and of an exact value
/// What a block that is not raw may have beyond the tensor's own bytes; a larger one is sent raw.
inline constexpr std::size_t kSzOverhead = 64;

/// Symbols and run classes, as indices: symbol + radius.
constexpr std::size_t sz_alphabet(std::uint32_t radius, bool zero_runs) {
  return 2 * std::size_t{radius} + (zero_runs ? kSzRunClasses : 0);
}

struct SzBlock {
  std::uint32_t n = 0;
  float error_bound = 0;
  std::uint8_t predictor = kSzRaw;
  bool zero_runs = false, has_exact = false;
  std::size_t dimensions = 0, columns = 0;
  // Of blocks that are not raw:
  std::uint32_t radius = 0, symbols = 0, bits = 0, outliers = 0;
  std::uint32_t tokens = 0;  ///< = n without zero runs
  std::uint32_t run_bits = 0, exact = 0;

  bool raw() const { return predictor == kSzRaw; }
  std::size_t dims_at() const { return 10; }
  std::size_t body_at() const { return dims_at() + 4 * dimensions; }
  std::size_t table_at() const { return body_at() + 4; }
  std::size_t counts_at() const { return table_at() + 3 * std::size_t{symbols}; }
  std::size_t stream_at() const {
    return counts_at() + 8 + (zero_runs ? 8 : 0) + (has_exact ? 4 : 0);
  }
  std::size_t runs_at() const { return stream_at() + (std::size_t{bits} + 7) / 8; }
  std::size_t outliers_at() const { return runs_at() + (std::size_t{run_bits} + 7) / 8; }
  std::size_t exact_at() const { return outliers_at() + kSzEntry * outliers; }
  std::size_t size() const {
    return raw() ? body_at() + 4 * std::size_t{n} : exact_at() + kSzEntry * exact;
  }
};

/// One outlier or exact value.
struct SzEntry {
  std::uint32_t index = 0;
  std::uint32_t bits = 0;
};

/// Everything in front of the streams, but for the table of symbols.
void write_sz_head(const SzBlock& block, const TensorView& tensor, std::span<std::byte> payload);
/// The table, from lengths[alphabet] with kHuffmanAbsent for what does not occur.
void write_sz_table(const SzBlock& block, std::span<const std::uint8_t> lengths,
                    std::span<std::byte> payload);

/// Checks every field and the size against `n` elements. Throws CodecError naming the byte.
SzBlock read_sz_head(std::span<const std::byte> payload, std::size_t n);
/// lengths[alphabet]; refuses tables that are no complete code.
void read_sz_table(const SzBlock& block, std::span<const std::byte> payload,
                   std::span<std::uint8_t> lengths);

inline SzEntry sz_entry(std::span<const std::byte> payload, std::size_t at) {
  SzEntry entry;
  std::memcpy(&entry, payload.data() + at, sizeof entry);
  return entry;
}

[[noreturn]] void refuse_sz(std::span<const std::byte> payload, std::size_t byte,
                            const std::string& reason);

/// The longest Huffman code that a message of `count` symbols can have: one of L bits takes at
/// least Fibonacci(L + 2) symbols (1, 1, 2, 3, 5, ...). At most kHuffmanLong.
int sz_longest_code(std::size_t count);

std::vector<PayloadField> explain_sz(const SzBlock& block, std::span<const std::byte> payload);

}  // namespace gradwire::compressors
