// The half of Cluster that finds the way from host to host.
#include <algorithm>
#include <limits>

#include "sim/cluster/cluster.h"

namespace gradwire::sim {
namespace {

std::uint64_t pair_key(std::int32_t first, std::int32_t second) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(first)) << 32 |
         static_cast<std::uint32_t>(second);
}

/// SplitMix64's finaliser: every bit of the input decides every bit of the output.
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// Links of one row (or column) of a torus with `size` nodes in it: two nodes share one link.
std::int32_t links_in_line(std::int32_t size) {
  return size < 3 ? size - 1 : size;
}

}  // namespace

void Cluster::join_inner_nodes() {
  const auto rows = static_cast<std::size_t>(inner_count_);
  std::vector<std::vector<Neighbour>> adjacency(rows);
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const int a = row_[static_cast<std::size_t>(links_[l].a)];
    const int b = row_[static_cast<std::size_t>(links_[l].b)];
    if (a < 0 || b < 0) continue;
    adjacency[static_cast<std::size_t>(a)].push_back({b, static_cast<ChannelId>(2 * l)});
    adjacency[static_cast<std::size_t>(b)].push_back({a, static_cast<ChannelId>(2 * l + 1)});
  }
  neighbour_begin_.assign(1, 0);
  neighbour_.clear();
  for (auto& list : adjacency) {  // rows ascend with node ids
    std::sort(list.begin(), list.end(), [](const Neighbour& x, const Neighbour& y) {
      return std::pair(x.row, x.channel) < std::pair(y.row, y.channel);
    });
    neighbour_.insert(neighbour_.end(), list.begin(), list.end());
    neighbour_begin_.push_back(neighbour_.size());
  }
}

void Cluster::measure_distances() {
  constexpr std::uint16_t kUnknown = std::numeric_limits<std::uint16_t>::max();
  const auto rows = static_cast<std::size_t>(inner_count_);
  root_number_.assign(rows, -1);
  distance_.clear();
  std::vector<std::int32_t> queue;
  std::int32_t roots = 0;
  for (const NodeId host : hosts_) {
    const int of_host = root_row(host);
    const int root = of_host < 0 ? -1 : anchor_of(of_host);
    if (root < 0 || root_number_[static_cast<std::size_t>(root)] >= 0) continue;
    root_number_[static_cast<std::size_t>(root)] = roots++;
    distance_.resize(distance_.size() + rows, kUnknown);
    std::uint16_t* distance = &distance_[distance_.size() - rows];
    distance[root] = 0;
    queue.assign(1, root);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto row = static_cast<std::size_t>(queue[i]);
      for (std::size_t n = neighbour_begin_[row]; n < neighbour_begin_[row + 1]; ++n) {
        if (distance[neighbour_[n].row] != kUnknown) continue;
        distance[neighbour_[n].row] = static_cast<std::uint16_t>(distance[row] + 1);
        GRADWIRE_ASSERT(distance[neighbour_[n].row] < kUnknown);
        queue.push_back(neighbour_[n].row);
      }
    }
  }
}

int Cluster::root_row(NodeId node) const {
  const int own = row_[static_cast<std::size_t>(node)];
  const ChannelId up = only_channel_[static_cast<std::size_t>(node)];
  return own >= 0 || up < 0 ? own : row_[static_cast<std::size_t>(far_end(up))];
}

int Cluster::anchor_of(int row) const {
  const std::size_t first = neighbour_begin_[static_cast<std::size_t>(row)];
  const std::size_t end = neighbour_begin_[static_cast<std::size_t>(row) + 1];
  const bool is_one = first < end && neighbour_[first].row == neighbour_[end - 1].row;
  return is_one ? neighbour_[first].row : row;
}

ChannelId Cluster::next_channel(int row, NodeId goal, std::uint64_t flow) const {
  const int root = root_row(goal);
  if (row == root) return only_channel_[static_cast<std::size_t>(goal)] ^ 1;  // the goal is a leaf
  const auto rows = static_cast<std::size_t>(inner_count_);
  const int anchor = anchor_of(root);
  const auto number = static_cast<std::size_t>(root_number_[static_cast<std::size_t>(anchor)]);
  const std::uint16_t* distance = &distance_[number * rows];
  const std::size_t first = neighbour_begin_[static_cast<std::size_t>(row)];
  const std::size_t end = neighbour_begin_[static_cast<std::size_t>(row) + 1];
  const auto nearer = [&](std::size_t n) {
    return row == anchor ? neighbour_[n].row == root
                         : distance[neighbour_[n].row] + 1 == distance[row];
  };
  std::uint64_t skipped = 0;
  if (routing_.kind == Routing::Kind::kEcmp) {
    std::uint64_t choices = 0;
    for (std::size_t n = first; n < end; ++n) choices += nearer(n);
    // Each switch hashes with a seed of its own, or all flows of one choice would meet again.
    const std::uint64_t hash = mixed(flow ^ mixed(static_cast<std::uint64_t>(row) + 1));
    skipped = (hash >> 32) * choices >> 32;
  }
  for (std::size_t n = first; n < end; ++n) {
    if (nearer(n) && skipped-- == 0) return neighbour_[n].channel;
  }
  return -1;
}

