#include <signal.h>

#include <catch2/catch.hpp>

#include "base/child_process.h"
#include "emulator_fixture.h"

/// Hosts that are processes of their own, as on machines of a cluster.
namespace gradwire::emulator {
namespace {

struct Machines {
  std::string rendezvous;
  std::vector<ChildProcess> ranks;
  std::unique_ptr<Emulator> emulator;
};

Machines start(int hosts, int number) {
  Machines machines;
  machines.rendezvous =
      "127.0.0.1:" + std::to_string(40'000 + (static_cast<int>(::getpid()) * 7 + number) % 10'000);
  EmulatorOptions options = quick_options();
  options.rendezvous = machines.rendezvous;
  for (int rank = 0; rank < hosts; ++rank)
    machines.ranks.emplace_back(std::vector<std::string>{options.program, "rank",
                                                         std::to_string(rank), machines.rendezvous},
                                ChildProcess::Options{});
  machines.emulator = make_emulator(sim::Cluster::star(hosts, link_of(1e9)), options);
  return machines;
}

sim::GraphPtr ring_of(int hosts) {
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  for (int host = 0; host < hosts; ++host) spec.members.push_back(host);
  spec.elements = 250'000;
  builder.add_collective(spec, "ring");
  return builder.finish();
}

TEST_CASE("machines: steps are measured among processes, clocks and all", "[net]") {
  Machines machines = start(3, 0);
  CHECK(machines.emulator->provenance() == "measured");
  const EmulatorReport& report = machines.emulator->report();
  CHECK(report.machines == std::vector<std::string>(3, "127.0.0.1"));
  REQUIRE(report.clocks.size() == 3);
  CHECK_FALSE(report.congestion_control.empty());
  for (const ClockOffset& clock : report.clocks) {
    // One machine has one clock.
    CHECK(std::abs(clock.ahead.value()) <= clock.uncertainty.value());
    CHECK(clock.uncertainty > Seconds(0));
  }
  const auto id = submit(*machines.emulator, ring_of(3), {});
  const sim::Timeline& timeline = sim::run_to_end(*machines.emulator, id);
  // 1 MB in thirds, 4 hops of each of 3 ranks.
  CHECK(timeline.ops[0].transfers == 12);
  CHECK(timeline.ops[0].payload.count() == 4'000'000);
  machines.emulator.reset();
  for (ChildProcess& rank : machines.ranks) CHECK(rank.wait() == 0);  // they end with the run
}

TEST_CASE("machines: a rank whose connection ends ends the run by its number", "[net]") {
  Machines machines = start(2, 1);
  sim::GraphBuilder builder;
  builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 0, "endless");
  const auto id = submit(*machines.emulator, builder.finish(), {}, {Seconds(1000)});
  machines.ranks[1].signal(SIGKILL);
  CHECK_THROWS_WITH(sim::run_to_end(*machines.emulator, id),
                    Catch::Contains("worker process 1") && Catch::Contains("connection has ended"));
  machines.emulator.reset();
  CHECK(machines.ranks[0].wait() == 0);
}

TEST_CASE("machines: a rank that nobody waits for says so", "[net][slow]") {
  const EmulatorOptions options = quick_options();
  ChildProcess rank({options.program, "rank", "3", "127.0.0.1:9"}, {.pipe_stderr = true});
  std::string said;
  std::byte block[512];
  while (const std::size_t got = rank.stderr_pipe().read_some(block, "the rank"))
    said.append(reinterpret_cast<const char*>(block), got);
  CHECK(rank.wait() == 1);
  CHECK_THAT(said, Catch::Contains("rank 3") && Catch::Contains("within 8.00 s"));
}

}  // namespace
}  // namespace gradwire::emulator
