#include "trainers/data/sampling.h"

#include <numeric>
#include <string>
#include <utility>

#include "trainers/trainer_error.h"

namespace gradwire::trainers {

std::vector<std::uint32_t> permutation(std::size_t n, const RandomStream& stream) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  PhiloxBlock block{};
  for (std::size_t i = n; i-- > 1;) {
    const std::size_t draw = n - 1 - i;
    if (draw % 4 == 0) block = philox_block(stream, static_cast<std::uint32_t>(draw / 4));
    // Multiply-shift instead of a remainder: its bias is below n / 2^32.
    const std::size_t other = (static_cast<std::uint64_t>(block.word[draw % 4]) * (i + 1)) >> 32;
    std::swap(order[i], order[other]);
  }
  return order;
}

Sampler::Sampler(std::span<const std::uint32_t> train, int workers, int batch, std::uint64_t seed)
    : shards_(static_cast<std::size_t>(workers)), seed_(seed) {
  if (train.size() < shards_.size()) {
    throw TrainerError("deal samples to", std::to_string(workers) + " workers",
                       "there are only " + std::to_string(train.size()) + " training samples",
                       "use fewer workers or a larger data set");
  }
  const std::vector<std::uint32_t> order =
      permutation(train.size(), RandomStream{seed, 0, 0, kShardStream});
  for (std::size_t i = 0; i < order.size(); ++i) {
    shards_[i % shards_.size()].samples.push_back(train[order[i]]);
  }
  for (Shard& shard : shards_) shard.batch.resize(static_cast<std::size_t>(batch));
}

std::span<const std::uint32_t> Sampler::batch(int worker, std::int64_t step) {
  Shard& shard = shards_[static_cast<std::size_t>(worker)];
  const auto size = static_cast<std::int64_t>(shard.samples.size());
  std::int64_t draw = step * static_cast<std::int64_t>(shard.batch.size());
  for (std::uint32_t& sample : shard.batch) {
    if (const std::int64_t epoch = draw / size; epoch != shard.epoch) {
      shard.epoch = epoch;
      shard.order = permutation(shard.samples.size(),
                                RandomStream{seed_, static_cast<std::uint32_t>(epoch),
                                             static_cast<std::uint32_t>(worker), kShuffleStream});
    }
    sample = shard.samples[shard.order[static_cast<std::size_t>(draw % size)]];
    ++draw;
  }
  return shard.batch;
}

}  // namespace gradwire::trainers
