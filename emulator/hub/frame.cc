#include "emulator/hub/frame.h"

#include <algorithm>
#include <cstring>

#include "emulator/hub/answers.h"

namespace gradwire::emulator {
namespace {

constexpr std::size_t kHeader = 8;
/// A longer body can only be a torn stream: the largest real one is a graph of millions of
/// operations.
constexpr std::uint32_t kLongestBody = 1u << 30;

std::vector<std::byte> with_header(std::int32_t address, std::span<const std::byte> body) {
  std::vector<std::byte> bytes(kHeader + body.size());
  const auto length = static_cast<std::uint32_t>(body.size());
  std::memcpy(bytes.data(), &length, sizeof length);
  std::memcpy(bytes.data() + 4, &address, sizeof address);
  std::copy(body.begin(), body.end(), bytes.begin() + kHeader);
  return bytes;
}

}  // namespace

nlohmann::json Frame::message() const {
  const auto* first = reinterpret_cast<const std::uint8_t*>(body.data());
  return understood("an emulator's message",
                    [&] { return nlohmann::json::from_cbor(first, first + body.size()); });
}

std::vector<std::byte> encode_frame(std::int32_t address, const nlohmann::json& message) {
  const std::vector<std::uint8_t> body = nlohmann::json::to_cbor(message);
  return with_header(address, std::as_bytes(std::span(body)));
}

std::vector<std::byte> encode_frame(const Frame& frame) {
  return with_header(frame.address, frame.body);
}

void FrameBuffer::append(std::span<const std::byte> bytes) {
  if (begin_ > 0 && begin_ * 2 > bytes_.size()) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(begin_));
    begin_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

std::optional<Frame> FrameBuffer::next() {
  const std::span<const std::byte> rest = std::span(bytes_).subspan(begin_);
  if (rest.size() < kHeader) return std::nullopt;
  std::uint32_t length = 0;
  Frame frame;
  std::memcpy(&length, rest.data(), sizeof length);
  std::memcpy(&frame.address, rest.data() + 4, sizeof frame.address);
  if (length > kLongestBody)
    throw Error(ErrorKind::kFailure, "read", "the emulator's control pipe",
                "it carries something that is no frame");
  if (rest.size() < kHeader + length) return std::nullopt;
  const auto body = rest.subspan(kHeader, length);
  frame.body.assign(body.begin(), body.end());
  begin_ += kHeader + length;
  return frame;
}

}  // namespace gradwire::emulator
