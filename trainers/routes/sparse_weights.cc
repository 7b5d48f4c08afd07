#include "trainers/routes/sparse_weights.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

#include "compressors/kernels/select.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr std::uint32_t kAllWeights = 0xffffffffu;
constexpr std::size_t kWord = 64;  ///< elements that are looked at together

[[noreturn]] void refuse_weights(std::size_t byte, const std::string& reason) {
  throw TrainerError("decode", "a server's weights",
                     "byte " + std::to_string(byte) + ": " + reason);
}

std::size_t bitmap_bytes(std::size_t elements) {
  return (elements + 7) / 8;
}

/// The bits of up to 64 elements; those beyond are 0.
std::uint64_t word_at(std::span<const std::byte> bitmap, std::size_t byte, std::size_t elements) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, bitmap.data() + byte, std::min(sizeof bits, bitmap.size() - byte));
  return elements < kWord ? bits & ((std::uint64_t{1} << elements) - 1) : bits;
}

/// Where the n-th bit that is set is, from 0.
std::size_t nth_bit(std::uint64_t bits, std::size_t n) {
  for (; n > 0; --n) bits &= bits - 1;
  return static_cast<std::size_t>(std::countr_zero(bits));
}

/// The elements whose bits are set to `out`; returns the end.
std::byte* collect(std::uint64_t bits, std::span<const float> from, std::byte* out) {
  if (bits == ~std::uint64_t{0}) {
    std::memcpy(out, from.data(), from.size_bytes());
    return out + from.size_bytes();
  }
  for (; bits != 0; bits &= bits - 1, out += 4)
    std::memcpy(out, &from[static_cast<std::size_t>(std::countr_zero(bits))], 4);
  return out;
}

/// to[up to 64] = the next value where a bit is set, else 0.
void spread(std::uint64_t bits, std::span<const std::byte> values, std::span<float> to) {
  if (values.size() == to.size_bytes()) {
    std::memcpy(to.data(), values.data(), values.size());
    return;
  }
  std::ranges::fill(to, 0.0f);
  for (std::size_t at = 0; bits != 0; bits &= bits - 1, at += 4)
    std::memcpy(&to[static_cast<std::size_t>(std::countr_zero(bits))], values.data() + at, 4);
}

}  // namespace

void write_weights(std::span<const float> weights, std::vector<std::byte>& message) {
  const std::size_t bitmap = bitmap_bytes(weights.size());
  // Only what it grows by is set to 0 before it is written: it is as long as the last one, or so.
  if (message.size() < 4 + bitmap) message.resize(4 + bitmap);
  const std::size_t kept =
      compressors::kernels::nonzero_bits(weights.data(), weights.size(), message.data() + 4);
  const bool dense = bitmap + 4 * kept >= weights.size_bytes();
  const auto head = dense ? kAllWeights : static_cast<std::uint32_t>(kept);
  message.resize(4 + (dense ? weights.size_bytes() : bitmap + 4 * kept));
  std::memcpy(message.data(), &head, 4);
  std::byte* const bits = message.data() + 4;
  if (dense) {
    std::memcpy(bits, weights.data(), weights.size_bytes());
    return;
  }
  std::byte* out = bits + bitmap;
  for (std::size_t first = 0; first < weights.size(); first += kWord) {
    const auto from = weights.subspan(first, std::min(kWord, weights.size() - first));
    out = collect(word_at({bits, bitmap}, first / 8, from.size()), from, out);
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
  for (std::size_t first = 0; first < weights.size(); first += kWord) {
    const std::span<float> to = weights.subspan(first, std::min(kWord, weights.size() - first));
    const std::uint64_t bits = word_at(body.first(bitmap), first / 8, to.size());
    const auto count = static_cast<std::size_t>(std::popcount(bits));
    const std::size_t left = (body.size() - at) / 4;
    if (count > left)
      refuse_weights(4 + (first + nth_bit(bits, left)) / 8, "more bits are set than values follow");
    spread(bits, body.subspan(at, 4 * count), to);
    at += 4 * count;
  }
  if (at != body.size()) refuse_weights(4 + at, "fewer bits are set than values follow");
}

}  // namespace gradwire::trainers
