#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/folding/support.h"

/// Clusters and steps to fold, of drawn sizes.
namespace gradwire::sim::testing {

class Draws {
 public:
  explicit Draws(std::uint32_t instance) : stream_{33, instance, 0, kFirstReservedTensor} {}
  double unit() { return static_cast<double>(uniform(stream_, next_++)); }
  int below(int n) { return static_cast<int>(n * unit()); }
  LinkSpec link() { return testing::link(1e8 * (1 + below(100)), 1e-6 * (1 + below(200))); }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

struct DrawnCluster {
  std::string name;
  Cluster cluster;
  int group = 1;  ///< workers that stand together
};

/// One of each topology, of about `columns` groups; `server`: with a parameter server.
inline std::vector<DrawnCluster> draw_clusters(Draws& draws, int columns, bool server) {
  const LinkSpec link = draws.link(), uplink = draws.link();
  const ServerPlan one{server, 1, link};
  const int group = 1 + draws.below(4), workers = group * columns;
  std::vector<DrawnCluster> drawn;
  drawn.push_back({"star", Cluster::star(workers, link, server ? 1 : 0), group});
  drawn.push_back({"host ring", host_ring(workers, link, one), group});
  drawn.push_back({"gpu nodes", gpu_nodes({workers, group, 1, link, uplink}, one), group});
  drawn.push_back(
      {"gpu nodes, two adapters", gpu_nodes({workers, group, 2, link, uplink}, one), group});
  drawn.push_back({"two tiers", two_tier({workers, columns, 1, link, uplink}, one), group});
  drawn.push_back(
      {"two tiers, three spines", two_tier({workers, columns, 3, link, uplink}, one), group});
  drawn.push_back({"fat tree", fat_tree({15, 4, link, uplink}, one), 2});
  drawn.push_back({"dumb-bell", dumb_bell({workers, workers / 2, link, uplink}, one), group});
  const int rest = server ? 1 : 0;
  drawn.push_back({"torus", torus(columns * 3 - rest, columns, 3, link, one), 1});
  WanPlan plan;
  for (int site = 0; site < columns; ++site)
    plan.sites.push_back({"site" + std::to_string(site), group});
  for (int site = 0; site < columns; ++site)
    plan.site_links.push_back({site, (site + 1) % columns, uplink});
  plan.link = link;
  drawn.push_back({"wan", wan(plan, one), group});
  return drawn;
}

/// One collective of all workers, twice. `sizes`: of messages, one a rank or one for all.
inline Step two_of(CollectiveSpec spec, std::int64_t size) {
  GraphBuilder builder;
  const std::uint32_t slots = spec.byte_slots();
  const std::vector<OpIndex> first = {builder.add_collective(spec, "first")};
  builder.add_collective(std::move(spec), "second", first);
  return Step(builder.finish(), std::vector<std::int64_t>(2 * slots, size));
}

/// A collective of the kind, as it is on the cluster.
inline CollectiveSpec drawn_spec(CollectiveKind kind, const DrawnCluster& drawn, Draws& draws) {
  const int workers = drawn.cluster.workers();
  CollectiveSpec spec =
      ring_spec(kind, workers,
                static_cast<std::int64_t>(workers) * (1 + draws.below(kind->repeats ? 3000 : 30)));
  spec.group = drawn.group;
  if (kind->has_server()) spec.server = workers;
  if (kind == CollectiveKind::kGossip) {
    for (int r = 0; r < workers; ++r) {
      spec.neighbour_begin.push_back(r);
      spec.neighbour.push_back((r + 1) % workers);
    }
    spec.neighbour_begin.push_back(workers);
  }
  if (kind == CollectiveKind::kInNetworkAllReduce) {
    spec.members.pop_back();  // the last worker adds for the others
    spec.members.push_back(workers - 1);
    spec.parent.assign(static_cast<std::size_t>(workers), workers - 1);
    spec.parent.back() = -1;
  }
  return spec;
}

/// A step of data-parallel training: forward, two halves of backward, the gradients of both summed
/// up at once or (`overlap`) each as soon as it is there, and the update. `slower`: a worker that
/// takes longer, or -1.
inline Step training_step(const Cluster& cluster, CollectiveKind kind, int group,
                          std::int64_t elements, bool overlap = false, int slower = -1) {
  const int workers = cluster.workers();
  GraphBuilder builder;
  std::vector<double> seconds;
  std::vector<OpIndex> halves[2], forward;
  const auto add = [&](OpKind op, Lane lane, int w, const char* label, double time,
                       const std::vector<OpIndex>& after) {
    seconds.push_back(w == slower ? 1.7 * time : time);
    return builder.add_operation(op, lane, w, label, after);
  };
  for (int w = 0; w < workers; ++w)
    forward.push_back(add(OpKind::kCompute, Lane::kCompute, w, "forward", 1e-3, {}));
  for (const int half : {0, 1})
    for (int w = 0; w < workers; ++w)
      halves[half].push_back(add(OpKind::kCompute, Lane::kCompute, w,
                                 half == 0 ? "backward 0" : "backward 1", 4e-4,
                                 {half == 0 ? forward[static_cast<std::size_t>(w)]
                                            : halves[0][static_cast<std::size_t>(w)]}));
  std::vector<OpIndex> sums;
  for (int half = overlap ? 0 : 1; half < 2; ++half) {
    CollectiveSpec spec = ring_spec(kind, workers, elements);
    spec.group = group;
    spec.hop_fixed = Seconds(3e-6);
    spec.hop_per_element = Seconds(1e-10);
    sums.push_back(builder.add_collective(std::move(spec), "sum", halves[half]));
    seconds.push_back(0);
  }
  for (int w = 0; w < workers; ++w) add(OpKind::kAggregate, Lane::kHost, w, "update", 2e-4, sums);
  return Step(builder.finish(), {}, seconds);
}

}  // namespace gradwire::sim::testing
