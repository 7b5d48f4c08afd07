#pragma once
#include <optional>

#include "sim/folding/columns.h"
#include "sim/folding/folded_cluster.h"
#include "sim/session/executor.h"

namespace gradwire::sim {

/// Whether a cluster may be folded at all: many hosts, none with a plan of its own, no other
/// traffic, no radio, no library of collectives, and nothing that is drawn.
bool may_fold(const Cluster& cluster, const TransportSettings& transport);

/// Columns in which a cluster's hosts are images of each other, as far as a graph uses them.
struct FoundColumns {
  Columns columns;
  FoldedCluster cluster;
};

/// Those of fewest rows in which the ranks of the first use of a graph stand; all its collectives
/// must be of the same hosts. None: there are no such, or no collective.
std::optional<FoundColumns> find_columns(const Cluster& cluster, const Submission& first,
                                         const TransportSettings& transport);

}  // namespace gradwire::sim
