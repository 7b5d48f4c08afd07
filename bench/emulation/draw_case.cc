#include "bench/emulation/draw_case.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "bench/emulation/steps.h"
#include "bench/fidelity/statistics.h"
#include "sim/executors.h"
#include "sim/transport/calibration.h"

namespace gradwire::bench {
namespace {

using sim::CollectiveKind;
using sim::LinkSpec;
using sim::NodeId;

constexpr std::uint32_t kDraws = kFirstReservedTensor + 0x20000777u;
constexpr double kLeastRate = 10e6, kMostRate = 1e9, kMostTogether = 1e9;  // bits/s
constexpr double kLeastDelay = 1e-3, kMostDelay = 40e-3;                   // s
constexpr double kLeastLoss = 0.001, kMostLoss = 0.02;
constexpr double kLeastBytes = 20e3, kMostBytes = 4e6;
constexpr double kLongestStep = 1.5;  // s

enum class Shape { kStar, kTree, kChain, kRing };
enum class Work { kRing, kServer, kGather };

class Draws {
 public:
  Draws(std::uint64_t seed, int number)
      : stream_{seed, static_cast<std::uint32_t>(number), 0, kDraws} {}
  double unit() { return uniform(stream_, next_++); }
  int below(int count) { return std::min(count - 1, static_cast<int>(unit() * count)); }
  double log_between(double least, double most) { return least * std::pow(most / least, unit()); }

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

/// Hosts on two switches, and one link between those.
void join_tree(sim::Cluster& cluster, const std::vector<NodeId>& hosts, const LinkSpec& link) {
  const NodeId left = cluster.add_switch("left"), right = cluster.add_switch("right");
  cluster.add_link(left, right, link);
  for (std::size_t h = 0; h < hosts.size(); ++h)
    cluster.add_link(hosts[h], h % 2 == 0 ? left : right, link);
}

/// Each host on a switch of its own; switches in a row, whose ends are joined where `closed`.
void join_row(sim::Cluster& cluster, const std::vector<NodeId>& hosts, const LinkSpec& link,
              bool closed) {
  std::vector<NodeId> switches;
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    switches.push_back(cluster.add_switch("s" + std::to_string(h)));
    cluster.add_link(hosts[h], switches.back(), link);
    if (h > 0) cluster.add_link(switches[h - 1], switches[h], link);
  }
  if (closed && hosts.size() > 2) cluster.add_link(switches.back(), switches.front(), link);
}

sim::Cluster cluster_of(Shape shape, int workers, int servers, const LinkSpec& link) {
  if (shape == Shape::kStar) return sim::Cluster::star(workers, link, servers);
  sim::Cluster cluster;
  std::vector<NodeId> hosts;
  for (int w = 0; w < workers; ++w) hosts.push_back(cluster.add_host("w" + std::to_string(w)));
  if (servers > 0) hosts.push_back(cluster.add_host("server"));
  if (shape == Shape::kTree)
    join_tree(cluster, hosts, link);
  else
    join_row(cluster, hosts, link, shape == Shape::kRing);
  cluster.finish(servers);
  return cluster;
}

int links_of(Shape shape, int hosts) {
  if (shape == Shape::kStar) return hosts;
  return shape == Shape::kTree ? hosts + 1 : 2 * hosts;
}

void add_step(EmulationCase& c, Work work, int workers, std::int64_t bytes) {
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  spec.members.resize(static_cast<std::size_t>(workers));
  std::iota(spec.members.begin(), spec.members.end(), 0);
  spec.elements = bytes / 4;
  c.bytes.clear();
  if (work == Work::kServer) {
    spec.server = workers;
    spec.kind = CollectiveKind::kPush;
    const auto push = builder.add_collective(spec, "push");
    spec.kind = CollectiveKind::kPull;
    builder.add_collective(spec, "pull", std::vector{push});
    c.bytes.assign(2 * static_cast<std::size_t>(workers), Bytes(bytes));
  } else if (work == Work::kGather) {
    spec.kind = CollectiveKind::kRingAllGather;
    builder.add_collective(spec, "gather");
    c.bytes.assign(static_cast<std::size_t>(workers), Bytes(bytes));
  } else {
    builder.add_collective(spec, "ring");
  }
  c.graph = builder.finish();
}

std::string name_of(Shape shape, Work work, int workers, std::int64_t bytes, const LinkSpec& link) {
  constexpr const char* kShapes[] = {"star", "tree", "chain", "ring"};
  constexpr const char* kWorks[] = {"all-reduce", "server", "all-gather"};
  char text[160];
  std::snprintf(text, sizeof text, "%s of %d, %s of %.0f kB, %.0f Mbps, %.1f ms, loss %.2f %%",
                kShapes[static_cast<int>(shape)], workers, kWorks[static_cast<int>(work)],
                static_cast<double>(bytes) / 1e3, link.rate.value() / 1e6, 1e3 * link.delay.value(),
                100 * link.loss);
  return text;
}

}  // namespace

std::vector<double> flow_steps(const EmulationCase& c, const sim::Cluster& cluster, int steps,
                               std::uint64_t seed) {
  sim::ExecutorOptions options;
  options.seed = seed;
  options.transport = emulation_transport();
  const auto executor = sim::make_executor("flow", cluster, options);
  std::vector<double> times;
  for (int step = 0; step < steps; ++step) times.push_back(run_step(*executor, c));
  return times;
}

EmulationCase draw_emulation_case(std::uint64_t seed, int number) {
  Draws draws(seed, number);
  EmulationCase c;
  c.lossy = number % 2 == 1;
  const auto work = static_cast<Work>(draws.below(3));
  // Half of the cases are stars.
  const auto shape = draws.unit() < 0.5 ? Shape::kStar : static_cast<Shape>(1 + draws.below(3));
  const int workers = 2 + draws.below(7), servers = work == Work::kServer ? 1 : 0;
  LinkSpec link;
  const double most = kMostTogether / links_of(shape, workers + servers);
  link.rate = BitsPerSecond(draws.log_between(kLeastRate, std::min(kMostRate, most)));
  link.delay = Seconds(draws.log_between(kLeastDelay, kMostDelay));
  const double loss = draws.log_between(kLeastLoss, kMostLoss);
  if (c.lossy) link.loss = loss;
  c.cluster = cluster_of(shape, workers, servers, link);
  auto bytes = static_cast<std::int64_t>(draws.log_between(kLeastBytes, kMostBytes));
  for (;; bytes /= 2) {
    add_step(c, work, workers, bytes);
    if (bytes < kLeastBytes || mean_of(flow_steps(c, c.cluster, 5, seed)) <= kLongestStep) break;
  }
  c.name = name_of(shape, work, workers, bytes, link);
  return c;
}

}  // namespace gradwire::bench
