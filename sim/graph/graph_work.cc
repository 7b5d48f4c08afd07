#include "sim/graph/graph_work.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

double bytes_of(std::span<const HopTransfer> hops) {
  double bytes = 0;
  for (const HopTransfer& hop : hops) bytes += static_cast<double>(hop.bytes.count());
  return bytes;
}

void add_collective(const CollectiveSpec& spec, std::span<const Bytes> bytes, GraphWork& work) {
  if (spec.members.empty()) return;
  const auto generator = make_generator(spec, bytes);
  std::vector<HopTransfer> first, of_server;
  for (std::int32_t rank = 0; first.empty() && rank < std::ssize(spec.members); ++rank)
    generator->on_ready(rank, first);  // a tree's root waits for others
  if (spec.server >= 0) generator->on_ready(-1, of_server);
  const double of_ranks =
      static_cast<double>(first.size()) * static_cast<double>(spec.members.size());
  const double transfers = static_cast<double>(generator->transfers_total());
  work.transfers += transfers;
  work.at_once = std::max({work.at_once, of_ranks, static_cast<double>(of_server.size())});
  const std::size_t seen = first.size() + of_server.size();
  if (seen > 0)
    work.bytes += transfers * (bytes_of(first) + bytes_of(of_server)) / static_cast<double>(seen);
}

}  // namespace

GraphWork graph_work(const GraphTemplate& graph, std::span<const Bytes> bytes) {
  GraphWork work;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    const std::span<const Bytes> own =
        bytes.subspan(graph.bytes_begin[op], graph.bytes_begin[op + 1] - graph.bytes_begin[op]);
    if (graph.is_collective(op)) {
      add_collective(graph.collectives[static_cast<std::size_t>(graph.peer[op])], own, work);
    } else if (graph.kind[op] == OpKind::kTransfer) {
      work.transfers += 1;
      work.bytes += static_cast<double>(own[0].count());
    }
  }
  return work;
}

}  // namespace gradwire::sim