void Cluster::route(int source_host, int destination_host, std::vector<ChannelId>& route) const {
  const std::uint64_t flow = pair_key(source_host, destination_host);
  if (const auto fixed = fixed_channels_.find(flow); fixed != fixed_channels_.end()) {
    route.insert(route.end(), fixed->second.begin(), fixed->second.end());
    return;
  }
  if (routing_.kind == Routing::Kind::kTorus) {
    torus_route(source_host, destination_host, route);
    return;
  }
  NodeId node = host_node(source_host);
  const NodeId goal = host_node(destination_host);
  while (node != goal) {
    const int row = row_[static_cast<std::size_t>(node)];
    const ChannelId channel =
        row < 0 ? only_channel_[static_cast<std::size_t>(node)] : next_channel(row, goal, flow);
    GRADWIRE_ASSERT(channel >= 0);
    route.push_back(channel);
    node = far_end(channel);
  }
}

void Cluster::torus_route(int source, int destination, std::vector<ChannelId>& route) const {
  const std::int32_t columns = routing_.columns, rows = routing_.rows;
  std::int32_t column = source % columns, row = source / columns;
  // Along one line of `size` nodes, whose links start at `first_link`: link i leads from node i to
  // node i + 1. The shorter way; of two equal ones up from even nodes and down from odd ones, so
  // that both directions are used.
  const auto walk = [&](std::int32_t from, std::int32_t to, std::int32_t size,
                        std::int32_t first_link) {
    const std::int32_t ahead = (to - from + size) % size;
    const bool up = 2 * ahead < size || (2 * ahead == size && from % 2 == 0);
    for (; from != to; from = up ? (from + 1) % size : (from + size - 1) % size) {
      // Of two nodes, the single link is the one from node 0 to node 1.
      const bool along = size == 2 ? from == 0 : up;
      const std::int32_t link = along ? from : (from + size - 1) % size;
      route.push_back(2 * (first_link + link) + (along ? 0 : 1));
    }
    return to;
  };
  const std::int32_t x = links_in_line(columns), y = links_in_line(rows);
  column = walk(column, destination % columns, columns, row * x);
  walk(row, destination / columns, rows, rows * x + column * y);
}

void Cluster::check_torus() const {
  const std::int32_t columns = routing_.columns, rows = routing_.rows;
  const std::int32_t x = links_in_line(columns), y = links_in_line(rows);
  GRADWIRE_ASSERT(columns > 0 && rows > 0 && host_count() == columns * rows);
  GRADWIRE_ASSERT(names_.size() == hosts_.size());
  GRADWIRE_ASSERT(static_cast<std::int32_t>(links_.size()) == rows * x + columns * y);
  for (std::int32_t l = 0; l < static_cast<std::int32_t>(links_.size()); ++l) {
    const Link& link = links_[static_cast<std::size_t>(l)];
    const bool along_row = l < rows * x;
    const std::int32_t line = along_row ? l / x : (l - rows * x) / y;
    const std::int32_t from = along_row ? l % x : (l - rows * x) % y;
    const std::int32_t to = (from + 1) % (along_row ? columns : rows);
    const auto node = [&](std::int32_t at) {
      return along_row ? line * columns + at : at * columns + line;
    };
    GRADWIRE_ASSERT(link.a == node(from) && link.b == node(to));
  }
}

void Cluster::refuse_route(const FixedRoute& fixed, std::string_view reason) const {
  throw SimError("use",
                 "the route from " + name(host_node(fixed.source)) + " to " +
                     name(host_node(fixed.destination)),
                 reason);
}

void Cluster::resolve_fixed_routes() {
  fixed_channels_.clear();
  if (fixed_routes_.empty()) return;
  std::unordered_map<std::uint64_t, ChannelId> channel_between;  // of parallel links the first
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const Link& link = links_[l];
    channel_between.try_emplace(pair_key(link.a, link.b), static_cast<ChannelId>(2 * l));
    channel_between.try_emplace(pair_key(link.b, link.a), static_cast<ChannelId>(2 * l + 1));
  }
  for (const FixedRoute& fixed : fixed_routes_) resolve(fixed, channel_between);
}

void Cluster::resolve(const FixedRoute& fixed,
                      const std::unordered_map<std::uint64_t, ChannelId>& channel_between) {
  const auto is_known = [&](int host) { return host >= 0 && host < host_count(); };
  if (!is_known(fixed.source) || !is_known(fixed.destination)) {
    throw SimError("use", "a route", "it joins hosts that do not exist");
  }
  if (fixed.source == fixed.destination) refuse_route(fixed, "it leads to its own start");
  std::vector<NodeId> nodes = {host_node(fixed.source)};
  nodes.insert(nodes.end(), fixed.via.begin(), fixed.via.end());
  nodes.push_back(host_node(fixed.destination));
  std::vector<ChannelId> channels;
  for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
    const NodeId next = nodes[i + 1];
    if (next < 0 || next >= static_cast<NodeId>(names_.size())) {
      refuse_route(fixed, "it passes a node that does not exist");
    }
    const auto so_far = nodes.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(nodes.begin(), so_far, next) != so_far) {
      refuse_route(fixed, "it loops: it comes to " + name(next) + " twice");
    }
    const auto found = channel_between.find(pair_key(nodes[i], next));
    if (found == channel_between.end()) {
      refuse_route(fixed, "no link joins " + name(nodes[i]) + " and " + name(next));
    }
    channels.push_back(found->second);
  }
  const std::uint64_t key = pair_key(fixed.source, fixed.destination);
  if (!fixed_channels_.emplace(key, std::move(channels)).second) {
    refuse_route(fixed, "it is written down twice");
  }
}

}  // namespace gradwire::sim
