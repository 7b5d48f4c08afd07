#include "runner/emulated_twin.h"

#include <catch2/catch.hpp>

#include "tests/quantities.h"
#include "tests/runner/ring_scenario.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

scenarios::Scenario served_scenario() {
  return scenarios::read_scenario_text(
             R"({"schema_version": 1, "name": "s", "workload": {"collective": "parameter-server",
                 "bytes": "1MB"}, "cluster": {"workers": 2}, "network": {
                 "link": {"bandwidth": "1Gbps", "delay": "3ms"},
                 "server_link": {"bandwidth": "2Gbps", "delay": "5ms"}},
                 "executor": "emulator", "sweep": {"/network/link/delay": ["3ms"]}, "seeds": [4]})",
             "s.json")
      .runs.at(0);
}

}  // namespace

TEST_CASE("the twin of an emulation without delays has none but a quarter of the wake-ups") {
  const auto twin =
      simulated_twin(served_scenario(), "flow", {.delays = false, .overhead = Seconds(80e-6)});
  CHECK(twin.executor == "flow");
  CHECK(twin.seed == 4);
  CHECK(twin.network.link.delay.value() == Approx(20e-6));
  REQUIRE(twin.network.server_link);
  CHECK(twin.network.server_link->delay.value() == Approx(20e-6));
  CHECK(twin.network.server_link->rate == BitsPerSecond(2e9));
}

TEST_CASE("where delays are emulated, each link keeps its own") {
  const auto twin =
      simulated_twin(served_scenario(), "flow", {.delays = true, .overhead = Seconds(80e-6)});
  CHECK(twin.network.link.delay.value() == Approx(3020e-6));
  CHECK(twin.network.server_link->delay.value() == Approx(5020e-6));
}

TEST_CASE("equal links give the twin an equal hash, so that it can be found again") {
  const EmulatedLinks links{.delays = false, .overhead = Seconds(80.123456789e-6)};
  CHECK(simulated_twin(served_scenario(), "flow", links).hash ==
        simulated_twin(served_scenario(), "flow", links).hash);
  CHECK(simulated_twin(served_scenario(), "flow", links).hash !=
        simulated_twin(served_scenario(), "flow", {.delays = false, .overhead = Seconds(81e-6)})
            .hash);
}
