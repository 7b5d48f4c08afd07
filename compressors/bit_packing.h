#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

/// Fixed-width codes, packed least significant bit first: code i takes bits [i w, (i + 1) w) of the
/// little-endian bit string, so every 8 codes start on a byte. Unused bits of the last byte are 0.
namespace gradwire::compressors {

constexpr std::size_t packed_bytes(std::size_t n, int width) {
  const std::size_t w = static_cast<std::size_t>(width);
  return n / 8 * w + (n % 8 * w + 7) / 8;
}

/// Packs code i = values[i] + bias (modulo 2^32) at `width` bits (1 to 32); writes packed_bytes()
/// bytes. Precondition (assertion): every code is at most `largest` < 2^width.
void pack_bits(std::span<const std::uint32_t> values, int width, std::uint32_t bias,
               std::uint32_t largest, std::span<std::byte> packed);

/// values[i] = code i - bias (modulo 2^32). `packed` holds packed_bytes() bytes. Returns the
/// largest code seen, for the caller to refuse.
std::uint32_t unpack_bits(std::span<const std::byte> packed, int width, std::uint32_t bias,
                          std::span<std::uint32_t> values);

/// values[i] += code i - bias (modulo 2^32).
std::uint32_t unpack_bits_add(std::span<const std::byte> packed, int width, std::uint32_t bias,
                              std::span<std::uint32_t> values);

/// Code i; `high_first`: bits are packed most significant first. For messages and explanations
/// only.
std::uint32_t code_at(std::span<const std::byte> packed, std::size_t i, int width,
                      bool high_first = false);

/// Index of the first code above `largest`, or n. For error messages only.
std::size_t first_code_above(std::span<const std::byte> packed, int width, std::size_t n,
                             std::uint32_t largest);

}  // namespace gradwire::compressors
