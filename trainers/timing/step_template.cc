#include "trainers/timing/step_template.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::trainers {
namespace {

using sim::Lane;
using sim::OpIndex;
using sim::OpKind;

Seconds cost_of(StageCost cost, const scenarios::ComputeProfile::Bucket& bucket, int workers) {
  switch (cost) {
    case StageCost::kNone:
      return Seconds(0);
    case StageCost::kScale:
      return bucket.scale;
    case StageCost::kEncode:
      return bucket.encode - bucket.scale;
    case StageCost::kEncodeOthers:
      return bucket.encode * ((workers - 1.0) / workers);
    case StageCost::kRequantize:
      return bucket.aggregate * ((workers - 1.0) / workers) + bucket.encode / workers;
    case StageCost::kDecode:
      return bucket.decode;
    case StageCost::kDecodeAll:
      return bucket.decode * workers;
    case StageCost::kAggregateAll:
      return bucket.aggregate * workers;
    case StageCost::kAnswer:
      return bucket.aggregate * workers + bucket.encode;
  }
  return Seconds(0);
}

std::vector<OpIndex> all_of(const std::vector<std::vector<OpIndex>>& previous) {
  std::vector<OpIndex> all;
  for (const std::vector<OpIndex>& ends : previous) all.insert(all.end(), ends.begin(), ends.end());
  return all;
}

/// Each operation once, in order of index.
std::vector<OpIndex> without_repeats(std::vector<OpIndex> ops) {
  std::sort(ops.begin(), ops.end());
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  return ops;
}

/// Whether every shard has one of its own.
bool is_sharded(const Stage& stage) {
  return stage.collective.kind->has_server();
}

}  // namespace

StepTemplate::StepTemplate(int workers, const std::vector<std::vector<Stage>>& stages, bool overlap,
                           int shards, int zero, bool offload)
    : workers_(workers), shards_(shards), zero_(zero), at_shard_(static_cast<std::size_t>(shards)) {
  sim::GraphBuilder builder;
  if (zero_ > 1)
    add_sharded_passes(builder, stages, overlap);
  else
    add_whole_passes(builder, stages, overlap);
  if (offload)
    add_host_updates(builder);
  else
    add_updates(builder);
  ends_ = offload ? from_host_[0] : update_;
  if (zero_ == 1 || zero_ == 2) add_gathers_after_update(builder, stages.size());
  graph_ = builder.finish();
}

void StepTemplate::add_whole_passes(sim::GraphBuilder& builder,
                                    const std::vector<std::vector<Stage>>& stages, bool overlap) {
  for (int w = 0; w < workers_; ++w)
    forward_.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, w, "forward"));
  for (std::size_t b = 0; b < stages.size(); ++b) add_backward(builder, b);
  for (std::size_t b = 0; b < stages.size(); ++b)
    add_stages(builder, b, stages[b], overlap ? backward_[b] : backward_.back());
}

void StepTemplate::add_updates(sim::GraphBuilder& builder) {
  for (int w = 0; w < workers_; ++w) {
    std::vector<OpIndex> after;
    for (const Ends& ends : last_) {
      const std::vector<OpIndex>& own = ends[static_cast<std::size_t>(w)];
      after.insert(after.end(), own.begin(), own.end());
    }
    update_.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, w, "update",
                                            without_repeats(after)));
  }
}

void StepTemplate::add_host_updates(sim::GraphBuilder& builder) {
  const std::size_t buckets = last_.size();
  to_host_.resize(buckets);
  from_host_.resize(buckets);
  for (int w = 0; w < workers_; ++w) {
    const auto own = static_cast<std::size_t>(w);
    const auto add = [&](const std::string& label, std::span<const OpIndex> after) {
      return builder.add_operation(OpKind::kCompute, Lane::kHost, w, label, after);
    };
    OpIndex last = 0;
    std::vector<OpIndex> arrived;
    for (std::size_t b = 0; b < buckets; ++b) {
      arrived.push_back(add("to host b" + std::to_string(b), without_repeats(last_[b][own])));
      to_host_[b].push_back(arrived.back());
    }
    last = add("update", arrived);
    update_.push_back(last);
    for (std::size_t b = buckets; b-- > 0;) {
      last = add("from host b" + std::to_string(b), {&last, 1});
      from_host_[b].push_back(last);
    }
  }
}

void StepTemplate::add_backward(sim::GraphBuilder& builder, std::size_t bucket, bool waits) {
  const std::vector<OpIndex>& previous = bucket == 0 ? forward_ : backward_.back();
  std::vector<OpIndex> ops;
  for (int w = 0; w < workers_; ++w) {
    const auto own = static_cast<std::size_t>(w);
    std::vector<OpIndex> after = {previous[own]};
    if (bucket == 0 && !forward_parts_.empty()) after = {forward_parts_[0][own]};
    if (gathers_.size() > 1) after.push_back(gathers_[1][bucket]);
    if (waits)
      after.insert(after.end(), last_[bucket - 2][own].begin(), last_[bucket - 2][own].end());
    ops.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, w,
                                        "backward b" + std::to_string(bucket),
                                        without_repeats(std::move(after))));
  }
  backward_.push_back(std::move(ops));
}

