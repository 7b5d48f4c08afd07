#include "trainers/routes/sparse_sum.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::uint32_t kDense = 0xffffffffu;

struct Pair {
  std::uint32_t element;
  float value;
};
static_assert(sizeof(Pair) == 8);

[[noreturn]] void refuse(std::size_t byte, const std::string& reason) {
  throw TrainerError("decode", "a server's sum", "byte " + std::to_string(byte) + ": " + reason);
}

void read_pairs(std::span<const std::byte> pairs, float factor, std::span<float> values) {
  std::fill(values.begin(), values.end(), 0.0f);
  for (std::size_t at = 0; at < pairs.size(); at += sizeof(Pair)) {
    Pair pair;
    std::memcpy(&pair, pairs.data() + at, sizeof pair);
    if (pair.element >= values.size()) {
      refuse(4 + at,
             "element " + std::to_string(pair.element) + " of " + std::to_string(values.size()));
    }
    values[pair.element] = factor * pair.value;
  }
}

void forget_pairs(std::span<const std::byte> pairs, std::span<float> values) {
  for (std::size_t at = 0; at < pairs.size(); at += sizeof(Pair)) {
    Pair pair;
    std::memcpy(&pair, pairs.data() + at, sizeof pair);
    values[pair.element] = 0;
  }
}

}  // namespace

void write_sum(std::span<const float> sum, std::vector<std::byte>& message) {
  const auto kept = static_cast<std::size_t>(
      std::count_if(sum.begin(), sum.end(), [](float value) { return value != 0; }));
  const bool dense = kept * sizeof(Pair) >= sum.size_bytes();
  const auto head = dense ? kDense : static_cast<std::uint32_t>(kept);
  message.resize(4 + (dense ? sum.size_bytes() : kept * sizeof(Pair)));
  std::memcpy(message.data(), &head, 4);
  std::byte* out = message.data() + 4;
  if (dense) {
    std::memcpy(out, sum.data(), sum.size_bytes());
    return;
  }
  for (std::size_t e = 0; e < sum.size(); ++e) {
    if (sum[e] == 0) continue;
    const Pair pair{static_cast<std::uint32_t>(e), sum[e]};
    std::memcpy(out, &pair, sizeof pair);
    out += sizeof pair;
  }
}

void read_sum(std::span<const std::byte> message, float factor, std::span<float> values) {
  std::uint32_t head = 0;
  if (message.size() < 4) refuse(message.size(), "it ends within its count");
  std::memcpy(&head, message.data(), 4);
  const std::span<const std::byte> body = message.subspan(4);
  const std::uint64_t expected =
      head == kDense ? values.size_bytes() : std::uint64_t{head} * sizeof(Pair);
  if (body.size() != expected) {
    refuse(message.size(), "it should end at byte " + std::to_string(4 + expected));
  }
  if (head != kDense) return read_pairs(body, factor, values);
  std::memcpy(values.data(), body.data(), body.size());
  for (float& value : values) value *= factor;
}

void read_sum(const Received& message, float factor, std::span<float> values) {
  read_sum(message.bytes, factor, values);
  if (message.gaps.empty()) return;
  if (!within(message.gaps, 0, 4).empty()) {
    std::ranges::fill(values, 0.0f);
    return;
  }
  std::uint32_t head;
  std::memcpy(&head, message.bytes.data(), 4);
  const std::span<const std::byte> body = message.bytes.subspan(4);
  const Gaps gaps = within(message.gaps, 4, body.size());
  const std::size_t size = head == kDense ? sizeof(float) : sizeof(Pair);
  for (const sim::ChunkRange& lost : touched_elements(
           gaps, 8 * static_cast<int>(size), static_cast<std::int64_t>(body.size() / size))) {
    if (head == kDense)
      std::fill_n(values.begin() + lost.first, lost.count, 0.0f);
    else
      forget_pairs(body.subspan(static_cast<std::size_t>(lost.first) * size,
                                static_cast<std::size_t>(lost.count) * size),
                   values);
  }
}

}  // namespace gradwire::trainers
