#include "results/reproductions/local_steps.h"

#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "scenarios/share.h"

namespace gradwire::results {
namespace {

std::string published(const char* name) {
  return scenarios::share_folder() + "/published/" + name;
}

TEST_CASE("utilisation is compute over compute and what is waited for", "[unit]") {
  // 1e9 parameters of 16 bits over 2 Gbit/s: 8 s, of which 0.2 s beside the backward pass of a step
  // of 0.3 s. 10 steps of 0.3 s: 3 / (3 + 7.8).
  const LocalStepsPlan plan{1e9, Seconds(0.3), 10, 1, 16, 0};
  CHECK(utilisation_of(plan, BitsPerSecond(2e9)) == Approx(3 / 10.8));
  CHECK(bandwidth_for(plan, 3 / 10.8).value() == Approx(2e9));
  // A quarter of the model each 2.5 steps, beside two more steps: 2 - 0.2 - 0.6 = 1.2 s.
  const LocalStepsPlan streamed{1e9, Seconds(0.3), 2.5, 4, 16, 2};
  CHECK(utilisation_of(streamed, BitsPerSecond(2e9)) == Approx(0.75 / (0.75 + 1.2)));
  CHECK(utilisation_of(streamed, BitsPerSecond(1e12)) == 1);  // all of it hidden
}

TEST_CASE("Streaming DiLoCo's table is redrawn, and broken variants do not", "[unit]") {
  const std::string file = published("streaming-diloco.csv");
  std::vector<std::string> explained;
  const auto rows = reproduce_streaming_diloco(read_file(file), file, explained);
  REQUIRE(rows.size() == 3);
  CHECK(explained.size() == 75);
  CHECK(rows[0].value == Approx(72 / 75.0));
  CHECK(rows[0].holds() == true);
  for (const auto& control : {rows[1], rows[2]}) {
    CHECK(control.negative_control);
    CHECK(control.holds() == true);  // by missing the mark
    CHECK(control.value < 0.9);
  }
}

TEST_CASE("INTELLECT-1's utilisation follows from its all-reduces", "[unit]") {
  const std::string file = published("intellect-1.csv");
  const auto rows = reproduce_intellect(read_file(file), file);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].value == Approx(2280 / 2383.0));
  CHECK(all_hold(rows));
  const std::string head = "region,local_steps_s,all_reduce_s,utilisation\n";
  CHECK_FALSE(all_hold(reproduce_intellect(head + "usa,2280,382,0.957\n", "t.csv")));
  CHECK_THROWS_WITH(reproduce_intellect("region\nusa\n", "t.csv"), Catch::Contains("t.csv"));
}

}  // namespace
}  // namespace gradwire::results
