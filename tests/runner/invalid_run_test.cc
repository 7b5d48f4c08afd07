#include <catch2/catch.hpp>

#include "base/temporary_file.h"
#include "runner/run_loop.h"
#include "sim/executors.h"
#include "tests/runner/ring_scenario.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

/// Runs two steps by an executor from outside that says `invalid` at the end.
results::RunSummary run_that_says(const std::string& invalid, results::Store& store) {
  const scenarios::Scenario scenario = testing::ring_scenario("1kB", 2, "1us", 0, 2);
  RunOptions options;
  options.executor_factory = [](const scenarios::Scenario& resolved) {
    return sim::make_executor("flow", scenarios::build_cluster(resolved), {});
  };
  options.executor_facts = [&] {
    RunFacts facts;
    facts.invalid = invalid;
    return facts;
  };
  RunObserver silent;
  results::RunId run = 0;
  CHECK(run_scenario(scenario, options, store, silent, {}, run) == RunOutcome::kFinished);
  return *store.run(run);
}

TEST_CASE("A run over what was not the scenario's network is stored as invalid, with the reason",
          "[unit]") {
  const TemporaryFolder folder;
  const auto store = results::Store::open(folder.file("a.db"), results::Store::Mode::kReadWrite);
  const results::RunSummary invalid = run_that_says("links were late", *store);
  CHECK(invalid.status == results::RunStatus::kInvalid);
  CHECK(invalid.error == "links were late");
  CHECK(invalid.steps_done == 2);
  // It counts nowhere: --resume would make it again.
  CHECK_FALSE(store->find_ended(invalid.header.scenario_hash, invalid.header.seed));
  CHECK(run_that_says("", *store).status == results::RunStatus::kFinished);
  CHECK(store->find_ended(invalid.header.scenario_hash, invalid.header.seed));
}

}  // namespace
