#include "trainers/data/sampling.h"

#include <numeric>
#include <utility>

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

Sampler::Sampler(Partition partition, int batch, std::uint64_t seed, int copies)
    : partition_(std::move(partition)),
      places_(static_cast<std::size_t>(partition_.workers() * copies)),
      batch_(static_cast<std::size_t>(batch)),
      seed_(seed),
      copies_(copies) {}

std::span<const std::uint32_t> Sampler::batch(int worker, std::int64_t step) {
  const std::span<const std::uint32_t> samples = shard(worker);
  Place& place = places_[static_cast<std::size_t>(worker)];
  const auto size = static_cast<std::int64_t>(samples.size());
  std::int64_t draw = step * static_cast<std::int64_t>(batch_);
  place.batch.resize(batch_);
  for (std::uint32_t& sample : place.batch) {
    if (const std::int64_t epoch = draw / size; epoch != place.epoch) {
      place.epoch = epoch;
      place.order =
          permutation(samples.size(),
                      RandomStream{seed_, static_cast<std::uint32_t>(epoch),
                                   static_cast<std::uint32_t>(worker / copies_), kShuffleStream});
    }
    sample = samples[place.order[static_cast<std::size_t>(draw % size)]];
    ++draw;
  }
  return place.batch;
}

}  // namespace gradwire::trainers
