#include "results/reproductions/link_speeds.h"

#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "scenarios/share.h"

namespace gradwire::results {
namespace {

TEST_CASE("two bandwidths give a step's compute and bits", "[unit]") {
  // 0.2 s of compute and 10^9 bits: 0.3 s at 10 Gbit/s, 1.2 s at 1 Gbit/s.
  const LinkStep step =
      link_step_of(BitsPerSecond(10e9), Seconds(0.3), BitsPerSecond(1e9), Seconds(1.2));
  CHECK(step.compute.value() == Approx(0.2));
  CHECK(step.bits == Approx(1e9));
  CHECK(step.time(BitsPerSecond(5e8), 0.5).value() == Approx(1.2));
}

TEST_CASE("DGC beside dense messages: 1 Gbit/s follows from 100 and 10", "[unit]") {
  const std::string file = scenarios::share_folder() + "/published/paddle-dgc.csv";
  const auto rows = reproduce_paddle_dgc(read_file(file), file);
  REQUIRE(rows.size() == 5);
  // (0.55 - 0.3725) / (1/10 - 1/100) = 1.972 Gbit; 0.3725 - 0.0197 + 1.972 = 2.325 s for 2.45.
  CHECK(rows[0].value == Approx(1 - 2.325 / 2.45).margin(0.001));
  CHECK(all_hold(rows));
  CHECK(rows[4].negative_control);
  CHECK(rows[4].value > 5);
}

TEST_CASE("a table that does not give both is refused", "[unit]") {
  const std::string head = "method,gbps,share,step_s\n";
  CHECK_THROWS_WITH(reproduce_paddle_dgc(head + "dense,10,1,1\ndense,1,1,2\n", "t.csv"),
                    Catch::Contains("three bandwidths"));
  CHECK_THROWS_WITH(reproduce_paddle_dgc(head + "dense,ten,1,1\n", "t.csv"),
                    Catch::Contains("t.csv:2"));
}

}  // namespace
}  // namespace gradwire::results
