#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/philox.h"
#include "trainers/data/partition.h"

/// Who sees which sample when: a pure function of seed, worker and step.
namespace gradwire::trainers {

/// Reserved tensor ids (see base/philox.h) of the streams that training itself draws from.
inline constexpr std::uint32_t kSplitStream = kFirstReservedTensor + 1;
inline constexpr std::uint32_t kShardStream = kFirstReservedTensor + 2;
inline constexpr std::uint32_t kShuffleStream = kFirstReservedTensor + 3;
inline constexpr std::uint32_t kPartitionStream = kFirstReservedTensor + 4;  ///< and 4 more
inline constexpr std::uint32_t kAugmentStream = kFirstReservedTensor + 9;
inline constexpr std::uint32_t kWeightStream = kFirstReservedTensor + 16;  ///< + parameter number

/// A random order of 0 .. n-1: Fisher-Yates, the i-th exchange using word i of `stream`.
std::vector<std::uint32_t> permutation(std::size_t n, const RandomStream& stream);

/// Walks each worker through its shard in a new order every epoch. Batches cross the ends of
/// epochs, so that each has the full size: of a shard with fewer samples, some come more than once.
/// Stateless but for a cached order: any step can be asked for.
class Sampler {
 public:
  /// `copies` neighbouring workers see the same samples, those of one part of the partition.
  Sampler(Partition partition, int batch, std::uint64_t seed, int copies = 1);
  /// Of samples that are dealt (trainers/data/partition.h).
  Sampler(std::span<const std::uint32_t> train, int workers, int batch, std::uint64_t seed)
      : Sampler(deal(train, workers, seed), batch, seed) {}

  /// The samples of `worker` at `step`; valid until the next call for that worker. Calls for
  /// different workers may run side by side.
  std::span<const std::uint32_t> batch(int worker, std::int64_t step);
  std::span<const std::uint32_t> shard(int worker) const {
    return partition_.shard(worker / copies_);
  }

 private:
  struct Place {
    std::vector<std::uint32_t> order;  ///< of `epoch`
    std::int64_t epoch = -1;
    std::vector<std::uint32_t> batch;
  };
  Partition partition_;
  std::vector<Place> places_;  ///< [worker]
  std::size_t batch_;
  std::uint64_t seed_;
  int copies_;
};

}  // namespace gradwire::trainers
