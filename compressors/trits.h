#pragma once
#include <cstddef>
#include <span>

/// Codes 0, 1, 2 at five a byte: c0 + 3 c1 + 9 c2 + 27 c3 + 81 c4, the first least significant
/// (1.6 bits a code; the entropy of equally likely codes is 1.585). On the other side, codes at 2
/// bits, LSB first.
namespace gradwire::compressors {

constexpr std::size_t trit_bytes(std::size_t n) {
  return n / 5 + (n % 5 != 0);
}

/// n codes of 2 bits -> trit_bytes(n) bytes; places beyond n are 0. Precondition: no code is 3.
void trits_from_codes(std::span<const std::byte> codes, std::size_t n, std::span<std::byte> trits);

/// trit_bytes(n) bytes -> ceil(n / 4) bytes of 2-bit codes, unused bits 0. Returns the index of the
/// first byte above 242, or trit_bytes(n). Places beyond n are ignored.
std::size_t codes_from_trits(std::span<const std::byte> trits, std::size_t n,
                             std::span<std::byte> codes);

}  // namespace gradwire::compressors
