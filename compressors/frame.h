#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/philox.h"
#include "compressors/codec.h"

/// A self-describing frame around one payload, for files and sockets: whoever has the frame (and
/// the mask, where the payload needs one) can decode it without being told anything else. On the
/// simulated wire only the bare payload travels; see docs/wire-formats.md.
///
/// | at | field |
/// | 0 | magic "GRWF" |
/// | 4 | u16 version = 1 |
/// | 6 | u8 element type of the decoded tensor: 1 = binary32 |
/// | 7 | u8 flags: bit 0 = a shared scale was given |
/// | 8 | u32 header bytes H, the header's CRC included |
/// | 12 | f32 shared scale, 0 if none |
/// | 16 | u64 elements n |
/// | 24 | u64 payload bytes P |
/// | 32 | u64 seed, u32 step, u32 worker, u32 tensor, u32 reserved = 0, u64 first element |
/// | 64 | u8 dimensions D, D x u64 (product n) |
/// | ... | u8 length, codec name; u16 length, tensor name |
/// | ... | u16 options, each: u8 length, name; u16 length, value as text |
/// | H - 4 | u32 CRC-32C of bytes 0 .. H - 5 |
/// | H | the payload |
/// | H + P | u32 CRC-32C of the payload |
namespace gradwire::compressors {

struct FrameHeader {
  std::string codec;
  std::map<std::string, std::string> options;  ///< all of the codec's, as text
  std::string tensor;                          ///< its name; may be empty
  std::vector<std::int64_t> shape;             ///< at most 255 dimensions
  std::uint64_t n = 0;
  RandomStream stream = {};
  std::uint64_t first_element = 0;
  float shared_scale = -1.0f;  ///< negative = none

  TensorSpec spec() const { return {static_cast<std::size_t>(n), tensor, shape}; }
};

struct Frame {
  FrameHeader header;
  std::span<const std::byte> payload;  ///< part of the bytes that were read
  std::size_t header_bytes = 0;
  std::size_t bytes = 0;  ///< of the whole frame: what follows is not part of it
};

inline constexpr std::size_t kFrameMagicBytes = 4;

/// True if such payloads hold the mask that their codec needs: who decodes them needs none beside.
bool payload_holds_mask(const FrameHeader& header);

/// True if the bytes begin like a frame.
bool begins_frame(std::span<const std::byte> bytes);

/// Throws CodecError where a name or value is longer than its length field can say.
std::vector<std::byte> write_frame(const FrameHeader& header, std::span<const std::byte> payload);

/// Reads one frame from the beginning of `bytes`. Any bytes are safe: nothing is allocated before
/// the header's CRC holds. Throws CodecError naming the byte: another magic or version, a length
/// beyond the end, a checksum that does not hold, a shape that does not give n.
Frame read_frame(std::span<const std::byte> bytes);

}  // namespace gradwire::compressors
