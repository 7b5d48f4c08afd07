#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

/// Generators of clusters. Host w of each is worker w ("worker0", ...), and where there is a
/// parameter server it is the last host ("server"), its k shards the last k ("server0", ...). Each
/// throws SimError for a size that the network cannot have. Cluster::star stands in
/// sim/cluster/cluster.h.
///
/// W workers, H = W + k with k servers, else W:
///
/// | generator | switches | links | most hops | ways between far hosts |
/// |---|---|---|---|---|
/// | two_tier, R racks, S spines | R + S | H + R S | 4 | S |
/// | fat_tree, k ports | 5 k^2 / 4 | H + k^3 / 2 | 6 | (k / 2)^2 |
/// | host_ring | 0 | H (2 hosts: 1) | H / 2 | 1 |
/// | torus, C columns, R rows | 0 | 2 C R where C, R > 2 | C / 2 + R / 2 | 1 (dimension order) |
/// | dumb_bell | 2 | H + 1 | 3 | 1 |
/// | gpu_nodes, M nodes, I adapters each | M + 1 | H + M I | 4 | I |
/// | wan, T sites | T | H + those given | | 1 |
/// | radio_cell | 1 | H | 2 | 1 |
namespace gradwire::sim {

/// The parameter server, where one takes part; `count` hosts where it is cut into shards.
struct ServerPlan {
  bool present = false;
  int count = 1;
  std::optional<LinkSpec> link;  ///< default: the workers'; a ring's or torus' has none of its own

  int hosts() const { return present ? count : 0; }
};

/// Where switches add up what passes them (CollectiveKind::kInNetworkAllReduce): an aggregator is a
/// host beyond the workers ("aggregator0", ...) that hangs on its switch by a link as fast as all
/// of the switch's ports together, without delay or loss; adding costs it no time. `parent`: of
/// every rank, workers first, the aggregator above it; -1 for the root, the last.
struct Aggregation {
  std::vector<std::int32_t> parent;
  int aggregators(int workers) const { return static_cast<int>(parent.size()) - workers; }
};
/// A star whose switch adds.
Aggregation star_aggregation(int workers);
Cluster aggregating_star(int workers, const LinkSpec& link);

/// Racks of workers on a leaf switch each, every leaf joined to every spine. Worker w stands in
/// rack floor(w R / W); server s hangs on spine s mod S. Ways are chosen by flow hash.
struct TwoTierPlan {
  int workers = 1;
  int racks = 2;
  int spines = 1;
  LinkSpec link;    ///< worker to leaf
  LinkSpec uplink;  ///< leaf to spine
};
Cluster two_tier(const TwoTierPlan& plan, const ServerPlan& server = {});
/// Two tiers in which every leaf and, where there is more than one, the first spine adds.
Aggregation two_tier_aggregation(const TwoTierPlan& plan);
Cluster aggregating_two_tier(const TwoTierPlan& plan);

/// Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network architecture" (2008):
/// k pods of k / 2 edge and k / 2 aggregation switches, (k / 2)^2 cores, all with k ports; room for
/// k^3 / 4 hosts, filled in order (servers last). Aggregation switch j of each pod is joined to
/// cores j k / 2 to (j + 1) k / 2 - 1. Ways are chosen by flow hash (ECMP).
struct FatTreePlan {
  int workers = 1;
  int k = 4;        ///< ports of a switch, even
  LinkSpec link;    ///< host to edge switch
  LinkSpec uplink;  ///< switch to switch
};
std::int64_t fat_tree_room(int k);
Cluster fat_tree(const FatTreePlan& plan, const ServerPlan& server = {});

/// Hosts joined to the next by a cable each, and the last to the first; hosts forward. Packets go
/// the shorter way round. Servers are hosts more.
Cluster host_ring(int workers, const LinkSpec& link, const ServerPlan& server = {});

/// Hosts on a grid whose rows and columns wrap around: worker w in row floor(w / columns), column
/// w mod columns; hosts forward, along the row first. columns x rows hosts, servers included.
Cluster torus(int workers, int columns, int rows, const LinkSpec& link,
              const ServerPlan& server = {});

/// Two switches with one link between them. The first `left` workers are on the left one, the rest
/// and the server on the right.
struct DumbBellPlan {
  int workers = 2;
  int left = 1;
  LinkSpec link;        ///< host to switch
  LinkSpec bottleneck;  ///< switch to switch
};
Cluster dumb_bell(const DumbBellPlan& plan, const ServerPlan& server = {});

/// Machines with several workers (GPUs) each: workers of one machine are joined by its own switch
/// (NVLink, PCIe), which reaches the network's switch by `adapters` links. Machine m has workers
/// m G to (m + 1) G - 1, the last one perhaps fewer. The server hangs on the network's switch.
struct GpuNodesPlan {
  int workers = 1;
  int per_node = 8;     ///< G
  int adapters = 1;     ///< network links of a machine; ways are chosen by flow hash
  LinkSpec intra_link;  ///< worker to its machine's switch
  LinkSpec link;        ///< machine to network
};
Cluster gpu_nodes(const GpuNodesPlan& plan, const ServerPlan& server = {});

/// Sites with a router each, and links between them; fewest hops, ties to the site that stands
/// first. Workers are numbered site by site; the server stands at the first site.
struct WanPlan {
  struct Site {
    std::string name;
    int workers = 1;
  };
  struct SiteLink {
    int a = 0;  ///< index into sites
    int b = 0;
    LinkSpec spec;
  };
  std::vector<Site> sites;
  std::vector<SiteLink> site_links;
  LinkSpec link;  ///< worker to its site's router
};
Cluster wan(const WanPlan& plan, const ServerPlan& server = {});

/// Workers in one radio cell (sim/cluster/cell.h); the server hangs on its base by a wire, `wire`
/// where it has no link of its own.
struct RadioCellPlan {
  struct Place {
    double distance = 10;  ///< m
    double speed = 0;      ///< m/s away from the base
  };
  int workers = 1;
  Cell::Kind kind = Cell::Kind::kWifi;
  double width = 80e6;  ///< Hz
  double exponent = 3.0;
  std::vector<Place> places{{}};  ///< of worker w: number w mod size
  LinkSpec wire;
};
Cluster radio_cell(const RadioCellPlan& plan, const ServerPlan& server = {});

}  // namespace gradwire::sim
