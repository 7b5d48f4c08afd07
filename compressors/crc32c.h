#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

namespace gradwire::compressors {

/// CRC-32C (Castagnoli; reflected polynomial 0x82F63B78, RFC 3720 appendix B.4) of `bytes` after
/// those that gave `before`: crc32c(b, crc32c(a)) is the CRC of a followed by b. Our own few lines:
/// the library stays usable without another one. Uses the processor's instruction where it has one.
std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0);

/// The same by tables, on any machine.
std::uint32_t crc32c_portable(std::span<const std::byte> bytes, std::uint32_t before = 0);

}  // namespace gradwire::compressors
