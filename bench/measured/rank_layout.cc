#include "bench/measured/rank_layout.h"

#include <algorithm>

#include "bench/measured/collective_form.h"

namespace gradwire::bench {
namespace {

RankGroup group_of(const MeasuredStep& step, int members, int stride) {
  RankGroup group{members, stride, members, BitsPerSecond(0)};
  const int node = step.gpus_per_node;
  if (members * stride <= node || members == 1) return group;
  group.members_per_node = std::max(1, node / stride);
  group.between_nodes = BitsPerSecond(step.between_nodes.value() / std::min(stride, node));
  return group;
}

}  // namespace

RankGroup tensor_group(const MeasuredStep& step) {
  return group_of(step, step.tensor_parallel, 1);
}

RankGroup data_group(const MeasuredStep& step) {
  return group_of(step, step.workers, step.tensor_parallel);
}

RankGroup stage_neighbours(const MeasuredStep& step) {
  const int stride = step.tensor_parallel * step.workers;
  RankGroup group = group_of(step, step.pipeline_parallel, stride);
  group.members = 2;
  group.members_per_node = group.between_nodes.value() > 0 ? 1 : 2;
  return group;
}

double ring_bytes_per_second(const std::string& device, const RankGroup& group) {
  const double between = group.between_nodes.value() / 8;
  if (group.is_between_nodes() && group.members_per_node == 1) return between;
  const double within = node_bytes_per_second(device, group.members_per_node);
  return group.is_between_nodes() ? std::min(within, between) : within;
}

}  // namespace gradwire::bench
