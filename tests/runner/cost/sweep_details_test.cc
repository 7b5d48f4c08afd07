// In which detail the runs of a sweep are simulated.
#include "runner/cost/sweep_details.h"

#include <catch2/catch.hpp>

#include "scenarios/scenario.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::runner;
using sim::Detail;

namespace {

/// A ring of 1 MB on a star, of so many workers by turns.
std::vector<scenarios::Scenario> ring_of(const std::string& workers, const std::string& more = "") {
  const std::string text =
      R"({"schema_version": 1, "name": "c",
          "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 2},
          "cluster": {"workers": 2}, "executor": "flow", "seeds": [1],
          "network": {"topology": "star", "link": {"bandwidth": "1Gbps", "delay": "50us"}},
          "sweep": {"/cluster/workers": [)" +
      workers + "]" + more + "}}";
  return scenarios::read_scenario_text(text, scenarios::share_folder() + "/c.json").runs;
}

std::vector<std::optional<Detail>> details_of(std::vector<scenarios::Scenario> runs) {
  ProfileCache profiles;
  return sweep_details(runs, profiles);
}

}  // namespace

TEST_CASE("A sweep from 2 to 4,096 workers is simulated by one engine") {
  // 1.5 x 1 MB / 1,448 B x 2 links x 2 (N - 1): 4,144 events of 2 workers, 29,008 of 8, 62,160 of
  // 16 (30,000 go packet by packet).
  for (const auto& detail : details_of(ring_of("2, 16, 256, 4096")))
    CHECK(detail == Detail::kFluid);
  for (const auto& detail : details_of(ring_of("2, 4"))) CHECK(detail == Detail::kPerPacket);
  CHECK(details_of(ring_of("2")).at(0) == Detail::kPerPacket);  // negative control: 2 alone
}

TEST_CASE("Of a sweep only runs that choose by their first exchange are made alike") {
  // A jitter of the link leaves rates no say; a detail that is asked for stays.
  const auto details =
      details_of(ring_of("2, 4096", R"(, "/network/link/jitter": ["0us", "10us"])"));
  REQUIRE(details.size() == 4);
  CHECK(std::ranges::count(details, std::optional(Detail::kFluid)) == 2);
  CHECK(std::ranges::count(details, std::optional(Detail::kPerPacket)) == 2);
  const auto asked = details_of(ring_of("2, 64", R"(, "/network/detail": ["per-packet", "auto"])"));
  CHECK(std::ranges::count(asked, std::optional(Detail::kPerPacket)) == 2);
  std::vector<scenarios::Scenario> other = ring_of("2, 4096");
  for (scenarios::Scenario& run : other) run.executor = "model";
  for (const auto& detail : details_of(other)) CHECK_FALSE(detail);
}
