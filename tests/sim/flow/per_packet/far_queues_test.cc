// Messages that come to one queue over ways of different lengths, held against ns-3 3.44 (the
// executor `packet` with the same transfers).
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

struct Upload {
  int host = 0;
  double start = 0;  ///< s
};

/// When uploads of so many bytes to the last host arrive, s.
std::vector<double> arrivals(const Cluster& cluster, const std::vector<Upload>& uploads,
                             std::int64_t bytes) {
  ExecutorOptions options;
  options.detail = Detail::kPerPacket;
  const auto executor = make("flow", cluster, options);
  std::vector<GraphId> graphs;
  for (const Upload& each : uploads)
    graphs.push_back(submit(*executor, transfers({{each.host, cluster.host_count() - 1, bytes}}),
                            Seconds(each.start)));
  drain(*executor);
  std::vector<double> ends;
  for (const GraphId graph : graphs)
    ends.push_back(executor->timeline(graph).ops.front().end.value());
  return ends;
}

/// Hosts at so many seconds from a switch, and a server behind 10 Mbps.
Cluster star(const std::vector<double>& delays) {
  Cluster cluster;
  std::vector<NodeId> hosts;
  for (std::size_t h = 0; h <= delays.size(); ++h)
    hosts.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId middle = cluster.add_switch("s");
  for (std::size_t h = 0; h < delays.size(); ++h)
    cluster.add_link(hosts[h], middle, link(100e6, delays[h]));
  cluster.add_link(hosts.back(), middle, link(10e6, 1e-3));
  cluster.finish(1);
  return cluster;
}

}  // namespace

TEST_CASE("what is sent first from afar meets what is sent last nearby") {
  // 7.6 kB are five segments and one of 360 B: 8,140 B on the wire, 6.51 ms at 10 Mbps. The first
  // host's come to the switch from 30.12 ms on, the third one's from 25.12 to 31.64 ms though they
  // are sent 20 ms later; the second one's meet nobody.
  const std::vector<Upload> uploads = {{0, 0}, {1, 8e-3}, {2, 20e-3}};
  const auto flow = arrivals(star({30e-3, 1e-3, 5e-3}), uploads, 7600);
  const double ns3[] = {39.115e-3, 16.603e-3, 32.603e-3};
  for (std::size_t i = 0; i < uploads.size(); ++i) CHECK(flow[i] == Approx(ns3[i]).epsilon(0.002));
  // Alone the first one would take 30.12 ms, 6.51 and 1: what is left of the third one is before
  // it.
  CHECK(flow[0] > 37.64e-3 + 1e-3);
  // From hosts that are all as far away none that is sent 8 ms earlier is met: 5 + 1 ms, 0.123 ms
  // of a segment at 100 Mbps, 6.512 ms, less the gaps of 36 B behind the last one, 2.9 and 28.8 us.
  const auto even = arrivals(star({5e-3, 5e-3, 5e-3}), uploads, 7600);
  for (std::size_t i = 0; i < uploads.size(); ++i)
    CHECK(even[i] - uploads[i].start == Approx(12.6034e-3).epsilon(1e-5));
}

TEST_CASE("two segments over one link more come behind those of the nearer hosts") {
  // Three hosts send 2,750 B each at once, the first of them over one link more: the others' first
  // segments are through when its first one comes.
  Cluster cluster;
  std::vector<NodeId> hosts;
  for (int h = 0; h < 4; ++h) hosts.push_back(cluster.add_host("h" + std::to_string(h)));
  const NodeId first = cluster.add_switch("a"), second = cluster.add_switch("b");
  const LinkSpec each = link(24e6, 60e-6);
  cluster.add_link(hosts[0], first, each);
  cluster.add_link(first, second, each);
  for (int h = 1; h < 4; ++h) cluster.add_link(hosts[static_cast<std::size_t>(h)], second, each);
  cluster.finish(1);
  const auto flow = arrivals(cluster, {{0, 0}, {1, 0}, {2, 0}}, 2750);
  const double ns3[] = {3.5387e-3, 2.0980e-3, 3.0747e-3};  // by shares 3.21, 3.10, 3.56
  for (std::size_t i = 0; i < flow.size(); ++i) CHECK(flow[i] == Approx(ns3[i]).margin(1e-7));
  // By hand: a segment's time to the switch, both first segments, the last one of 1,302 + 90 B. It
  // has arrived before the gap of 36 B behind it, on both links; sent a nanosecond after the call.
  const double segment = 8 * 1538 / 24e6, last = 8 * 1392 / 24e6, way = 2 * 60e-6;
  const double gaps = 2 * 8 * 36 / 24e6;
  CHECK(flow[1] == Approx(way + segment + 2 * segment + last - gaps + 1e-9).margin(1e-9));
}

TEST_CASE("a short message is followed to its end though its window is open") {
  // 18.1 kB, 13 segments: ten fill the pipe of 10 Mbps and some 4 ms twice. (A stream that became a
  // fluid then, and a stream again, sent the message without end.)
  const auto flow = arrivals(star({600e-6, 66.7e-6}), {{0, 0}, {1, 0}}, 18'100);
  const double ns3[] = {31.990e-3, 30.108e-3};
  for (std::size_t i = 0; i < flow.size(); ++i) CHECK(flow[i] == Approx(ns3[i]).epsilon(0.005));
}
