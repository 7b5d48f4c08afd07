#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "trainers/routes/exchange.h"

/// One bucket's terms become their sum, every hop moved through the interpreter: among workers, or
/// at a server. What the traffic loses counts as zero.
namespace gradwire::trainers {

/// `terms[w]`: worker w's terms of the bucket, replaced by the sum as the first `replicas` workers
/// have it (see AllReduceMover). `stage`: the all-reduce's. Where `spec` is a reduce-scatter, a
/// worker has its own chunk's sum alone (trainers/updates/shards.h); terms then hold all chunks.
void reduce_among_workers(StepTraffic& traffic, std::size_t bucket, std::size_t stage,
                          const compressors::SumTerms& codec, const sim::CollectiveSpec& spec,
                          std::vector<std::span<std::uint32_t>> terms, std::size_t replicas);

/// The stages of a bucket's way to the server and back.
struct ServerStages {
  std::size_t bucket = 0;
  std::size_t push = 0;
  std::size_t pull = 0;
};

/// The same by pushes to shard `shard` and pulls from it; `terms[w]`: of the shard's part of the
/// bucket.
void reduce_at_server(StepTraffic& traffic, const ServerStages& stages, std::size_t shard,
                      const compressors::SumTerms& codec,
                      std::span<const std::span<std::uint32_t>> terms, std::size_t replicas);

}  // namespace gradwire::trainers
