#include "trainers/routes/sparse_weights.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::uint32_t kAllWeights = 0xffffffffu;

[[noreturn]] void refuse_weights(std::size_t byte, const std::string& reason) {
  throw TrainerError("decode", "a server's weights",
                     "byte " + std::to_string(byte) + ": " + reason);
}

std::size_t bitmap_bytes(std::size_t elements) {
  return (elements + 7) / 8;
}

}  // namespace

void write_weights(std::span<const float> weights, std::vector<std::byte>& message) {
  const auto kept = static_cast<std::size_t>(
      std::count_if(weights.begin(), weights.end(), [](float value) { return value != 0; }));
  const std::size_t bitmap = bitmap_bytes(weights.size());
  const bool dense = bitmap + 4 * kept >= weights.size_bytes();
  const auto head = dense ? kAllWeights : static_cast<std::uint32_t>(kept);
  message.assign(4 + (dense ? weights.size_bytes() : bitmap + 4 * kept), std::byte{0});
  std::memcpy(message.data(), &head, 4);
  if (dense) {
    std::memcpy(message.data() + 4, weights.data(), weights.size_bytes());
    return;
  }
  std::byte* const bits = message.data() + 4;
  std::byte* out = bits + bitmap;
  for (std::size_t e = 0; e < weights.size(); ++e) {
    if (weights[e] == 0) continue;
    bits[e / 8] |= std::byte{1} << (e % 8);
    std::memcpy(out, &weights[e], 4);
    out += 4;
  }
}

void read_weights(std::span<const std::byte> message, std::span<float> weights) {
  std::uint32_t head = 0;
  if (message.size() < 4) refuse_weights(message.size(), "it ends within its count");
  std::memcpy(&head, message.data(), 4);
  const std::span<const std::byte> body = message.subspan(4);
  const std::size_t bitmap = bitmap_bytes(weights.size());
  const std::uint64_t expected =
      head == kAllWeights ? weights.size_bytes() : bitmap + std::uint64_t{4} * head;
  if (body.size() != expected)
    refuse_weights(message.size(), "it should end at byte " + std::to_string(4 + expected));
  if (head == kAllWeights) {
    std::memcpy(weights.data(), body.data(), body.size());
    return;
  }
  std::size_t at = bitmap;
  for (std::size_t e = 0; e < weights.size(); ++e) {
    weights[e] = 0;
    if ((body[e / 8] >> (e % 8) & std::byte{1}) == std::byte{0}) continue;
    if (at == body.size()) refuse_weights(4 + e / 8, "more bits are set than values follow");
    std::memcpy(&weights[e], body.data() + at, 4);
    at += 4;
  }
  if (at != body.size()) refuse_weights(4 + at, "fewer bits are set than values follow");
}

}  // namespace gradwire::trainers
