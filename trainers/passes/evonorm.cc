#include "trainers/passes/evonorm.h"

#include <ATen/ops/amax.h>
#include <ATen/ops/amin.h>

#include <cmath>
#include <numbers>
#include <string>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

constexpr double kEpsilon = 1e-5;
constexpr std::int64_t kMostGroups = 8, kLeastOfChunk = 4;

}  // namespace

double range_factor(std::int64_t elements) {
  const double m = static_cast<double>(elements);
  return 0.175 * (1 + std::sqrt(std::numbers::pi * std::log(4.0))) / std::sqrt(2 * std::log(m));
}

std::int64_t evonorm_groups(std::int64_t channels, std::int64_t positions) {
  for (std::int64_t groups = kMostGroups; groups >= 1; groups /= 2) {
    const std::int64_t elements = channels * positions / groups;
    if (channels % groups == 0 && elements % kEvoNormChunks == 0 &&
        elements >= kEvoNormChunks * kLeastOfChunk)
      return groups;
  }
  throw TrainerError(
      "normalise by range-evonorm",
      std::to_string(channels) + " channels of " + std::to_string(positions) + " positions",
      "no group of channels has 16 equal chunks of 4 elements or more",
      "take a width that is a multiple of 64, or another normalisation");
}

at::Tensor range_evonorm(const at::Tensor& x, const at::Tensor& gate, const at::Tensor& scale,
                         const at::Tensor& shift, const OfFactors& of_factors) {
  const std::int64_t batch = x.size(0), channels = x.size(1);
  const std::int64_t groups = evonorm_groups(channels, x.numel() / (batch * channels));
  std::vector<std::int64_t> by_channel(static_cast<std::size_t>(x.dim()), 1);
  by_channel[1] = channels;
  const auto along = [&](const at::Tensor& each) { return each.reshape(by_channel); };

  const at::Tensor n = x * (x * along(gate) / 6 + 0.5).clamp(0, 1);
  const at::Tensor chunks = x.reshape({batch, groups, kEvoNormChunks, -1});
  const at::Tensor range = chunks.amax(-1).mean(-1, true) - chunks.amin(-1).mean(-1, true);
  const double factor = range_factor(chunks.size(-1));
  at::Tensor factors = 1 / (range * factor + kEpsilon);
  if (of_factors) factors = of_factors(factors);
  const at::Tensor y = (n.reshape({batch, groups, -1}) * factors).reshape(x.sizes());
  return y * along(scale) + along(shift);
}

}  // namespace gradwire::trainers
