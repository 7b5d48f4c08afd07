#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/error.h"

/// Streams of bits, most significant first: the first bit is the top bit of byte 0. A window of 64
/// bits stays in registers, so that several symbols are written or read for each access to memory.
/// Copy a stream into a local variable for a hot loop: members reached through `this` are reloaded.
namespace gradwire::compressors {

/// The eight bytes at `bytes`, the first on top.
inline std::uint64_t load_big_endian(const std::byte* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, 8);
  if constexpr (std::endian::native == std::endian::big) return word;
  return __builtin_bswap64(word);
}

/// Writes into the caller's bytes, and never beyond them.
///
///   BitWriter out(bytes);
///   out.put(code, width);                                    // up to 56 bits
///   out.append(a, wa); out.append(b, wb); out.flush();       // together up to 56 bits
///   size = out.finish();                                     // pads the last byte with zeros
class BitWriter {
 public:
  static constexpr int kLargest = 56;  ///< bits between two calls of flush()

  explicit BitWriter(std::span<std::byte> bytes)
      : begin_(bytes.data()), next_(begin_), end_(begin_ + bytes.size()) {}

  /// Adds `width` bits without touching memory. Preconditions (not checked): bits < 2^width, and
  /// at most 56 bits since the last flush().
  void append(std::uint64_t bits, int width) {
    window_ = window_ << width | bits;
    filled_ += width;
  }

  /// Stores the whole bytes of the window. Asserts that they fit.
  void flush() {
    if (end_ - next_ >= 8) {
      // The double shift keeps an empty window in range.
      const std::uint64_t bytes = big_endian(window_ << 1 << (63 - filled_));
      std::memcpy(next_, &bytes, 8);
      next_ += filled_ >> 3;
      filled_ &= 7;
    } else {
      flush_tail();
    }
  }

  void put(std::uint64_t bits, int width) {
    append(bits, width);
    flush();
  }

  /// Like put, for 0 to 64 bits.
  void put_wide(std::uint64_t bits, int width) {
    if (width > 32) put(bits >> 32, width - 32);
    put(width > 32 ? bits & 0xFFFFFFFFu : bits, width > 32 ? 32 : width);
  }

  /// `count` bits of one.
  void put_ones(std::uint64_t count) {
    for (; count > 32; count -= 32) put(0xFFFFFFFFu, 32);
    put((std::uint64_t{1} << count) - 1, static_cast<int>(count));
  }

  /// Bits since the start.
  std::uint64_t bit_position() const {
    return 8 * static_cast<std::uint64_t>(next_ - begin_) + static_cast<std::uint64_t>(filled_);
  }

  /// Fills up the last byte with zeros; returns the bytes since the start. More may follow, from
  /// that byte on.
  std::size_t finish() {
    flush();
    if (filled_ > 0) put(0, 8 - filled_);
    return static_cast<std::size_t>(next_ - begin_);
  }

 private:
  static std::uint64_t big_endian(std::uint64_t x) {
    if constexpr (std::endian::native == std::endian::big) return x;
    return __builtin_bswap64(x);
  }

  void flush_tail() {
    while (filled_ >= 8) {
      GRADWIRE_ASSERT(next_ < end_);
      filled_ -= 8;
      *next_++ = static_cast<std::byte>(window_ >> filled_);
    }
  }

  std::byte *begin_, *next_, *end_;
  std::uint64_t window_ = 0;  ///< its low `filled_` bits wait to be stored; those above are stale
  int filled_ = 0;
};

/// Reads the caller's bytes, and never beyond them: past the end come zeros, and overrun() says so.
///
///   BitReader in(bytes);
///   value = in.read(width);                                  // up to 56 bits
///   in.refill();                                             // from here on 57 bits or more:
///   ones = std::countl_one(in.window()); in.skip(ones + 1);  // as many symbols as fit them
///   if (in.overrun()) refuse(in.bit_position());
class BitReader {
 public:
  static constexpr int kLargest = 56;  ///< bits that are certain after refill()

  explicit BitReader(std::span<const std::byte> bytes, std::uint64_t first_bit = 0)
      : bytes_(bytes.data()), size_(bytes.size()), next_(first_bit / 8) {
    refill();
    skip(static_cast<int>(first_bit % 8));
  }

  /// Brings at least 57 bits into the window.
  void refill() {
    if (whole_word_left()) {
      // Bits below the `available_` ones may be there already: they are the same bits.
      window_ |= load_big_endian(bytes_ + next_) >> available_;
      next_ += static_cast<std::size_t>((63 - available_) >> 3);
      available_ |= 56;
    } else {
      refill_tail();
    }
  }

  /// True if the next refill() takes whole bytes of the caller's, no zeros from past the end.
  bool whole_word_left() const { return size_ >= 8 && next_ <= size_ - 8; }

  /// The bits to come, the next one on top.
  std::uint64_t window() const { return window_; }
  /// Bits of window() that may be skipped before the next refill(): 57 or more after one.
  int available() const { return available_; }

  /// Precondition (not checked): width <= available(), < 64.
  void skip(int width) {
    window_ <<= width;
    available_ -= width;
  }

  /// The next `width` bits, 0 to 56, from a window that has them.
  std::uint64_t take(int width) {
    const std::uint64_t bits = window_ >> 1 >> (63 - width);
    skip(width);
    return bits;
  }

  std::uint64_t read(int width) {
    refill();
    return take(width);
  }

  /// Like read, for 0 to 64 bits.
  std::uint64_t read_wide(int width) {
    const std::uint64_t high = width > 32 ? read(width - 32) : 0;
    return high << 32 | read(width > 32 ? 32 : width);
  }

  /// All of the caller's bytes.
  std::span<const std::byte> bytes() const { return {bytes_, size_}; }

  /// Bits taken since the start of the bytes, those past the end too.
  std::uint64_t bit_position() const {
    return 8 * static_cast<std::uint64_t>(next_) - static_cast<std::uint64_t>(available_);
  }
  /// True if bits past the end were taken.
  bool overrun() const { return bit_position() > 8 * static_cast<std::uint64_t>(size_); }

 private:
  void refill_tail() {
    while (available_ <= 56) {
      const std::uint64_t byte = next_ < size_ ? std::to_integer<std::uint64_t>(bytes_[next_]) : 0;
      window_ |= byte << (56 - available_);
      ++next_;
      available_ += 8;
    }
  }

  const std::byte* bytes_;
  std::size_t size_, next_;  ///< next_: the byte that follows the window; beyond size_ past the end
  std::uint64_t window_ = 0;
  int available_ = 0;
};

}  // namespace gradwire::compressors
