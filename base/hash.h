#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace gradwire {

/// A 64-bit, non-cryptographic running hash over 8-byte words (multiply and rotate, finished by
/// the splitmix64 mixer). Used for learning, timeline and scenario hashes; equal inputs in equal
/// order give equal hashes on every machine of one byte order.
class Hasher {
 public:
  void add(std::uint64_t word) {
    state_ = std::rotl((state_ ^ word) * 0x9E3779B97F4A7C15ull, 29);
    ++words_;
  }
  void add(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void add_bytes(std::span<const std::byte> bytes) {
    std::size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + i, 8);
      add(word);
    }
    std::uint64_t tail = 0;
    std::memcpy(&tail, bytes.data() + i, bytes.size() - i);
    add(tail);
    add(static_cast<std::uint64_t>(bytes.size()));
  }
  void add_text(std::string_view text) { add_bytes(std::as_bytes(std::span(text))); }

  std::uint64_t value() const {
    std::uint64_t z = state_ + words_ * 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  /// Sixteen lower-case hexadecimal digits.
  std::string hex() const;

 private:
  std::uint64_t state_ = 0x6A09E667F3BCC908ull;
  std::uint64_t words_ = 0;
};

/// The number whose digits those are (Hasher::hex); 0 where they are none.
std::uint64_t hash_of_hex(std::string_view digits);

}  // namespace gradwire
