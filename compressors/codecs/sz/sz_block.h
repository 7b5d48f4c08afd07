#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "compressors/codec.h"
#include "compressors/layout/sections.h"

/// The stored block of `sz`, little-endian; its fields, and in which blocks they are, are
/// SzLayout's.
///
/// Form: bits 0 and 1 are the predictor (0 none, 1: 1D, 2: 2D Lorenzo; 3: raw, the values follow
/// the shape); bit 6: exact values are there (beyond the grid of p, whose p is 0 then); bit 7:
/// zeros are coded as runs. Without bits 6 and 7 it is the block of the method's notes. Streams are
/// written most significant bit first; code lengths, outliers and exact values ascend by symbol or
/// index.
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
inline constexpr std::uint8_t kSzExactBit = 0x40, kSzRunsBit = 0x80;  ///< of the form
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
  std::uint8_t form() const {
    return static_cast<std::uint8_t>(predictor | (has_exact ? kSzExactBit : 0) |
                                     (zero_runs ? kSzRunsBit : 0));
  }
};

/// Finite and positive; 0 in raw blocks, too.
struct SzBound {
  bool good(float bound, const std::byte* at, const Extent&) const;
  std::string reason(float, const Extent&) const {
    return "begins an error bound that is not finite and positive";
  }
};
struct SzForm {
  bool good(std::uint8_t form, const std::byte*, const Extent&) const {
    return (form & 0x3C) == 0 && ((form & 3) != kSzRaw || form == kSzRaw);
  }
  std::string reason(std::uint8_t, const Extent&) const {
    return "holds a form that does not exist";
  }
  std::string text(std::uint8_t form) const;
};
struct SzRadius {
  bool good(std::uint16_t radius, const std::byte*, const Extent&) const {
    return radius >= 1 && radius <= kSzLargestRadius;
  }
  std::string reason(std::uint16_t, const Extent&) const {
    return "begins a radius that is not 1 to " + std::to_string(kSzLargestRadius);
  }
};
struct SzSymbols {
  bool zero_runs = false;
  bool good(std::uint16_t symbols, const std::byte* at, const Extent&) const {
    const auto radius = number_at<std::uint16_t>(at - sizeof symbols);
    return symbols >= 1 && symbols <= sz_alphabet(radius, zero_runs);
  }
  std::string reason(std::uint16_t, const Extent&) const {
    return "begins a number of symbols that cannot be";
  }
};
struct SzTokens {
  bool good(std::uint32_t tokens, const std::byte*, const Extent& extent) const {
    return tokens >= 1 && tokens <= extent.n;
  }
  std::string reason(std::uint32_t tokens, const Extent& extent) const {
    return CountsEntries().reason(tokens, extent);
  }
};

/// `bits` bits, on whole bytes.
struct ShownBits {
  const char* code = "";
  std::uint64_t bits = 0;
  std::string type() const { return code; }
  std::string value() const { return std::to_string(bits) + " bits"; }
};

using SzCodeLengths =
    Records<"code lengths", Field<"symbol", std::int16_t>, Field<"length", std::uint8_t>>;
using SzOutliers =
    Records<"outlier codes", Field<"index", std::uint32_t>, Field<"code", std::int32_t>>;
using SzExact = Records<"exact", Field<"index", std::uint32_t>, Field<"value", float>>;

struct SzLayout
    : Layout<Field<"n", std::uint32_t, CountsElements<"a count">>,
             Field<"error bound", float, SzBound>, Field<"form", std::uint8_t, SzForm>,
             Field<"dimensions", std::uint8_t>, Numbers<"shape", std::uint32_t, EachSent>,
             SentValues,  // of raw blocks; of others:
             Optional<Field<"radius", std::uint16_t, SzRadius>>,
             Optional<Field<"symbols", std::uint16_t, SzSymbols>>, SzCodeLengths,
             Optional<Field<"bits", std::uint32_t>>,
             Optional<Field<"outliers", std::uint32_t, CountsEntries>>,
             Optional<Field<"tokens", std::uint32_t, SzTokens>>,
             Optional<Field<"run bits", std::uint32_t>>,
             Optional<Field<"exact values", std::uint32_t, CountsEntries>>,
             Stream<"symbols", ShownBits>, Stream<"run lengths", ShownBits>, SzOutliers, SzExact> {
  enum Section {
    kCount,
    kBound,
    kForm,
    kDimensions,
    kShape,
    kValues,
    kRadius,
    kSymbols,
    kCodeLengths,
    kBits,
    kOutlierCount,
    kTokens,
    kRunBits,
    kExactCount,
    kStream,
    kRuns,
    kOutliers,
    kExact
  };
  enum Entry { kIndex, kValue };  ///< of code lengths, outliers and exact values
  /// How much of a block is known, and laid out: all in front of its shape, of its radius and
  /// number of symbols, of its streams; or all of it.
  enum class Known { kForm, kShape, kRadius, kCounts, kAll };
  explicit SzLayout(const SzBlock& block, Known known = Known::kAll);
};

/// Everything in front of the streams, but for the table of symbols.
void write_sz_head(const SzBlock& block, const SzLayout& layout, const TensorView& tensor,
                   std::span<std::byte> payload);
/// The table, from lengths[alphabet] with kHuffmanAbsent for what does not occur.
void write_sz_table(const SzBlock& block, const SzLayout& layout,
                    std::span<const std::uint8_t> lengths, std::span<std::byte> payload);

/// Checks every field and the size against `n` elements. Throws CodecError naming the byte.
SzBlock read_sz_head(std::span<const std::byte> payload, std::size_t n);
/// lengths[alphabet]; refuses tables that are no complete code.
void read_sz_table(const SzBlock& block, const SzLayout& layout, std::span<const std::byte> payload,
                   std::span<std::uint8_t> lengths);

[[noreturn]] void refuse_sz(std::span<const std::byte> payload, std::size_t byte,
                            const std::string& reason);

/// The longest Huffman code that a message of `count` symbols can have: one of L bits takes at
/// least Fibonacci(L + 2) symbols (1, 1, 2, 3, 5, ...). At most kHuffmanLong.
int sz_longest_code(std::size_t count);

}  // namespace gradwire::compressors
