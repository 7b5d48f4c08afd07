#include "runner/record/message_sizes.h"

#include <algorithm>
#include <numeric>

namespace gradwire::runner {
namespace {

/// Ranks that have values of their own: of an in-network reduction not the aggregators.
std::int64_t sources_of(const sim::CollectiveSpec& spec) {
  std::vector<bool> adds_up(spec.members.size(), false);
  for (const std::int32_t parent : spec.parent)
    if (parent >= 0) adds_up[static_cast<std::size_t>(parent)] = true;
  return std::ranges::count(adds_up, false);
}

Bytes own_of(const sim::CollectiveSpec& spec, std::span<const Bytes> bytes) {
  if (spec.kind == sim::CollectiveKind::kPull) return Bytes(0);
  if (!spec.is_reduction()) return std::accumulate(bytes.begin(), bytes.end(), Bytes(0));
  return sim::packed_bytes(spec.elements, sim::width_of(spec, 1)) * sources_of(spec);
}

}  // namespace

Bytes own_payload(const scenarios::Work& work) {
  const sim::GraphTemplate& graph = *work.graph;
  Bytes own{0};
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    const std::uint32_t first = graph.bytes_begin[op];
    const auto bytes = std::span(work.bytes).subspan(first, graph.bytes_begin[op + 1] - first);
    if (graph.kind[op] == sim::OpKind::kTransfer) own += bytes.front();
    if (graph.kind[op] == sim::OpKind::kCollective)
      own += own_of(graph.collectives[static_cast<std::size_t>(graph.peer[op])], bytes);
  }
  return own;
}

}  // namespace gradwire::runner
