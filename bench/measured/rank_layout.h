#pragma once
#include "bench/measured/table.h"

/// Which GPUs of a table's row work together on what, and over which links.
///
/// Ranks count through the tensor-parallel parts first, then through the data-parallel workers,
/// then through the stages of the pipeline, as in Megatron-LM; nodes are filled in that order. A
/// group's members are `stride` ranks apart. Where a group has several nodes, its ring crosses each
/// node's adapters once, and shares them with the node's other groups that do the same.
namespace gradwire::bench {

struct RankGroup {
  int members = 1;
  int stride = 1;
  int members_per_node = 1;
  BitsPerSecond between_nodes{0};  ///< its share of a node's adapters; 0 = within a node

  bool is_between_nodes() const { return members > members_per_node; }
};

RankGroup tensor_group(const MeasuredStep& step);
RankGroup data_group(const MeasuredStep& step);
/// Two neighbours in the pipeline, on different nodes where any two are.
RankGroup stage_neighbours(const MeasuredStep& step);

/// Bytes/s of the ring among the group's members; 0 = not known.
double ring_bytes_per_second(const std::string& device, const RankGroup& group);

}  // namespace gradwire::bench
