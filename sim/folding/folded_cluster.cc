#include "sim/folding/folded_cluster.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "sim/cluster/handshake.h"
#include "sim/cluster/link_kind.h"

namespace gradwire::sim {
namespace {

bool may_fold(const Link& link) {
  return link.cell < 0 && is_plain(link.spec) && link.spec.mean_loss() <= 0;
}

/// In a ring of `columns`, so many columns up; back where that is nearer.
std::int32_t nearest(std::int32_t step, std::int32_t columns) {
  return 2 * step > columns ? step - columns : step;
}

std::int32_t turned(std::int32_t column, std::int32_t step, std::int32_t columns) {
  return (column + step + columns) % columns;
}

std::int32_t find(std::vector<std::int32_t>& root, std::int32_t n) {
  const auto at = [&](std::int32_t i) -> std::int32_t& {
    return root[static_cast<std::size_t>(i)];
  };
  while (at(n) != n) n = at(n) = at(at(n));
  return n;
}

}  // namespace

std::optional<FoldedCluster> FoldedCluster::fold(const Cluster& whole, const Columns& columns,
                                                 std::span<const ColumnPair> pairs,
                                                 const TransportSettings& transport) {
  FoldedCluster folded;
  folded.places_.resize(whole.links().size());
  for (const ColumnPair& pair : pairs) {
    if (!folded.add_way(whole, columns, pair)) return std::nullopt;
    const ColumnPair back{pair.to, pair.from, -pair.step};
    // Acknowledgements may be followed, too, on a way of their own.
    const bool is_there = std::ranges::find(pairs, back) != pairs.end();
    if (!is_there && !folded.add_way(whole, columns, back)) return std::nullopt;
  }
  if (!folded.build(columns)) return std::nullopt;
  folded.cluster_.stand_for(whole);
  if (clock_at_start(whole, transport) != clock_at_start(folded.cluster_, transport))
    return std::nullopt;
  return folded;
}

bool FoldedCluster::add_way(const Cluster& whole, const Columns& columns, const ColumnPair& pair) {
  if (std::abs(pair.step) > 1) return false;
  const std::int32_t count = columns.count();
  const auto host = [&](std::int32_t column, std::int32_t row) {
    return columns.hosts[static_cast<std::size_t>(column * columns.rows + row)];
  };
  std::vector<ChannelId> route, all;  // all: [columns][hops]
  for (std::int32_t c = 0; c < count; ++c) {
    route.clear();
    whole.route(host(c, pair.from), host(turned(c, pair.step, count), pair.to), route);
    all.insert(all.end(), route.begin(), route.end());
    if (all.size() != route.size() * (static_cast<std::size_t>(c) + 1)) return false;
  }
  Way way{pair, {}};
  std::vector<ChannelId> channels(static_cast<std::size_t>(count));
  for (std::size_t hop = 0; hop < route.size(); ++hop) {
    for (std::size_t c = 0; c < channels.size(); ++c) channels[c] = all[c * route.size() + hop];
    const std::optional<Hop> placed = place_links(whole, channels);
    if (!placed) return false;
    way.hops.push_back(*placed);
  }
  ways_.push_back(std::move(way));
  return true;
}

/// `channels`: by column of the sender.
std::optional<FoldedCluster::Hop> FoldedCluster::place_links(const Cluster& whole,
                                                             std::span<const ChannelId> channels) {
  if (places_[static_cast<std::size_t>(channels[0] / 2)].group >= 0) return found_before(channels);
  const auto group = static_cast<std::int32_t>(specs_.size());
  const Link& first = whole.link_of(channels[0]);
  if (!may_fold(first)) return std::nullopt;
  for (std::size_t c = 0; c < channels.size(); ++c) {
    Place& place = places_[static_cast<std::size_t>(channels[c] / 2)];
    const Link& link = whole.link_of(channels[c]);
    if (place.group >= 0 || link.cell >= 0 || link.spec != first.spec) return std::nullopt;
    place = {group, static_cast<std::int32_t>(c), channels[c] % 2 != 0};
  }
  specs_.push_back(first.spec);
  return Hop{group, 0, false};
}

std::optional<FoldedCluster::Hop> FoldedCluster::found_before(
    std::span<const ChannelId> channels) const {
  const auto count = static_cast<std::int32_t>(channels.size());
  const Place& first = places_[static_cast<std::size_t>(channels[0] / 2)];
  const bool backwards = first.turned != (channels[0] % 2 != 0);
  for (std::int32_t c = 0; c < count; ++c) {
    const ChannelId channel = channels[static_cast<std::size_t>(c)];
    const Place& place = places_[static_cast<std::size_t>(channel / 2)];
    if (place.group != first.group || place.column != turned(c, first.column, count) ||
        backwards != (place.turned != (channel % 2 != 0)))
      return std::nullopt;
  }
  const std::int32_t step = nearest(first.column, count);
  if (std::abs(step) > 1) return std::nullopt;
  return Hop{first.group, step, backwards};
}

std::int32_t FoldedCluster::link_of(const Hop& hop, std::int32_t column) const {
  return hop.group * kKeptColumns + turned(column, hop.step, kKeptColumns);
}

/// Which ends of links are one node: those where ways go on. By host, then by end (2 link, and + 1
/// where those leave that go along it): the first of them.
std::vector<std::int32_t> FoldedCluster::join_ends(std::int32_t rows) const {
  const std::int32_t hosts = kKeptColumns * rows;
  const auto links = static_cast<std::int32_t>(specs_.size()) * kKeptColumns;
  std::vector<std::int32_t> root(static_cast<std::size_t>(hosts + 2 * links));
  std::iota(root.begin(), root.end(), 0);
  const auto join = [&](std::int32_t a, std::int32_t b) {
    const std::int32_t x = find(root, a), y = find(root, b);
    root[static_cast<std::size_t>(std::max(x, y))] = std::min(x, y);
  };
  for (const Way& way : ways_) {
    for (std::int32_t c = 0; c < kKeptColumns; ++c) {
      std::int32_t at = c * rows + way.pair.from;
      for (const Hop& hop : way.hops) {
        const std::int32_t first = hosts + 2 * link_of(hop, c);
        join(at, first + (hop.backwards ? 1 : 0));
        at = first + (hop.backwards ? 0 : 1);
      }
      join(at, turned(c, way.pair.step, kKeptColumns) * rows + way.pair.to);
    }
  }
  for (std::int32_t n = 0; n < hosts + 2 * links; ++n)
    root[static_cast<std::size_t>(n)] = find(root, n);
  return root;
}

bool FoldedCluster::build(const Columns& columns) {
  const std::int32_t hosts = kKeptColumns * columns.rows;
  const std::vector<std::int32_t> root = join_ends(columns.rows);
  std::vector<NodeId> node(root.size(), -1);
  for (std::int32_t host = 0; host < hosts; ++host) {
    const auto at = static_cast<std::size_t>(host);
    if (root[at] != host) return false;  // two hosts in one place
    node[at] = cluster_.add_host("host" + std::to_string(host));
  }
  for (std::size_t end = static_cast<std::size_t>(hosts); end < root.size(); ++end) {
    NodeId& first = node[static_cast<std::size_t>(root[end])];
    if (first < 0) first = cluster_.add_switch("switch" + std::to_string(end));
    node[end] = first;
  }
  node.erase(node.begin(), node.begin() + hosts);
  std::vector<bool> is_reached(static_cast<std::size_t>(hosts));
  for (std::size_t link = 0; 2 * link < node.size(); ++link) {
    const NodeId a = node[2 * link], b = node[2 * link + 1];
    if (a == b) return false;
    for (const NodeId end : {a, b})
      if (end < hosts) is_reached[static_cast<std::size_t>(end)] = true;
    cluster_.add_link(a, b, specs_[link / kKeptColumns]);
  }
  if (std::ranges::find(is_reached, false) != is_reached.end()) return false;
  return add_routes(node, columns.rows);
}

/// Writes down the ways, and makes sure that they are what the cluster has.
bool FoldedCluster::add_routes(const std::vector<NodeId>& node_of_end, std::int32_t rows) {
  const auto each = [&](const auto& act) {
    for (const Way& way : ways_) {
      for (std::int32_t c = 0; c < kKeptColumns; ++c) {
        FixedRoute route{c * rows + way.pair.from,
                         turned(c, way.pair.step, kKeptColumns) * rows + way.pair.to,
                         {}};
        std::vector<ChannelId> channels;
        for (const Hop& hop : way.hops) {
          channels.push_back(2 * link_of(hop, c) + (hop.backwards ? 1 : 0));
          const auto end = static_cast<std::size_t>(channels.back() ^ 1);  // where it leaves
          route.via.push_back(node_of_end[end]);
        }
        route.via.pop_back();  // the destination
        if (!act(std::move(route), channels)) return false;
      }
    }
    return true;
  };
  each([&](FixedRoute&& route, const std::vector<ChannelId>&) {
    cluster_.add_route(std::move(route));
    return true;
  });
  try {
    cluster_.finish();
  } catch (const SimError&) {
    return false;  // kept columns that no path joins, or a way that comes to a node twice
  }
  return each([&](FixedRoute&& route, const std::vector<ChannelId>& channels) {
    std::vector<ChannelId> found;
    cluster_.route(route.source, route.destination, found);
    return found == channels;
  });
}

ChannelId FoldedCluster::image(ChannelId whole) const {
  const Place& place = places_[static_cast<std::size_t>(whole / 2)];
  if (place.group < 0) return -1;
  const std::int32_t link = place.group * kKeptColumns + place.column % kKeptColumns;
  return 2 * link + (place.turned != (whole % 2 != 0) ? 1 : 0);
}

}  // namespace gradwire::sim
