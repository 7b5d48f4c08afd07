#include "trainers/routes/sum_plan.h"

#include "trainers/routes/scale_agreement.h"
#include "trainers/routes/sum_reduction.h"

namespace gradwire::trainers {

using sim::CollectiveKind;

std::vector<Stage> SumPlan::stages(std::size_t b, Seconds aggregate) const {
  const BucketSlot& bucket = layout_.buckets()[b];
  std::vector<Stage> stages;
  const auto worker = [&](sim::OpKind op, const char* label, StageCost cost) {
    stages.push_back({StageKind::kWorker, op, label, cost});
  };
  const auto server = [&](const char* label, StageCost cost) {
    stages.push_back({StageKind::kServer, sim::OpKind::kAggregate, label, cost});
  };
  const auto collective = [&](CollectiveKind kind, const char* label, std::int64_t elements) {
    stages.push_back({StageKind::kCollective, sim::OpKind::kCollective, label, StageCost::kNone,
                      collective_spec(kind, settings_.workers, elements, b)});
  };
  if (const std::size_t scaled = groups_.scaled(b).size(); scaled > 0) {
    const auto scales = static_cast<std::int64_t>(scaled);
    worker(sim::OpKind::kEncode, "scale", StageCost::kScale);
    if (settings_.server) {
      collective(CollectiveKind::kPush, "push scales", scales);
      server("largest scale", StageCost::kNone);
      collective(CollectiveKind::kPull, "pull scales", scales);
    } else {
      collective(settings_.all_gather, "gather scales", scales);
    }
  }
  worker(sim::OpKind::kEncode, "encode", StageCost::kEncode);
  for (const SumGroup& group : groups_.of(b)) {
    if (settings_.server) {
      collective(CollectiveKind::kPush, "push", group.count);
      continue;
    }
    const bool by_parts = settings_.all_reduce == CollectiveKind::kRingReduceScatter;
    collective(settings_.all_reduce, by_parts ? "reduce-scatter" : "all-reduce", group.count);
    stages.back().collective = reduction_of(b, group);
    if (stages.back().collective.kind != CollectiveKind::kInNetworkAllReduce)  // in switches
      stages.back().collective.hop_per_element = aggregate / static_cast<double>(bucket.count);
  }
  if (settings_.server) {
    server("aggregate", StageCost::kAggregateAll);
    for (const SumGroup& group : groups_.of(b))
      collective(CollectiveKind::kPull, "pull", group.count);
  }
  worker(sim::OpKind::kDecode, "decode", StageCost::kDecode);
  return stages;
}

sim::CollectiveSpec SumPlan::reduction_of(std::size_t b, const SumGroup& group) const {
  sim::CollectiveSpec spec = all_reduce_spec(settings_, group.count, b);
  spec.width_bits.clear();
  for (int j = 1; j <= settings_.workers; ++j)
    spec.width_bits.push_back(static_cast<std::uint8_t>(group.sum->width_bits(j)));
  return spec;
}

/// Every worker's message of that size, each sent so many times.
void SumPlan::charge_each(StepTraffic& traffic, std::size_t b, std::size_t stage, std::size_t size,
                          std::int64_t times, std::size_t shard) const {
  const std::vector<Bytes> sizes(static_cast<std::size_t>(settings_.workers),
                                 Bytes(static_cast<std::int64_t>(size)));
  traffic.charge(b, stage, sizes, sizes[0] * (times * settings_.workers), shard);
}

void SumPlan::charge_server(StepTraffic& traffic, std::size_t b) const {
  for (int s = 0; s < settings_.shards; ++s) {
    const auto shard = static_cast<std::size_t>(s);
    if (const std::size_t scaled = groups_.scaled(b).size(); scaled > 0)
      for (const std::size_t stage : {1, 3})
        charge_each(traffic, b, stage,
                    4 * static_cast<std::size_t>(shard_part(settings_, scaled, s).count), 1, shard);
    for (std::size_t g = 0; g < groups_.of(b).size(); ++g) {
      const SumGroup& group = groups_.of(b)[g];
      const auto n = static_cast<std::size_t>(
          shard_part(settings_, static_cast<std::size_t>(group.count), s).count);
      charge_each(traffic, b, main_stage(b) + g, group.sum->packed_size(n, 1), 1, shard);
      charge_each(traffic, b, pull_stage(b, g), group.sum->packed_size(n, settings_.workers), 1,
                  shard);
    }
  }
}

void SumPlan::charge_workers(StepTraffic& traffic, std::size_t b) const {
  if (const std::size_t scaled = groups_.scaled(b).size(); scaled > 0)
    charge_each(traffic, b, 1, 4 * scaled, settings_.workers - 1, 0);
  for (std::size_t g = 0; g < groups_.of(b).size(); ++g)
    traffic.charge(b, main_stage(b) + g, {}, reduction_bytes(reduction_of(b, groups_.of(b)[g])));
}

}  // namespace gradwire::trainers
