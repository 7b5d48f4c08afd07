#include "sim/graph/host_pairs.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

void add_pairs(const CollectiveSpec& spec, std::vector<HostPair>& pairs) {
  const auto host = [&](int rank) {
    return rank < 0 ? spec.server : spec.members[static_cast<std::size_t>(rank)];
  };
  const auto members = static_cast<int>(spec.members.size());
  for (int rank = -1; rank < members; ++rank)
    for (const int destination : destinations_of(spec, rank))
      pairs.push_back({host(rank), host(destination)});
}

}  // namespace

std::vector<HostPair> pairs_of(const GraphTemplate& graph) {
  std::vector<HostPair> pairs;
  for (std::size_t op = 0; op < graph.size(); ++op)
    if (graph.kind[op] == OpKind::kTransfer) pairs.push_back({graph.worker[op], graph.peer[op]});
  for (const CollectiveSpec& spec : graph.collectives) add_pairs(spec, pairs);
  std::erase_if(pairs, [](const HostPair& pair) { return pair.source == pair.destination; });
  std::ranges::sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
  return pairs;
}

}  // namespace gradwire::sim
