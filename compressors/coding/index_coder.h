#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Exchangeable codes of ascending index lists: k indices below n <= 2^32, both known to the
/// decoder. Readers: compressors/coding/index_walk.h. The bytes begin and end on whole bytes;
/// unused bits are 0 and ignored. In every format but kGolombStored nothing but the indices is
/// stored. All bytes that decode are at most as many as max_index_bytes() says.
namespace gradwire::compressors {

enum class IndexFormat : std::uint8_t {
  kU32 = 0,           ///< u32 each
  kRuns16 = 1,        ///< u16 zero-runs; 65535 skips that many positions and holds no index
  kBitmap = 2,        ///< one bit a position, LSB first
  kGolomb = 3,        ///< Golomb-Rice gaps, MSB first, b from k / n (golomb_parameter)
  kGolombStored = 4,  ///< a byte b, then as kGolomb; the writer takes the best b
  kDelta = 5,         ///< blocks of 64 gaps, each {5-bit width w, gaps of w bits}, MSB first
  kPacked = 6,        ///< ceil(log2 n) bits each, LSB first
  kAuto = 255,        ///< never on the wire: the smallest of the above, the first of equals
};
inline constexpr std::size_t kIndexFormats = 7;
inline constexpr std::size_t kDeltaBlock = 64;
inline constexpr int kDeltaWidthBits = 5;  ///< so gaps are below 2^31

/// "u32", "runs16", "bitmap", "golomb", "golomb-stored", "delta", "packed", "auto".
std::string_view name_of(IndexFormat format);
/// All names, "auto" last: the choices of an option.
std::vector<std::string> index_format_names();
/// Precondition (assertion): one of index_format_names().
IndexFormat index_format_named(std::string_view name);

/// The largest n of the format: 2^32, or 2^31 for kDelta.
std::size_t largest_indexed(IndexFormat format);

/// The most bytes that k indices below n take. k <= n <= largest_indexed(format).
std::size_t max_index_bytes(IndexFormat format, std::size_t n, std::size_t k);

/// Exactly the bytes that encode_indices will write.
std::size_t index_bytes(IndexFormat format, std::span<const std::uint32_t> indices, std::size_t n);

/// `format` itself, or, for kAuto, the one of fewest bytes.
IndexFormat resolve_index_format(IndexFormat format, std::span<const std::uint32_t> indices,
                                 std::size_t n);

/// Writes ascending indices below n; returns the number of bytes. `bytes` holds at least
/// index_bytes(), or max_index_bytes(). `format` is not kAuto. Does not allocate.
std::size_t encode_indices(IndexFormat format, std::span<const std::uint32_t> indices,
                           std::size_t n, std::span<std::byte> bytes);

class BitWriter;
/// kDelta's blocks into a stream that goes on after them.
void write_delta_gaps(BitWriter& out, std::span<const std::uint32_t> indices);

/// ceil(log2 n), 0 for n <= 1.
int packed_index_width(std::size_t n);

}  // namespace gradwire::compressors
