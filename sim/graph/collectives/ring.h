#pragma once
#include <memory>
#include <span>

#include "sim/graph/collective.h"

namespace gradwire::sim {

/// Rings: all-reduce, reduce-scatter, all-gather (Patarasuk and Yuan, "Bandwidth optimal all-reduce
/// algorithms for clusters of workstations", 2009). `bytes`: by rank, of a gather. `spec` outlives
/// it.
std::unique_ptr<CollectiveGenerator> make_ring(const CollectiveSpec& spec,
                                               std::span<const Bytes> bytes);

}  // namespace gradwire::sim
