#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/units.h"
#include "sim/cluster/cell.h"
#include "sim/cluster/host_plan.h"
#include "sim/cluster/link.h"
#include "sim/cluster/traffic.h"
#include "sim/sim_error.h"
#include "sim/transport/transport_settings.h"

/// Clusters: hosts and switches joined by duplex links, and the routes between hosts.
namespace gradwire::sim {

/// How the way from host to host is found where no route is written down.
struct Routing {
  enum class Kind : std::uint8_t {
    kLeastHops,  ///< fewest hops, ties by smaller node id, then link
    kEcmp,       ///< fewest hops, ties by a hash of (source, destination, node): one way for a pair
    kTorus       ///< dimension order on a grid that wraps around: along the row, then the column
  };
  Kind kind = Kind::kLeastHops;
  /// kTorus: host (row, column) is node row * columns + column; links as torus() makes them
  /// (sim/cluster/topologies/topologies.h).
  std::int32_t columns = 0;
  std::int32_t rows = 0;
};

/// A route that is written down: the nodes between two hosts, in order.
struct FixedRoute {
  std::int32_t source = 0;  ///< host
  std::int32_t destination = 0;
  std::vector<NodeId> via;
};

/// Nodes, links and routes. Worker w of a training run is host w; hosts `workers()` and beyond are
/// the parameter server, its shards, or a switch's aggregators, where there are such.
class Cluster {
 public:
  /// Workers 0..n-1 (and servers if asked) each joined to one switch by `link`.
  static Cluster star(int workers, const LinkSpec& link, int servers = 0,
                      const std::optional<LinkSpec>& server_link = {});

  NodeId add_host(std::string name);
  /// Hosts "server", or "server0", "server1", ...
  void add_servers(int count);
  NodeId add_switch(std::string name);
  void add_link(NodeId a, NodeId b, const LinkSpec& spec);
  /// Joins each station to the base by a link of its own (sim/cluster/cell.h: station_link), in
  /// order. Throws SimError for a cell that cannot be, or a station that is out of range for ever.
  void add_cell(Cell cell);
  /// The link has these properties from now on. Precondition (assertion): it is a wire.
  void change_link(int link, const LinkSpec& spec);
  /// The host behaves so from now on; its absences become outages of its links. Throws SimError
  /// for a plan that cannot be.
  void set_host_plan(int host, const HostPlan& plan);
  /// Throws SimError for traffic that cannot be.
  void add_background(const BackgroundTraffic& traffic);
  void set_routing(const Routing& routing) { routing_ = routing; }
  /// The pair's packets go by this route (one direction). Checked by finish().
  void add_route(FixedRoute route) { fixed_routes_.push_back(std::move(route)); }
  /// Host nodes become workers in the order in which they were added, but for the last
  /// `servers`. Computes routes. Throws SimError naming any pair of hosts that no path joins,
  /// any impossible link, and any written route that loops or leaves the links.
  void finish(int servers = 0);

  int workers() const { return workers_; }
  int servers() const { return servers_; }
  bool has_server() const { return servers_ > 0; }
  int host_count() const { return static_cast<int>(hosts_.size()); }
  /// This is a part of `whole` that does what the rest does, too (sim/folding/): whatever goes by
  /// the size of a network goes by the whole's.
  void stand_for(const Cluster& whole);
  int represented_hosts() const { return represented_hosts_ ? represented_hosts_ : host_count(); }
  int represented_nodes() const {
    return represented_nodes_ ? represented_nodes_ : static_cast<int>(names_.size());
  }
  NodeId host_node(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
  std::span<const Link> links() const { return links_; }
  std::span<const Cell> cells() const { return cells_; }
  std::span<const BackgroundTraffic> background() const { return background_; }
  /// Null: as every host that nothing was said of.
  const HostPlan* host_plan(int host) const {
    return host_plans_.empty() || host_plans_[static_cast<std::size_t>(host)].is_plain()
               ? nullptr
               : &host_plans_[static_cast<std::size_t>(host)];
  }
  const Routing& routing() const { return routing_; }
  std::span<const FixedRoute> fixed_routes() const { return fixed_routes_; }
  std::span<const std::string> node_names() const { return names_; }
  bool is_host(NodeId node) const { return is_host_[static_cast<std::size_t>(node)]; }
  int channel_count() const { return 2 * static_cast<int>(links_.size()); }
  const LinkSpec& channel(ChannelId id) const {
    return links_[static_cast<std::size_t>(id / 2)].spec;
  }
  const Link& link_of(ChannelId id) const { return links_[static_cast<std::size_t>(id / 2)]; }
  /// Link::nominal_rate() of that direction.
  BitsPerSecond nominal_rate(ChannelId id) const { return link_of(id).nominal_rate(id); }

  /// Channels crossed from host to host, in order. Appends to `route`.
  void route(int source_host, int destination_host, std::vector<ChannelId>& route) const;

 private:
  void check_connected() const;
  void number_inner_nodes();
  void join_inner_nodes();
  void measure_distances();
  void check_torus() const;
  void resolve_fixed_routes();
  void resolve(const FixedRoute& fixed,
               const std::unordered_map<std::uint64_t, ChannelId>& channel_between);
  [[noreturn]] void refuse_route(const FixedRoute& fixed, std::string_view reason) const;
  NodeId far_end(ChannelId channel) const;
  /// Row of the node itself or, for a leaf, of its one neighbour; -1 if that is a leaf too.
  int root_row(NodeId node) const;
  /// Of a row with one neighbouring row, that one: from elsewhere the way to both is the same. Else
  /// the row itself.
  int anchor_of(int row) const;
  ChannelId next_channel(int row, NodeId goal, std::uint64_t flow) const;
  void torus_route(int source, int destination, std::vector<ChannelId>& route) const;
  const std::string& name(NodeId node) const { return names_[static_cast<std::size_t>(node)]; }

  std::vector<std::string> names_;
  std::vector<bool> is_host_;
  std::vector<NodeId> hosts_;
  std::vector<Link> links_;
  std::vector<Cell> cells_;
  std::vector<BackgroundTraffic> background_;
  std::vector<HostPlan> host_plans_;  ///< by host; empty: all plain
  /// Only nodes with two links or more have to choose (10,000 hosts on a star cost one row).
  /// row_[node] = its row, or -1: it takes only_channel_[node].
  std::vector<std::int32_t> row_;
  std::vector<ChannelId> only_channel_;
  std::int32_t inner_count_ = 0;
  /// Neighbours of a row that have rows: by ascending node, then link.
  struct Neighbour {
    std::int32_t row = 0;
    ChannelId channel = 0;
  };
  std::vector<std::size_t> neighbour_begin_;  ///< [rows + 1]
  std::vector<Neighbour> neighbour_;
  /// Anchors of rows that hosts are, or hang on, numbered; -1 for the others.
  std::vector<std::int32_t> root_number_;  ///< [rows]
  std::vector<std::uint16_t> distance_;    ///< hops, [root number * rows + row]
  Routing routing_;
  std::vector<FixedRoute> fixed_routes_;
  std::unordered_map<std::uint64_t, std::vector<ChannelId>> fixed_channels_;  ///< by pair_key()
  int workers_ = 0;
  int servers_ = 0;
  int represented_hosts_ = 0, represented_nodes_ = 0;  ///< 0: as many as there are
};

}  // namespace gradwire::sim
