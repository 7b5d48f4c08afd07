#include "sim/cluster.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace gradwire::sim {
namespace {

std::string link_subject(const std::string& a, const std::string& b) {
  return "link " + a + " - " + b;
}

/// Throws SimError for a link that no network can have.
void check_link(const std::string& subject, const LinkSpec& spec) {
  const auto refuse = [&](std::string_view reason, std::string_view remedy) {
    throw SimError("use", subject, reason, remedy);
  };
  if (!(spec.rate.value() > 0) || !std::isfinite(spec.rate.value())) {
    refuse("its rate is not positive and finite", "give it a rate such as 1Gbps");
  }
  if (!(spec.delay.value() >= 0) || !std::isfinite(spec.delay.value())) {
    refuse("its delay is negative or not finite", "give it a delay such as 50us");
  }
  if (!(spec.loss >= 0) || !(spec.loss < 1)) {
    refuse("its loss is not in [0, 1)", "loss is a probability per packet, such as 0.01");
  }
  if (spec.queue.count() < 0) refuse("its queue is negative", "0 sizes the queue automatically");
}

}  // namespace

Cluster Cluster::star(int workers, const LinkSpec& link, bool with_server,
                      const std::optional<LinkSpec>& server_link) {
  Cluster cluster;
  for (int w = 0; w < workers; ++w) cluster.add_host("worker" + std::to_string(w));
  if (with_server) cluster.add_host("server");
  const NodeId hub = cluster.add_switch("switch");
  for (int w = 0; w < workers; ++w) cluster.add_link(w, hub, link);
  if (with_server) cluster.add_link(workers, hub, server_link.value_or(link));
  cluster.finish(with_server);
  return cluster;
}

NodeId Cluster::add_host(std::string name) {
  const auto node = static_cast<NodeId>(names_.size());
  names_.push_back(std::move(name));
  is_host_.push_back(true);
  hosts_.push_back(node);
  return node;
}

NodeId Cluster::add_switch(std::string name) {
  const auto node = static_cast<NodeId>(names_.size());
  names_.push_back(std::move(name));
  is_host_.push_back(false);
  return node;
}

void Cluster::add_link(NodeId a, NodeId b, const LinkSpec& spec) {
  const auto known = [&](NodeId n) { return n >= 0 && n < static_cast<NodeId>(names_.size()); };
  if (!known(a) || !known(b)) {
    throw SimError("add", "link " + std::to_string(a) + " - " + std::to_string(b),
                   "it names a node that does not exist", "add its hosts and switches first");
  }
  const auto name = [&](NodeId n) { return names_[static_cast<std::size_t>(n)]; };
  if (a == b) throw SimError("add", link_subject(name(a), name(b)), "both ends are the same node");
  check_link(link_subject(name(a), name(b)), spec);
  links_.push_back({a, b, spec});
}

void Cluster::finish(bool with_server) {
  has_server_ = with_server;
  workers_ = host_count() - (with_server ? 1 : 0);
  if (workers_ < 1) throw SimError("build", "cluster", "it has no worker", "add at least one host");
  check_connected();
  number_inner_nodes();
  find_routes();
}

void Cluster::check_connected() const {
  std::vector<NodeId> root(names_.size());
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](NodeId n) {
    while (root[static_cast<std::size_t>(n)] != n) {
      auto& up = root[static_cast<std::size_t>(n)];
      up = root[static_cast<std::size_t>(up)];
      n = up;
    }
    return n;
  };
  for (const Link& link : links_) root[static_cast<std::size_t>(find(link.a))] = find(link.b);
  for (const NodeId host : hosts_) {
    if (find(host) == find(hosts_[0])) continue;
    throw SimError("route",
                   "from " + names_[static_cast<std::size_t>(hosts_[0])] + " to " +
                       names_[static_cast<std::size_t>(host)],
                   "no path joins them", "add a link between their parts of the network");
  }
}

