#pragma once
#include <cstdint>

#include "sim/graph/timeline.h"

namespace gradwire::sim {

/// Over everything virtual time decided about a graph, in order: start, end, payload, wire bytes,
/// transfers and retransmissions of each operation, and when each rank was done. Equal hashes mean
/// bit-equal times. The graph's id is left out: a step hashes alike wherever it stands in a run.
std::uint64_t timeline_hash(const Timeline& timeline);

}  // namespace gradwire::sim
