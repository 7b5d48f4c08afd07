#include "sim/folding/find_columns.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gradwire::sim {
namespace {

/// Larger columns are not looked for.
constexpr std::int32_t kMostRows = 128;

/// Whether all collectives of the graph are of the same hosts, in ascending order (so that who is
/// first among equals is the same in all columns), and repeat after so many ranks.
bool repeats(const Submission& use, std::int32_t rows) {
  const GraphTemplate& graph = *use.graph;
  for (OpIndex op = 0; op < graph.size(); ++op) {
    if (!graph.is_collective(op)) continue;
    const CollectiveSpec& spec = graph.collectives[static_cast<std::size_t>(graph.peer[op])];
    const std::span<const Bytes> bytes =
        use.bytes.subspan(graph.bytes_begin[op], graph.bytes_begin[op + 1] - graph.bytes_begin[op]);
    if (!spec.kind->repeats(spec, bytes, rows)) return false;
  }
  return true;
}

bool have_same_members(const GraphTemplate& graph) {
  if (graph.collectives.empty()) return false;
  const std::vector<std::int32_t>& members = graph.collectives.front().members;
  return std::ranges::is_sorted(members) &&
         std::ranges::all_of(graph.collectives, [&](const CollectiveSpec& spec) {
           return spec.kind->repeats != nullptr && spec.members == members;
         });
}

/// Who sends to whom, once each: what column 0 sends.
std::vector<ColumnPair> pairs_of(const GraphTemplate& graph, const Columns& columns) {
  std::vector<ColumnPair> pairs;
  for (const CollectiveSpec& spec : graph.collectives) {
    for (std::int32_t row = 0; row < columns.rows; ++row) {
      for (const std::int32_t to : spec.kind->destinations(spec, row)) {
        const std::int32_t column = to / columns.rows;
        const std::int32_t step = 2 * column > columns.count() ? column - columns.count() : column;
        const ColumnPair pair{row, to % columns.rows, step};
        if (std::ranges::find(pairs, pair) == pairs.end()) pairs.push_back(pair);
      }
    }
  }
  return pairs;
}

}  // namespace

bool may_fold(const Cluster& cluster, const TransportSettings& transport) {
  const int hosts = cluster.host_count();
  if (hosts < kLeastColumns || !cluster.background().empty() || !cluster.cells().empty())
    return false;
  for (int host = 0; host < hosts; ++host)
    if (cluster.host_plan(host) != nullptr) return false;
  // A library's pace goes by the number of all ranks, which the kept columns do not have.
  return transport.congestion_control != TransportSettings::CongestionControl::kBbr &&
         !transport.library;
}

std::optional<FoundColumns> find_columns(const Cluster& cluster, const Submission& first,
                                         const TransportSettings& transport) {
  const GraphTemplate& graph = *first.graph;
  if (!have_same_members(graph)) return std::nullopt;
  Columns columns{graph.collectives.front().members, 1};
  const std::int32_t ranks = columns.ranks();
  for (; columns.rows <= kMostRows && ranks / columns.rows >= kLeastColumns; ++columns.rows) {
    if (ranks % columns.rows != 0 || !repeats(first, columns.rows)) continue;
    std::optional<FoldedCluster> folded =
        FoldedCluster::fold(cluster, columns, pairs_of(graph, columns), transport);
    if (folded) return FoundColumns{std::move(columns), *std::move(folded)};
  }
  return std::nullopt;
}

}  // namespace gradwire::sim
