#include "runner/cost/run_cost.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "runner/training/trainer_module.h"
#include "tests/runner/ring_scenario.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

constexpr double kWeek = 168;

struct Planned {
  explicit Planned(scenarios::Scenario described)
      : scenario(std::move(described)), trainer(make_trainer(scenario, {})) {
    trainer->next(plan);
  }
  scenarios::Scenario scenario;
  std::unique_ptr<scenarios::Trainer> trainer;
  scenarios::StepPlan plan;
};

Planned with(int workers, const char* collective, const char* executor, double loss = 0) {
  scenarios::Scenario ring = testing::ring_scenario("1MB", workers, "50us", loss, 2);
  auto json = ring.json;
  json["workload"]["collective"] = collective;
  json["executor"] = executor;
  return Planned(scenarios::read_scenario_text(json.dump(), ring.file).runs.at(0));
}

}  // namespace

TEST_CASE("A run that would take years is not begun, and says what it would cost") {
  const Planned huge = with(65536, "ring-all-reduce", "flow");
  // 2 x 65,535 x 65,536 = 8.59e9 transfers of .15 us: 1,288 s a step, 41 years for a million.
  CHECK(run_cost(huge.scenario, huge.plan, 1).wall_s == Approx(1288).epsilon(0.01));
  CHECK_THROWS_WITH(
      require_affordable(huge.scenario, huge.plan, 1000000, kWeek),
      Catch::Contains("would take about 41 years of one core, and 168 hours are allowed") &&
          Catch::Contains("--hours"));
  CHECK_NOTHROW(require_affordable(huge.scenario, huge.plan, 1000000, 1e6));
  CHECK_NOTHROW(require_affordable(huge.scenario, huge.plan, 10, kWeek));
}

TEST_CASE("A run whose messages need more memory than there is is not begun") {
  const Planned all = with(65536, "all-to-all", "flow");
  // 65,536 x 65,535 messages of 3,000 B on their way together.
  CHECK(run_cost(all.scenario, all.plan, 1).memory_bytes == Approx(1.288e13).epsilon(0.01));
  CHECK_THROWS_WITH(require_affordable(all.scenario, all.plan, 1, 1e9),
                    Catch::Contains("of memory, and") && Catch::Contains("are available"));
  const Planned few = with(64, "all-to-all", "flow");
  CHECK_NOTHROW(require_affordable(few.scenario, few.plan, 1, kWeek));
}

TEST_CASE("Packets are counted where they are followed, closed forms by rank") {
  const auto in_detail = [](const char* detail) {
    auto json = with(8, "ring-all-reduce", "flow").scenario.json;
    json["network"]["detail"] = detail;
    return Planned(scenarios::read_scenario_text(json.dump(), "").runs.at(0));
  };
  const Planned clean = in_detail("fluid"), packets = in_detail("per-packet");
  const Planned lossy = with(8, "ring-all-reduce", "flow", 0.01);
  CHECK(run_cost(lossy.scenario, lossy.plan, 1).wall_s >
        10 * run_cost(clean.scenario, clean.plan, 1).wall_s);
  // Packet by packet: 14 hops of 8 transfers of 125 kB, 86.3 packets each, at .8 us.
  CHECK(run_cost(packets.scenario, packets.plan, 1).wall_s -
            run_cost(clean.scenario, clean.plan, 1).wall_s ==
        Approx(14 * 8 * 125e3 / 1448 * 0.8e-6).epsilon(0.01));
  const Planned model = with(65536, "ring-all-reduce", "model");
  CHECK(run_cost(model.scenario, model.plan, 1).wall_s == Approx(0.131).epsilon(0.01));
}

TEST_CASE("Long durations are told in the unit that people use") {
  CHECK(long_duration(3 * 3600) == "3 hours");
  CHECK(long_duration(2.5 * 86400) == "2.5 days");
  CHECK(long_duration(41.0 * 365 * 86400) == "41 years");
}
