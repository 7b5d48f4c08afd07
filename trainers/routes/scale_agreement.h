#pragma once
#include <span>
#include <vector>

#include "trainers/layout.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/sum_groups.h"

namespace gradwire::trainers {

/// What workers propose as scales of their tensors, and the largest that they agree on: round the
/// workers, or by way of the server, a part at each shard. Settings and groups outlive it.
class ScaleAgreement {
 public:
  ScaleAgreement(const ExchangeSettings& settings, const Layout& layout, const SumGroups& groups);

  /// [tensor] -1 = none.
  std::span<float> proposed(std::size_t worker) { return proposed_[worker]; }
  std::span<const float> agreed(std::size_t worker) const { return agreed_[worker]; }
  /// Bucket b's, which has some. Who does not learn what was agreed goes by its own.
  void agree(StepTraffic& traffic, std::size_t b);

 private:
  std::size_t workers() const { return proposed_.size(); }
  std::vector<float> picked(std::span<const float> scales, std::size_t b,
                            sim::ChunkRange part) const;
  void place(std::span<const float> some, std::size_t b, sim::ChunkRange part,
             std::span<float> scales) const;
  std::vector<std::vector<float>> proposals(std::size_t b, sim::ChunkRange part) const;
  void agree_among_workers(StepTraffic& traffic, std::size_t b);
  void agree_at_server(StepTraffic& traffic, std::size_t b, int shard);

  const ExchangeSettings& settings_;
  const SumGroups& groups_;
  std::vector<std::vector<float>> proposed_;  ///< [worker][tensor]; -1 = none
  std::vector<std::vector<float>> agreed_;    ///< [worker][tensor], the largest
};

/// The part of a bucket's tensors (or elements) that is a shard's.
sim::ChunkRange shard_part(const ExchangeSettings& settings, std::size_t count, int shard);

}  // namespace gradwire::trainers
