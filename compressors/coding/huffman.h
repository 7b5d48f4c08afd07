#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/coding/bit_stream.h"

/// Canonical Huffman codes over symbols 0 ... alphabet - 1.
///
/// Lengths: the two lightest subtrees are joined until one is left, ties of weight by the smallest
/// symbol in the subtree. Where that makes a code longer than the limit, all lengths come from
/// package-merge (Larmore and Hirschberg, 1990), which is optimal under the limit; there, of
/// symbols with equal counts the smaller ones get the shorter codes. A lone symbol has the empty
/// code, so that entropy <= bits a symbol < entropy + 1 always holds without a limit.
///
/// Codes: consecutive numbers in the order of (length, symbol), each length going on from the last
/// code of the length before, doubled. Streams are MSB-first.
namespace gradwire::compressors {

inline constexpr std::size_t kHuffmanAlphabet = std::size_t{1} << 14;  ///< the largest
inline constexpr std::uint8_t kHuffmanAbsent = 0xFF;  ///< the "length" of a symbol without a code
inline constexpr int kHuffmanShort = 12;  ///< limit whose decoding table stays in the nearest cache
inline constexpr int kHuffmanLong = 15;

/// Scratch for huffman_lengths, in bytes.
std::size_t huffman_scratch_size(std::size_t alphabet);

/// lengths[s] = bits of symbol s, kHuffmanAbsent where counts[s] is 0. The limit is kHuffmanShort,
/// but kHuffmanLong where the short one costs more than 1/64 of the bits or has too few codes.
/// Counts add up to less than 2^48. `scratch` is aligned to 8 bytes. Returns the longest length.
int huffman_lengths(std::span<const std::uint32_t> counts, std::span<std::uint8_t> lengths,
                    std::span<std::byte> scratch);

/// As above with a given limit (1 to 31): package-merge where plain lengths exceed it.
/// Precondition (assertion): 2^limit codes suffice.
int huffman_lengths(std::span<const std::uint32_t> counts, int limit,
                    std::span<std::uint8_t> lengths, std::span<std::byte> scratch);

/// Bits of a message with these counts.
std::uint64_t huffman_bits(std::span<const std::uint32_t> counts,
                           std::span<const std::uint8_t> lengths);

/// A code as one word: bits << 8 | length.
using HuffmanCode = std::uint32_t;
/// codes[s] for every symbol present; 0 for the others. Precondition: Kraft's sum is at most 1.
void huffman_codes(std::span<const std::uint8_t> lengths, std::span<HuffmanCode> codes);

/// Appends symbols[n] to `out`; every symbol has a code of at most kHuffmanLong bits.
void huffman_encode(std::span<const std::uint16_t> symbols, std::span<const HuffmanCode> codes,
                    int longest, BitWriter& out);

/// True if every word of bits starts with exactly one code: what a decoder requires. A lone symbol
/// must have length 0. `lengths` may hold anything.
bool huffman_is_complete(std::span<const std::uint8_t> lengths);

/// Decodes by a table over the next `longest` bits, whose entries hold up to three symbols.
class HuffmanDecoder {
 public:
  /// Bytes of the table, aligned to 8, that build() fills.
  static std::size_t table_size(int longest) {
    return sizeof(Entry) << (longest < 1 ? 1 : longest);
  }

  /// Precondition: the lengths are complete, the longest has at most kHuffmanLong bits. Keeps a
  /// view of `table`.
  void build(std::span<const std::uint8_t> lengths, std::span<std::byte> table);

  /// Symbols that decode may overwrite behind the last one.
  static constexpr std::size_t kSlack = 3;

  /// symbols[count], with room for count + kSlack. Past the end of the stream it decodes zero bits:
  /// BitReader::overrun says so.
  void decode(BitReader& in, std::size_t count, std::uint16_t* symbols) const;

 private:
  /// From the top: three symbols of 16 bits (the first one lowest), then the length of the first
  /// symbol (4 bits), the number of symbols (2), and their total length (6).
  using Entry = std::uint64_t;
  static constexpr int kSymbolsAt = 16, kFirstAt = 8, kCountAt = 6;
  static int total_of(Entry e) { return static_cast<int>(e & 63); }
  static std::size_t count_of(Entry e) { return static_cast<std::size_t>(e >> kCountAt & 3); }
  static int first_of(Entry e) { return static_cast<int>(e >> kFirstAt & 15); }
  static Entry symbol_of(Entry e) { return e >> kSymbolsAt & 0xFFFF; }

  void fill_single(std::span<const std::uint8_t> lengths);
  Entry joined(std::size_t index) const;
  template <int kLookups>
  std::size_t decode_fast(BitReader& in, std::size_t count, std::uint16_t* symbols) const;

  std::span<Entry> table_;
  int longest_ = 1;
};

}  // namespace gradwire::compressors
