#include <algorithm>

#include "trainers/timing/step_template.h"

/// Steps of ZeRO (arXiv 1910.02054), where workers hold parts of gradients or weights. Stages 1 and
/// 2 gather the weights after the update:
///
///   update(w) -> gather weights b(B-1) -> ... -> gather weights b0 -> the next step's forward
///
/// Stage 3 gathers a bucket's weights before each pass that needs them, while the pass goes through
/// the bucket before, and drops them after it; so no more than two buckets are there at a time:
///
///   gather b(B-1) -> forward b(B-1) -> forward b(B-2) -> ... -> forward b0
///   gather b0 -> backward b0 -> reduce-scatter b0;   gather b1 -> backward b1 -> ...
///
/// From stage 2 on a worker keeps no more than two buckets of whole gradients where it sends them
/// during the backward pass: backward b waits for the end of bucket b - 2.
namespace gradwire::trainers {

using sim::OpIndex;

OpIndex StepTemplate::add_gather(sim::GraphBuilder& builder, std::size_t bucket,
                                 std::span<const OpIndex> after) {
  sim::CollectiveSpec spec;
  spec.kind = sim::CollectiveKind::kRingAllGather;
  for (int w = 0; w < workers_; ++w) spec.members.push_back(w);
  spec.buffer = static_cast<std::int32_t>(bucket);
  std::vector<OpIndex> before(after.begin(), after.end());
  before.insert(before.end(), last_collective_.begin(), last_collective_.end());
  std::ranges::sort(before);
  before.erase(std::unique(before.begin(), before.end()), before.end());
  const OpIndex op =
      builder.add_collective(std::move(spec), "gather weights b" + std::to_string(bucket), before);
  last_collective_ = {op};
  return op;
}

void StepTemplate::add_gathers_after_update(sim::GraphBuilder& builder, std::size_t buckets) {
  gathers_.assign(1, std::vector<OpIndex>(buckets));
  for (std::size_t b = buckets; b-- > 0;)
    gathers_[0][b] = add_gather(builder, b, from_host_.empty() ? update_ : from_host_[b]);
  ends_.assign(update_.size(), gathers_[0][0]);
}

void StepTemplate::add_gathered_forward(sim::GraphBuilder& builder, std::size_t buckets) {
  forward_parts_.resize(buckets);
  gathers_.assign(2, std::vector<OpIndex>(buckets));
  for (std::size_t b = buckets; b-- > 0;) {
    const bool first = b + 1 == buckets;
    gathers_[0][b] =
        add_gather(builder, b, b + 2 < buckets ? forward_parts_[b + 2] : std::vector<OpIndex>());
    for (int w = 0; w < workers_; ++w) {
      std::vector<OpIndex> after = {gathers_[0][b]};
      if (!first) after.push_back(forward_parts_[b + 1][static_cast<std::size_t>(w)]);
      forward_parts_[b].push_back(builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute,
                                                        w, "forward b" + std::to_string(b), after));
    }
  }
  forward_ = forward_parts_.back();
}

void StepTemplate::add_sharded_passes(sim::GraphBuilder& builder,
                                      const std::vector<std::vector<Stage>>& stages, bool overlap) {
  const std::size_t buckets = stages.size();
  if (zero_ == 3)
    add_gathered_forward(builder, buckets);
  else
    for (int w = 0; w < workers_; ++w)
      forward_.push_back(
          builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, w, "forward"));
  const auto gather_next = [&](std::size_t b, const std::vector<OpIndex>& after) {
    if (zero_ == 3 && b < buckets) gathers_[1][b] = add_gather(builder, b, after);
  };
  if (zero_ == 3) gather_next(0, forward_parts_[0]);
  for (std::size_t b = 0; b < buckets; ++b) {
    gather_next(b + 1, b > 0 ? backward_.back() : std::vector<OpIndex>());
    add_backward(builder, b, overlap && b >= 2);
    if (overlap) add_stages(builder, b, stages[b], backward_[b]);
  }
  for (std::size_t b = 0; !overlap && b < buckets; ++b)
    add_stages(builder, b, stages[b], backward_.back());
}

/// Of stage 3 each bucket has a part of the forward pass, as large as its part of the backward
/// pass.
void StepTemplate::take_forward_seconds(const scenarios::ComputeProfile& profile,
                                        std::span<const double> slowdown,
                                        std::vector<Seconds>& seconds) const {
  Seconds backward{0};
  for (const auto& bucket : profile.buckets) backward += bucket.backward;
  for (std::size_t w = 0; w < forward_.size(); ++w) {
    seconds[forward_[w]] = profile.forward * slowdown[w];
    for (std::size_t b = 0; b < forward_parts_.size() && backward > Seconds(0); ++b)
      seconds[forward_parts_[b][w]] =
          profile.forward * slowdown[w] * (profile.buckets[b].backward / backward);
  }
}

}  // namespace gradwire::trainers