void Cluster::number_inner_nodes() {
  std::vector<int> degree(names_.size(), 0);
  only_channel_.assign(names_.size(), -1);
  for (std::size_t l = 0; l < links_.size(); ++l) {
    ++degree[static_cast<std::size_t>(links_[l].a)];
    ++degree[static_cast<std::size_t>(links_[l].b)];
    only_channel_[static_cast<std::size_t>(links_[l].a)] = static_cast<ChannelId>(2 * l);
    only_channel_[static_cast<std::size_t>(links_[l].b)] = static_cast<ChannelId>(2 * l + 1);
  }
  row_.assign(names_.size(), -1);
  inner_count_ = 0;
  for (std::size_t n = 0; n < names_.size(); ++n) {
    if (degree[n] >= 2) row_[n] = inner_count_++;
  }
}

void Cluster::find_routes() {
  // Only nodes with two links or more choose; adjacency[row] = (neighbour's row, channel to it),
  // by ascending neighbour id (rows ascend with node ids), then link.
  std::vector<std::vector<std::pair<int, ChannelId>>> adjacency(
      static_cast<std::size_t>(inner_count_));
  for (std::size_t l = 0; l < links_.size(); ++l) {
    const int a = row_[static_cast<std::size_t>(links_[l].a)];
    const int b = row_[static_cast<std::size_t>(links_[l].b)];
    if (a < 0 || b < 0) continue;
    adjacency[static_cast<std::size_t>(a)].push_back({b, static_cast<ChannelId>(2 * l)});
    adjacency[static_cast<std::size_t>(b)].push_back({a, static_cast<ChannelId>(2 * l + 1)});
  }
  for (auto& list : adjacency) std::sort(list.begin(), list.end());
  next_channel_.assign(static_cast<std::size_t>(inner_count_) * hosts_.size(), -1);
  std::vector<int> distance;
  std::vector<int> queue;
  for (std::size_t h = 0; h < hosts_.size(); ++h) {
    const auto node = static_cast<std::size_t>(hosts_[h]);
    int root = row_[node];
    if (root < 0) {  // a leaf: everybody heads for its one neighbour
      const ChannelId up = only_channel_[node];
      if (up < 0) continue;
      root = row_[static_cast<std::size_t>(far_end(up))];
      if (root < 0) continue;
      next_channel_[static_cast<std::size_t>(root) * hosts_.size() + h] = up ^ 1;
    }
    distance.assign(static_cast<std::size_t>(inner_count_), -1);
    distance[static_cast<std::size_t>(root)] = 0;
    queue.assign(1, root);
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (const auto& [to, channel] : adjacency[static_cast<std::size_t>(queue[i])]) {
        if (distance[static_cast<std::size_t>(to)] >= 0) continue;
        distance[static_cast<std::size_t>(to)] = distance[static_cast<std::size_t>(queue[i])] + 1;
        queue.push_back(to);
      }
    }
    for (const int row : queue) {
      if (row == root) continue;
      for (const auto& [to, channel] : adjacency[static_cast<std::size_t>(row)]) {
        if (distance[static_cast<std::size_t>(to)] + 1 != distance[static_cast<std::size_t>(row)]) {
          continue;
        }
        next_channel_[static_cast<std::size_t>(row) * hosts_.size() + h] = channel;
        break;
      }
    }
  }
}

NodeId Cluster::far_end(ChannelId channel) const {
  const Link& link = links_[static_cast<std::size_t>(channel / 2)];
  return channel % 2 == 0 ? link.b : link.a;
}

void Cluster::route(int source_host, int destination_host, std::vector<ChannelId>& route) const {
  NodeId node = host_node(source_host);
  const NodeId goal = host_node(destination_host);
  while (node != goal) {
    const int row = row_[static_cast<std::size_t>(node)];
    const ChannelId channel = row < 0
                                  ? only_channel_[static_cast<std::size_t>(node)]
                                  : next_channel_[static_cast<std::size_t>(row) * hosts_.size() +
                                                  static_cast<std::size_t>(destination_host)];
    GRADWIRE_ASSERT(channel >= 0);
    route.push_back(channel);
    node = far_end(channel);
  }
}

Bytes wire_bytes(Bytes payload, const TransportSettings& transport) {
  const std::int64_t segment = transport.segment.count();
  const std::int64_t headers = transport.wire_segment.count() - segment;
  const std::int64_t segments = (payload.count() + segment - 1) / segment;
  return Bytes(payload.count() + segments * headers);
}

}  // namespace gradwire::sim
