#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

/// Control messages between the executor, the hub and the workers, over pipes: none of them crosses
/// the emulated network. A frame is `u32 length of the body, i32 address, body` (host byte order:
/// both ends are one machine), the body one CBOR object with a text "kind".
namespace gradwire::emulator {

/// From the executor: whom the hub hands the frame to. From a worker: kExecutor or a host number.
inline constexpr std::int32_t kExecutor = -1;
inline constexpr std::int32_t kAllHosts = -1;
inline constexpr std::int32_t kHub = -2;
inline constexpr std::int32_t kLinks = -3;  ///< the link process, where there is one

struct Frame {
  std::int32_t address = kExecutor;
  std::vector<std::byte> body;

  /// Throws Error where the body is no CBOR.
  nlohmann::json message() const;
};

/// The bytes of one frame, ready to be written.
std::vector<std::byte> encode_frame(std::int32_t address, const nlohmann::json& message);
std::vector<std::byte> encode_frame(const Frame& frame);

/// Cuts a byte stream into frames.
class FrameBuffer {
 public:
  void append(std::span<const std::byte> bytes);
  /// The next whole frame. Throws Error if the stream cannot be a stream of frames.
  std::optional<Frame> next();

 private:
  std::vector<std::byte> bytes_;
  std::size_t begin_ = 0;
};

/// Arrays of numbers travel as CBOR byte strings: a step's bytes[] and seconds[] may be long.
template <typename T>
nlohmann::json to_blob(std::span<const T> values) {
  const auto* first = reinterpret_cast<const std::uint8_t*>(values.data());
  return nlohmann::json::binary(std::vector<std::uint8_t>(first, first + values.size_bytes()));
}

template <typename T>
std::vector<T> from_blob(const nlohmann::json& blob) {
  const auto& bytes = blob.get_binary();
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), values.size() * sizeof(T),
              reinterpret_cast<std::uint8_t*>(values.data()));
  return values;
}

}  // namespace gradwire::emulator
