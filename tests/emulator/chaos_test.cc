#include <catch2/catch.hpp>

#include "emulator_fixture.h"

namespace gradwire::emulator {
namespace {

std::unique_ptr<Emulator> emulator_with(const std::string& incident, double rate) {
  EmulatorOptions options = quick_options();
  options.incidents = {incident};
  sim::LinkSpec link = link_of(rate);
  link.delay = Seconds(1e-3);
  if (incident.starts_with("cut")) options.shaper = "link";
  return emulator_or_skip(sim::Cluster::star(2, link), options);
}

TEST_CASE("chaos: a host that is paused goes on where it was, later", "[net][needs-namespaces]") {
  const auto emulator = emulator_with("pause:1@100ms+500ms", 1e8);
  CHECK(emulator->report().incidents ==
        std::vector<std::string>{"host 1 is paused at 100 ms, for 500 ms"});
  sim::GraphBuilder builder;
  const auto computed =
      builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 1, "backward");
  builder.add_transfer(1, 0, "move", {}, std::vector{computed});
  // By itself it would be done after 0.2 s.
  const auto id = submit(*emulator, builder.finish(), {Bytes(1'000)}, {Seconds(0.2), Seconds(0)});
  const sim::Timeline& timeline = sim::run_to_end(*emulator, id);
  CHECK(timeline.ops[computed].end >= Seconds(0.6));
  CHECK(timeline.end < Seconds(5));
}

TEST_CASE("chaos: a host that is killed ends the run by its number", "[net][needs-namespaces]") {
  const auto emulator = emulator_with("kill:1@100ms", 1e6);
  sim::GraphBuilder builder;
  builder.add_transfer(0, 1, "long", {});
  const auto id = submit(*emulator, builder.finish(), {Bytes(10'000'000)});
  CHECK_THROWS_WITH(sim::run_to_end(*emulator, id),
                    Catch::Contains("worker process 1") && Catch::Contains("137"));
}

TEST_CASE("chaos: what a cut link holds up arrives after it", "[net][needs-namespaces]") {
  const auto emulator = emulator_with("cut:1@50ms+1s", 1e7);
  sim::GraphBuilder builder;
  builder.add_transfer(0, 1, "move", {});
  // 200 kB at 10 Mbps: 170 ms by itself.
  const auto id = submit(*emulator, builder.finish(), {Bytes(200'000)});
  const Seconds end = sim::run_to_end(*emulator, id).end;
  CHECK(end >= Seconds(1.05));
  CHECK(end < Seconds(10));
}

}  // namespace
}  // namespace gradwire::emulator
