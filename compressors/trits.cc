#include "compressors/trits.h"

#include <array>
#include <cstdint>
#include <cstring>

#include "base/error.h"
#include "compressors/arithmetic/trits.h"

namespace gradwire::compressors {
namespace {

constexpr std::size_t kTritGroup = 20;  // codes in 5 bytes of 2-bit codes and in 4 bytes of trits

/// By ten bits, five codes of 2 bits.
constexpr std::array<std::uint8_t, 1024> kTrits = [] {
  std::array<std::uint8_t, 1024> table{};
  for (unsigned bits = 0; bits < 1024; ++bits) {
    std::uint32_t value = 0;
    for (std::uint32_t i = 0; i < kTritsInByte; ++i)
      value += trit_power(i) * (bits >> (2 * i) & 3u);
    table[bits] = static_cast<std::uint8_t>(value);
  }
  return table;
}();

/// The reverse; 0 above 242.
constexpr std::array<std::uint16_t, 256> kCodes = [] {
  std::array<std::uint16_t, 256> table{};
  for (std::uint32_t byte = 0; byte <= kLargestTritByte; ++byte)
    for (std::uint32_t i = 0; i < kTritsInByte; ++i)
      table[byte] = static_cast<std::uint16_t>(table[byte] | trit_of(byte, i) << (2 * i));
  return table;
}();

std::uint32_t pack_group(std::uint64_t codes) {
  std::uint32_t bytes = 0;
  for (int i = 0; i < 4; ++i)
    bytes |= static_cast<std::uint32_t>(kTrits[codes >> (10 * i) & 1023u]) << (8 * i);
  return bytes;
}

std::uint64_t unpack_group(std::uint32_t bytes) {
  std::uint64_t codes = 0;
  for (int i = 0; i < 4; ++i)
    codes |= static_cast<std::uint64_t>(kCodes[bytes >> (8 * i) & 255u]) << (10 * i);
  return codes;
}

}  // namespace

void trits_from_codes(std::span<const std::byte> codes, std::size_t n, std::span<std::byte> trits) {
  GRADWIRE_ASSERT(codes.size() >= (n + 3) / 4 && trits.size() >= trit_bytes(n));
  const std::byte* from = codes.data();
  std::byte* to = trits.data();
  for (; n > 0; from += 5, to += 4) {
    const std::size_t count = n < kTritGroup ? n : kTritGroup;
    std::uint64_t group = 0;
    std::memcpy(&group, from, (count + 3) / 4);
    const std::uint32_t bytes = pack_group(group);
    std::memcpy(to, &bytes, trit_bytes(count));
    n -= count;
  }
}

std::size_t codes_from_trits(std::span<const std::byte> trits, std::size_t n,
                             std::span<std::byte> codes) {
  const std::size_t size = trit_bytes(n);
  GRADWIRE_ASSERT(codes.size() >= (n + 3) / 4 && trits.size() >= size);
  const std::byte* from = trits.data();
  std::byte* to = codes.data();
  for (std::size_t left = n; left > 0; from += 4, to += 5) {
    const std::size_t count = left < kTritGroup ? left : kTritGroup;
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, from, trit_bytes(count));
    const std::uint64_t used = (std::uint64_t{1} << (2 * count)) - 1;
    const std::uint64_t group = unpack_group(bytes) & used;
    std::memcpy(to, &group, (count + 3) / 4);
    left -= count;
  }
  std::byte largest{0};
  for (std::size_t i = 0; i < size; ++i) largest = trits[i] > largest ? trits[i] : largest;
  if (largest <= std::byte{242}) return size;
  std::size_t bad = 0;
  while (trits[bad] <= std::byte{242}) ++bad;
  return bad;
}

}  // namespace gradwire::compressors
