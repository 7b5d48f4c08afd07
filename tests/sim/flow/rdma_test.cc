// RDMA: fair shares at once, with headers, no start-up and no windows; worked by hand.
#include <catch2/catch.hpp>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

ExecutorOptions with(TransportSettings::Protocol protocol) {
  ExecutorOptions options;
  options.transport.protocol = protocol;
  if (protocol == TransportSettings::Protocol::kRdma) {
    options.transport.segment = kRdmaSegment;
    options.transport.wire_segment = kRdmaWireSegment;
  }
  return options;
}

double seconds_of(const Cluster& cluster, TransportSettings::Protocol protocol, const Step& step,
                  const char* executor = "flow") {
  return run(*make(executor, cluster, with(protocol)), step).end.value();
}

}  // namespace

TEST_CASE("the first transfer over RDMA takes what any other does") {
  // 100 Gbps and 0.5 us a hop. 1,000,000 B are 245 packets of 82 B of headers: 1,020,090 B, 81.607
  // us; two hops of delay, 1 us; a packet of 4,178 B stored and forwarded once: 0.334 us.
  const Cluster cluster = Cluster::star(3, link(100e9, 0.5e-6));
  const double alone = 8 * 1'020'090 / 100e9 + 1e-6 + 8 * 4178 / 100e9;
  const auto rdma = TransportSettings::Protocol::kRdma;
  const auto executor = make("flow", cluster, with(rdma));
  for (int i = 0; i < 2; ++i) {
    const double start = executor->now().value();
    const double end = run(*executor, transfers({{0, 1, 1'000'000}})).end.value();
    CHECK(end - start == Approx(alone).epsilon(1e-6));
  }
  // Two into one host share its link; TCP's first windows, of 14 kB each 2 us, are slower.
  const auto two = transfers({{0, 2, 1'000'000}, {1, 2, 1'000'000}});
  CHECK(seconds_of(cluster, rdma, two) ==
        Approx(2 * 8 * 1'020'090 / 100e9 + 1e-6 + 8 * 4178 / 100e9).epsilon(0.005));
  // Over a wide network a window would decide; RDMA has none: 10 MB over 10 Gbps and 20 ms.
  const Cluster wide = Cluster::star(2, link(10e9, 10e-3));
  const auto large = transfers({{0, 1, 10'000'000}});
  const double bytes = 8 * (10e6 + 2442 * 82) / 10e9;
  CHECK(seconds_of(wide, rdma, large) == Approx(20e-3 + bytes).epsilon(1e-3));
  CHECK(seconds_of(wide, TransportSettings::Protocol::kTcp, large) > 3 * (20e-3 + bytes));
}

TEST_CASE("a ring over RDMA is the closed form's") {
  // 8 workers, 80 MB: 14 hops of 10 MB = 2,442 packets, 10,200,244 B: 0.816 ms at 100 Gbps; a hop
  // adds 1 us and 0.334 us. TCP's acknowledgements take 2.9 % of each direction, RDMA's nothing.
  const Cluster cluster = Cluster::star(8, link(100e9, 0.5e-6));
  const Step exchange = ring(8, 20'000'000);
  const double hop = 8 * 10'200'244 / 100e9 + 1e-6 + 8 * 4178 / 100e9;
  const auto rdma = TransportSettings::Protocol::kRdma;
  CHECK(seconds_of(cluster, rdma, exchange) == Approx(14 * hop).epsilon(1e-4));
  CHECK(seconds_of(cluster, rdma, exchange, "model") == Approx(14 * hop).epsilon(1e-3));
}
