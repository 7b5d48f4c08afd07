#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

#include "base/thread_team.h"
#include "compressors/codec.h"
#include "compressors/payload.h"

/// What the dense fixed-width codecs share: work in ranges of elements, and fields for people.
namespace gradwire::compressors {

inline constexpr std::size_t kRangeElements = std::size_t{64} << 10;  ///< worth a thread's while
inline constexpr std::size_t kRangeMultiple = 4096;  ///< whole bytes and lines at any width

/// max of body(begin, end), an unsigned number, over ranges of [0, n) shared by the team; 0 for
/// n = 0.
template <class Body>
std::uint32_t largest_over_ranges(ThreadTeam* team, std::size_t n, std::size_t multiple,
                                  Body&& body) {
  std::atomic<std::uint32_t> largest{0};
  for_ranges(team, n, multiple, kRangeElements, [&](std::size_t begin, std::size_t end) {
    const std::uint32_t seen = body(begin, end);
    std::uint32_t before = largest.load();
    while (before < seen && !largest.compare_exchange_weak(before, seen)) {
    }
  });
  return largest.load();
}

/// Refuses a tensor for which a stream has no draws; asserts that injected ones are enough.
inline void require_draws(std::string_view codec, const TensorView& tensor, const Draws& draws) {
  const std::size_t n = tensor.data.size();
  GRADWIRE_ASSERT(draws.injected.empty() || draws.injected.size() == n);
  constexpr std::uint64_t kMost = std::uint64_t{1} << 34;
  if (n > kMost || draws.first_element > kMost - n)
    refuse_tensor(codec, tensor.name, "a random stream has draws for 2^34 elements only");
}

/// As short as tells floats apart.
inline std::string float_text(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

/// "u9[n]".
inline std::string code_array(int bits, std::size_t n) {
  return std::string("u")
      .append(std::to_string(bits))
      .append("[")
      .append(std::to_string(n))
      .append("]");
}

/// "1, 2, 3, ...": text(0), text(1), ... of the first few of n.
template <class Text>
std::string few_of(std::size_t n, Text&& text) {
  constexpr std::size_t kFew = 8;
  std::string all;
  for (std::size_t i = 0; i < std::min(n, kFew); ++i)
    all.append(i == 0 ? "" : ", ").append(text(i));
  if (n > kFew) all.append(", ...");
  return all;
}

}  // namespace gradwire::compressors