/// The owner of a chunk goes on when all have sent it theirs. Gives the first push.
OpIndex StepTemplate::add_scatter(sim::GraphBuilder& builder, const Stage& stage,
                                  const std::string& label, Ends& previous) {
  if (workers_ == 1) return 0;
  std::vector<OpIndex> after = all_of(previous);
  after.insert(after.end(), last_collective_.begin(), last_collective_.end());
  after = without_repeats(std::move(after));
  std::vector<OpIndex> pushes;
  for (int owner = 0; owner < workers_; ++owner) {
    sim::CollectiveSpec spec = stage.collective;
    std::erase(spec.members, owner);
    spec.server = owner;
    pushes.push_back(builder.add_collective(spec, label, after));
    previous[static_cast<std::size_t>(owner)].push_back(pushes.back());
  }
  last_collective_ = pushes;
  return pushes.front();
}

/// Each shard goes on when its messages are there. Gives the first shard's operation.
OpIndex StepTemplate::add_server(sim::GraphBuilder& builder, const Stage& stage,
                                 const std::string& label, std::size_t bucket) {
  OpIndex first = 0;
  for (int s = 0; s < shards_; ++s) {
    std::vector<OpIndex>& own = at_shard_[static_cast<std::size_t>(s)];
    const OpIndex op = builder.add_operation(stage.op, Lane::kCodec, workers_ + s, label, own);
    costs_.push_back({op, bucket, stage.cost, shards_});
    own.push_back(op);
    if (s == 0) first = op;
  }
  return first;
}

/// A push or a pull for each shard, all at once; what follows a shard's operation is its answer.
/// Gives the first shard's.
OpIndex StepTemplate::add_to_shards(sim::GraphBuilder& builder, const Stage& stage,
                                    const std::string& label, Ends& previous) {
  std::vector<OpIndex> all;
  for (int s = 0; s < shards_; ++s) {
    std::vector<OpIndex>& own = at_shard_[static_cast<std::size_t>(s)];
    const bool answers = stage.collective.kind == sim::CollectiveKind::kPull;
    std::vector<OpIndex> after = answers ? own : all_of(previous);
    if (!answers) after.insert(after.end(), last_collective_.begin(), last_collective_.end());
    sim::CollectiveSpec spec = stage.collective;
    spec.server = workers_ + s;
    own = {builder.add_collective(std::move(spec), label, without_repeats(std::move(after)))};
    all.push_back(own.front());
  }
  last_collective_ = all;
  std::fill(previous.begin(), previous.end(), all);
  return all.front();
}

void StepTemplate::add_stages(sim::GraphBuilder& builder, std::size_t bucket,
                              const std::vector<Stage>& stages, const std::vector<OpIndex>& ready) {
  Ends previous;
  for (const OpIndex op : ready) previous.push_back({op});
  collective_.emplace_back();
  for (const Stage& stage : stages) {
    const std::string label = stage.label + " b" + std::to_string(bucket);
    OpIndex op = 0;
    if (stage.kind == StageKind::kWorker) {
      for (int w = 0; w < workers_; ++w) {
        std::vector<OpIndex>& before = previous[static_cast<std::size_t>(w)];
        before = {builder.add_operation(stage.op, Lane::kCodec, w, label, before)};
        costs_.push_back({before.front(), bucket, stage.cost, 1, w});
        if (w == 0) op = before.front();
      }
    } else if (stage.kind == StageKind::kServer) {
      op = add_server(builder, stage, label, bucket);
    } else if (stage.kind == StageKind::kScatter) {
      op = add_scatter(builder, stage, label, previous);
    } else if (is_sharded(stage)) {
      op = add_to_shards(builder, stage, label, previous);
    } else {
      std::vector<OpIndex> after = all_of(previous);
      after.insert(after.end(), last_collective_.begin(), last_collective_.end());
      op = builder.add_collective(stage.collective, label, without_repeats(std::move(after)));
      last_collective_ = {op};
      std::fill(previous.begin(), previous.end(), std::vector<OpIndex>{op});
    }
    collective_.back().push_back(op);
  }
  last_.push_back(std::move(previous));
}

std::vector<Seconds> StepTemplate::seconds(const scenarios::ComputeProfile& profile,
                                           std::span<const double> slowdown) const {
  GRADWIRE_ASSERT(profile.buckets.size() == backward_.size());
  std::vector<Seconds> seconds(graph_->size(), Seconds(0));
  for (std::size_t w = 0; w < forward_.size(); ++w) {
    seconds[update_[w]] = profile.update * slowdown[w];
    for (std::size_t b = 0; b < backward_.size(); ++b) {
      seconds[backward_[b][w]] = profile.buckets[b].backward * slowdown[w];
    }
  }
  take_forward_seconds(profile, slowdown, seconds);
  for (std::size_t b = 0; b < to_host_.size(); ++b) {
    for (const OpIndex op : to_host_[b]) seconds[op] = profile.buckets[b].to_host;
    for (const OpIndex op : from_host_[b]) seconds[op] = profile.buckets[b].from_host;
  }
  for (const Costing& costing : costs_) {
    const double factor =
        costing.worker < 0 ? 1.0 : slowdown[static_cast<std::size_t>(costing.worker)];
    seconds[costing.op] = cost_of(costing.cost, profile.buckets[costing.bucket], workers_) *
                          (factor / costing.shards);
  }
  return seconds;
}

std::vector<sim::CrossEdge> StepTemplate::edges_from(std::optional<sim::GraphId> last,
                                                     std::span<const OpIndex> ends) const {
  std::vector<sim::CrossEdge> edges;
  for (std::size_t w = 0; last && w < forward_.size(); ++w) {
    const OpIndex first = zero_ == 3 ? gathers_[0].back() : forward_[w];
    edges.push_back({{*last, ends[w]}, first});
  }
  return edges;
}

}  // namespace gradwire::trainers
