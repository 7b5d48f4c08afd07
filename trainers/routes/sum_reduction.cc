#include "trainers/routes/sum_reduction.h"

#include <algorithm>

#include "trainers/routes/all_reduce_mover.h"
#include "trainers/routes/sum_gaps.h"
#include "trainers/updates/shards.h"

namespace gradwire::trainers {

namespace {

/// Of a reduce-scatter: each chunk's sum lies at one worker, as its codec keeps it, and becomes
/// everybody's: one buffer stands for all workers' parts.
void join_parts(const compressors::SumTerms& codec, std::span<const std::span<std::uint32_t>> terms,
                std::size_t replicas) {
  const auto workers = static_cast<int>(terms.size());
  const auto elements = static_cast<std::int64_t>(terms[0].size());
  for (int owner = 0; owner < workers; ++owner) {
    const sim::ChunkRange chunk =
        sim::chunk_range(elements, workers, chunk_of_rank(owner, workers));
    const auto part_of = [&](std::size_t w) {
      return terms[w].subspan(static_cast<std::size_t>(chunk.first),
                              static_cast<std::size_t>(chunk.count));
    };
    const std::span<std::uint32_t> own = part_of(static_cast<std::size_t>(owner));
    codec.round_as_packed(own, workers);
    for (std::size_t w = 0; w < replicas; ++w)
      if (w != static_cast<std::size_t>(owner)) std::ranges::copy(own, part_of(w).begin());
  }
}

}  // namespace

void reduce_among_workers(StepTraffic& traffic, std::size_t bucket, std::size_t stage,
                          const compressors::SumTerms& codec, const sim::CollectiveSpec& spec,
                          std::vector<std::span<std::uint32_t>> terms, std::size_t replicas) {
  const std::span<std::uint32_t> first = terms[0];
  const std::vector<std::span<std::uint32_t>> own = terms;
  const bool alone = terms.size() == 1;
  AllReduceMover reduction(codec, spec, std::move(terms), static_cast<int>(replicas));
  traffic.move(bucket, stage, {}, reduction);
  if (spec.kind == sim::CollectiveKind::kRingReduceScatter && !alone)
    return join_parts(codec, own, replicas);
  // A lone worker has sent nothing, but its update must be what the codec makes of its gradient.
  if (alone) codec.round_as_packed(first, 1);
}

void reduce_at_server(StepTraffic& traffic, const ServerStages& stages, std::size_t shard,
                      const compressors::SumTerms& codec,
                      std::span<const std::span<std::uint32_t>> terms, std::size_t replicas) {
  const std::size_t n = terms[0].size(), workers = terms.size();
  const auto all = static_cast<int>(workers);
  std::vector<std::vector<std::byte>> packed(workers);
  std::vector<Message> messages;
  for (std::size_t w = 0; w < workers; ++w) {
    packed[w].resize(codec.packed_size(n, 1));
    codec.pack(terms[w], 1, packed[w]);
    messages.push_back(packed[w]);
  }
  ServerMover push(messages);
  traffic.move(stages.bucket, stages.push, sizes_of(messages), push, shard);
  std::vector<std::uint32_t> total(n);
  store_arrived(codec, push.received()[0], 1, total);
  for (std::size_t w = 1; w < workers; ++w) add_arrived(codec, push.received()[w], 1, total);
  std::vector<std::byte> answer(codec.packed_size(n, all));
  codec.pack(total, all, answer);
  const std::vector<Message> answers(workers, answer);
  ServerMover pull(answers);
  traffic.move(stages.bucket, stages.pull, sizes_of(answers), pull, shard);
  for (std::size_t w = 0; w < replicas; ++w)
    store_arrived(codec, pull.received()[w], all, terms[w]);
}

}  // namespace gradwire::trainers
