#include <catch2/catch.hpp>

#include "emulator_fixture.h"
#include "tests/quantities.h"

/// The link process in the emulator. A machine under test is busy: what is checked is that links
/// shape, not how exactly (`gradwire bench emulation` does that).
namespace gradwire::emulator {
namespace {

sim::LinkSpec delayed_link(double bits_per_second, double delay) {
  sim::LinkSpec link = link_of(bits_per_second);
  link.delay = Seconds(delay);
  return link;
}

EmulatorOptions link_options() {
  EmulatorOptions options = quick_options();
  options.shaper = "link";
  return options;
}

/// s that one transfer takes.
double transfer(Emulator& emulator, int from, int to, Bytes bytes) {
  sim::GraphBuilder builder;
  const auto move = builder.add_transfer(from, to, "move", {});
  const auto graph = submit(emulator, builder.finish(), {bytes});
  const sim::OpRecord record = sim::run_to_end(emulator, graph).ops[move];
  return (record.end - record.start).value();
}

TEST_CASE("The link process delays, and lets no more through than its rate",
          "[net][needs-namespaces]") {
  const auto emulator =
      emulator_or_skip(sim::Cluster::star(2, delayed_link(50e6, 5e-3)), link_options());
  CHECK(emulator->report().shaper == "link");
  CHECK(emulator->report().delay_by == "the link process");
  CHECK(emulator->report().missing.empty());
  CHECK(emulator->provenance() == "emulated");
  CHECK(emulator->report().median_base_rtt >= Seconds(20e-3));  // four links of 5 ms
  CHECK(emulator->report().median_overhead < Seconds(10e-3));
  // 500 kB are 346 segments, 531 kB on the wire: 85 ms at 50 Mbps, and 10 ms on the way.
  for (int i = 0; i < 3; ++i) CHECK(transfer(*emulator, 0, 1, Bytes(500'000)) >= 0.095);
  const LinkReport seen = emulator->links();
  CHECK(seen.by_process);
  CHECK(seen.counts.entered >= 3 * 346);
  CHECK(seen.missed == 0);
  CHECK_FALSE(seen.late.empty());
  // Both links of the way carried it: channel 0 is up from host 0, channel 3 down to host 1.
  const auto channels = emulator->channels();
  REQUIRE(channels.size() == 4);
  CHECK(channels[0].wire >= Bytes(3 * 531'000));
  CHECK(channels[3].wire == channels[0].wire);
  CHECK(channels[0].busy.value() >= 3 * 0.084);
}

TEST_CASE("Any topology is emulated: a tree of switches, and hosts in a ring without any",
          "[net][needs-namespaces]") {
  const sim::LinkSpec link = delayed_link(100e6, 2e-3);
  sim::Cluster tree;
  const auto a = tree.add_host("a"), b = tree.add_host("b"), c = tree.add_host("c");
  const auto s = tree.add_switch("s"), t = tree.add_switch("t");
  tree.add_link(a, s, link);
  tree.add_link(b, s, link);
  tree.add_link(s, t, link);
  tree.add_link(c, t, link);
  tree.finish();
  const auto emulator = emulator_or_skip(tree, quick_options());  // auto: the kernel cannot
  CHECK(emulator->report().shaper == "link");
  CHECK(emulator->measure_base_rtt(0, 1, 3) >= Seconds(8e-3));   // 2 links there, 2 back
  CHECK(emulator->measure_base_rtt(0, 2, 3) >= Seconds(12e-3));  // 3 and 3
  CHECK(transfer(*emulator, 1, 2, Bytes(100'000)) >= 0.008);

  sim::Cluster ring;
  std::vector<sim::NodeId> hosts;
  for (int h = 0; h < 4; ++h) hosts.push_back(ring.add_host("h" + std::to_string(h)));
  for (std::size_t h = 0; h < 4; ++h) ring.add_link(hosts[h], hosts[(h + 1) % 4], link);
  ring.finish();
  const auto round = emulator_or_skip(ring, quick_options());
  CHECK(round->measure_base_rtt(0, 1, 3) >= Seconds(4e-3));
  CHECK(round->measure_base_rtt(0, 2, 3) >= Seconds(8e-3));
  CHECK(transfer(*round, 0, 2, Bytes(100'000)) >= 0.008);
}

TEST_CASE("Links of the process lose packets, and TCP sends them again",
          "[net][needs-namespaces]") {
  sim::LinkSpec link = delayed_link(100e6, 1e-3);
  link.loss = 0.02;
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link), link_options());
  CHECK(emulator->report().loss_by == "the link process");
  for (int i = 0; i < 3; ++i) transfer(*emulator, 0, 1, Bytes(500'000));
  // 1,040 segments over two links, and acknowledgements: none lost has probability 1e-18.
  CHECK(emulator->links().counts.lost > 0);
}

TEST_CASE("Time 0 of outages is when the first graph is submitted", "[net][needs-namespaces]") {
  sim::LinkSpec link = delayed_link(50e6, 1e-3);
  link.outages = {{Seconds(0), Seconds(0.4)}};
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link), link_options());
  sim::GraphBuilder builder;
  const auto move = builder.add_transfer(0, 1, "move", {});
  const auto graph = submit(*emulator, builder.finish(), {Bytes(10'000)});
  CHECK(sim::run_to_end(*emulator, graph).ops[move].end >= Seconds(0.4));
  const double after = transfer(*emulator, 0, 1, Bytes(10'000));
  CHECK(after < 0.3);
}

TEST_CASE("A trace is replayed: bytes pass when it says so", "[net][needs-namespaces]") {
  // 1,500 bytes each 10 ms: 20 segments take 200 ms.
  sim::LinkSpec link = delayed_link(50e6, 1e-3);
  link.schedule = link.schedule_back = sim::RateSchedule::from_opportunities("slow", {10});
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link), link_options());
  const double time = transfer(*emulator, 0, 1, Bytes(20 * 1448 - 56));
  CHECK(time >= 0.19);
  CHECK(time < 1);
  CHECK(emulator->links().missed_opportunities <= 20);
}

TEST_CASE("What no shaper can make is refused", "[net][needs-namespaces]") {
  sim::LinkSpec link = delayed_link(100e9, 1e-3);
  CHECK_THROWS_AS(make_emulator(sim::Cluster::star(2, link), link_options()), Error);
  EmulatorOptions options = quick_options();
  options.shaper = "tbf";
  link.jitter = Seconds(1e-3);
  CHECK_THROWS_AS(make_emulator(sim::Cluster::star(2, link), options), Error);
}

}  // namespace
}  // namespace gradwire::emulator
