#include "bench/codecs/tensors.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kTile = 1 << 20;  // drawn once and repeated: larger than any sample or bucket
constexpr float kDeviation = 0.01f;

RandomStream stream_of(std::uint64_t seed, std::uint32_t tensor) {
  return {.seed = seed, .step = 0, .worker = 0, .tensor = kFirstReservedTensor + 0x100 + tensor};
}

/// Box and Muller's normal deviate e.
float normal(const RandomStream& stream, std::size_t e) {
  const float radius = std::sqrt(-2.0f * std::log(1.0f - uniform(stream, 2 * e)));
  return radius * std::cos(2.0f * std::numbers::pi_v<float> * uniform(stream, 2 * e + 1));
}

float activation(const RandomStream& stream, std::size_t e) {
  const float column = static_cast<float>(e % 1024), row = static_cast<float>(e / 1024 % 97);
  return std::max(0.0f, std::sin(0.02f * column + row) + 0.02f * normal(stream, e));
}

float value_of(TensorKind kind, const RandomStream& stream, std::size_t e) {
  switch (kind) {
    case TensorKind::kGradient:
      return kDeviation * normal(stream, e);
    case TensorKind::kActivation:
      return activation(stream, e);
    case TensorKind::kSparse:
      return uniform(stream_of(stream.seed, 1), e) < 0.1f ? kDeviation * normal(stream, e) : 0.0f;
    case TensorKind::kSigns:
      return uniform(stream, e) < 0.5f ? -1.0f : 1.0f;
  }
  return 0.0f;
}

}  // namespace

void fill_tensor(TensorKind kind, std::uint64_t seed, std::span<float> values, ThreadTeam* team) {
  const std::size_t drawn = std::min(values.size(), kTile);
  const RandomStream stream = stream_of(seed, 0);
  for_ranges(team, drawn, 16, 1 << 14, [&](std::size_t begin, std::size_t end) {
    for (std::size_t e = begin; e < end; ++e) values[e] = value_of(kind, stream, e);
  });
  for (std::size_t e = drawn; e < values.size(); e += drawn)
    std::copy_n(values.begin(), std::min(drawn, values.size() - e),
                values.begin() + static_cast<std::ptrdiff_t>(e));
}

std::vector<std::uint8_t> sparse_mask(std::uint64_t seed, std::size_t n) {
  std::vector<std::uint8_t> mask((n + 7) / 8);
  const RandomStream stream = stream_of(seed, 2);
  for (std::size_t e = 0; e < n; ++e)
    if (uniform(stream, e % kTile) < 0.1f) mask[e / 8] |= static_cast<std::uint8_t>(1u << e % 8);
  return mask;
}

}  // namespace gradwire::bench
