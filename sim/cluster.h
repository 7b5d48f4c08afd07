#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/units.h"

/// Clusters: hosts and switches joined by duplex links, with shortest-path routes.
namespace gradwire::sim {

/// Something wrong with a cluster, a graph or a running simulation that its user can mend.
class SimError : public Error {
 public:
  SimError(std::string_view attempted, std::string_view subject, std::string_view reason,
           std::string_view remedy = {})
      : Error(ErrorKind::kFailure, attempted, subject, reason, remedy) {}
};

using NodeId = std::int32_t;
/// A link direction: duplex link l is channel 2l (from a to b) and 2l + 1 (from b to a).
using ChannelId = std::int32_t;

/// Properties of each direction of a duplex link.
struct LinkSpec {
  BitsPerSecond rate{1e9};
  Seconds delay{50e-6};  ///< one-way propagation delay
  double loss = 0.0;     ///< probability, per packet and direction, that the link drops it: [0, 1)
  Bytes queue{
      0};  ///< drop-tail buffer; 0 = automatic: max(2 bandwidth-delay products, 256 packets)
};

struct Link {
  NodeId a = 0;
  NodeId b = 0;
  LinkSpec spec;
};

/// Nodes, links and routes. Worker w of a training run is node worker_node(w); a parameter server,
/// where there is one, is worker `workers()` (one past the last), node server_node().
class Cluster {
 public:
  /// Workers 0..n-1 (and a server if asked) each joined to one switch by `link`.
  static Cluster star(int workers, const LinkSpec& link, bool with_server = false,
                      const std::optional<LinkSpec>& server_link = {});

  NodeId add_host(std::string name);
  NodeId add_switch(std::string name);
  void add_link(NodeId a, NodeId b, const LinkSpec& spec);
  /// Host nodes become workers in the order in which they were added, the last one the server if
  /// `with_server`. Computes routes (least hops, ties by smaller node id). Throws SimError naming
  /// any pair of hosts that no path joins, and any impossible link.
  void finish(bool with_server = false);

  int workers() const { return workers_; }
  bool has_server() const { return has_server_; }
  int host_count() const { return static_cast<int>(hosts_.size()); }
  NodeId host_node(int host) const { return hosts_[static_cast<std::size_t>(host)]; }
  std::span<const Link> links() const { return links_; }
  std::span<const std::string> node_names() const { return names_; }
  bool is_host(NodeId node) const { return is_host_[static_cast<std::size_t>(node)]; }
  int channel_count() const { return 2 * static_cast<int>(links_.size()); }
  const LinkSpec& channel(ChannelId id) const {
    return links_[static_cast<std::size_t>(id / 2)].spec;
  }

  /// Channels crossed from host to host, in order. Appends to `route`.
  void route(int source_host, int destination_host, std::vector<ChannelId>& route) const;

 private:
  void check_connected() const;
  void number_inner_nodes();
  void find_routes();
  NodeId far_end(ChannelId channel) const;

  std::vector<std::string> names_;
  std::vector<bool> is_host_;
  std::vector<NodeId> hosts_;
  std::vector<Link> links_;
  /// Only nodes with two links or more have to choose (10,000 hosts on a star cost one row).
  /// row_[node] = its row, or -1: it takes only_channel_[node].
  std::vector<std::int32_t> row_;
  std::vector<ChannelId> only_channel_;
  std::int32_t inner_count_ = 0;
  /// next_channel_[row * hosts + host]: channel to take towards host; -1 = none.
  std::vector<ChannelId> next_channel_;
  int workers_ = 0;
  bool has_server_ = false;
};

/// TCP as the machines of today speak it; one place for every constant (documented in
/// docs/network.md). All executors read these.
struct TransportSettings {
  enum class CongestionControl { kCubic, kReno, kBbr };
  CongestionControl congestion_control = CongestionControl::kCubic;
  Bytes segment{1448};       ///< TCP payload of a full segment (MSS 1460 less timestamps)
  Bytes wire_segment{1538};  ///< what a full segment occupies on Ethernet: + TCP/IP 52, MAC 18
                             ///< (header, FCS), preamble and gap 20
  int initial_window = 10;   ///< segments (RFC 6928)
  Seconds delayed_ack{0.040};
  Seconds min_rto{0.200};
  Seconds initial_rto{1.0};
  Bytes buffer{8 * 1024 * 1024};  ///< send and receive buffers
};

/// Wire bytes of a payload: whole segments plus a last short one, each with its headers.
Bytes wire_bytes(Bytes payload, const TransportSettings& transport);

}  // namespace gradwire::sim
