#pragma once
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trainers/routes/movers.h"
#include "trainers/trainer_error.h"

/// Messages of payloads: u32 length (little-endian), payload, and so on.
namespace gradwire::trainers {

inline constexpr std::size_t kLengthBytes = 4;

/// Scratch of the calling thread, aligned to 8 as codecs ask. Valid until its next call.
inline std::span<std::byte> thread_scratch(std::size_t size) {
  thread_local std::vector<std::uint64_t> words;
  if (words.size() * 8 < size) words.resize((size + 7) / 8);
  return std::as_writable_bytes(std::span(words)).first(size);
}

/// Appends payloads to a message whose capacity it keeps.
class MessageWriter {
 public:
  /// `most`: the bytes of all payloads and their lengths.
  MessageWriter(std::vector<std::byte>& message, std::size_t most) : message_(message) {
    message_.resize(most);
  }
  /// `encode(room)` writes a payload to the front of `room` and returns its size.
  template <class Encode>
  void add(Encode&& encode) {
    const auto size = static_cast<std::uint32_t>(encode(std::span(message_).subspan(at_ + 4)));
    std::memcpy(message_.data() + at_, &size, kLengthBytes);
    at_ += kLengthBytes + size;
  }
  void finish() { message_.resize(at_); }

 private:
  std::vector<std::byte>& message_;
  std::size_t at_ = 0;
};

/// Takes payloads from the front of a message, of which something may not have arrived.
class MessageReader {
 public:
  MessageReader(Received message, std::string_view codec)
      : message_(message.bytes), gaps_(std::move(message.gaps)), codec_(codec) {}
  /// The next payload; none if where it lies is not known: its length, or one before, was lost and
  /// is not `usual`. `usual`: the length that all payloads of this tensor have, if they all have
  /// one. Throws TrainerError where the message ends early.
  std::optional<Received> next(const std::string& tensor, std::optional<std::size_t> usual) {
    if (astray_) return std::nullopt;
    const bool length_lost = !within(gaps_, at_, kLengthBytes).empty();
    const Message payload = cut(tensor);
    astray_ = length_lost && usual != payload.size();
    if (astray_) return std::nullopt;
    return Received{payload, within(gaps_, at_ - payload.size(), payload.size())};
  }

 private:
  Message cut(const std::string& tensor) {
    std::uint32_t length = 0;
    if (message_.size() >= kLengthBytes) std::memcpy(&length, message_.data(), kLengthBytes);
    if (message_.size() < kLengthBytes + length)
      throw TrainerError("decode message of", codec_, "it ends within tensor " + tensor);
    const Message payload = message_.subspan(kLengthBytes, length);
    message_ = message_.subspan(kLengthBytes + length);
    at_ += kLengthBytes + length;
    return payload;
  }

  Message message_;  ///< what is left of it, from byte at_ on
  Gaps gaps_;        ///< of the whole
  std::string_view codec_;
  std::size_t at_ = 0;
  bool astray_ = false;  ///< where payloads lie is no longer known
};

}  // namespace gradwire::trainers
