#include "sim/graph/host_pairs.h"

#include <set>
#include <utility>

namespace gradwire::sim {
namespace {

void add_pairs(const CollectiveSpec& spec, std::set<std::pair<int, int>>& pairs) {
  const auto host = [&](int rank) {
    return rank < 0 ? spec.server : spec.members[static_cast<std::size_t>(rank)];
  };
  const auto members = static_cast<int>(spec.members.size());
  for (int rank = -1; rank < members; ++rank)
    for (const int destination : destinations_of(spec, rank))
      pairs.emplace(host(rank), host(destination));
}

}  // namespace

std::vector<HostPair> pairs_of(const GraphTemplate& graph) {
  std::set<std::pair<int, int>> pairs;
  for (std::size_t op = 0; op < graph.size(); ++op)
    if (graph.kind[op] == OpKind::kTransfer) pairs.emplace(graph.worker[op], graph.peer[op]);
  for (const CollectiveSpec& spec : graph.collectives) add_pairs(spec, pairs);
  std::vector<HostPair> result;
  for (const auto& [source, destination] : pairs)
    if (source != destination) result.push_back(HostPair{source, destination});
  return result;
}

}  // namespace gradwire::sim
