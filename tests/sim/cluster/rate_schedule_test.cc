#include "sim/cluster/rate_schedule.h"

#include <catch2/catch.hpp>

#include "sim/sim_error.h"
#include "tests/quantities.h"

using namespace gradwire;
using sim::RateSchedule;
using sim::SimError;

TEST_CASE("A Mahimahi trace lets 1,500 bytes pass at each line and repeats after the last") {
  const auto trace = RateSchedule::from_mahimahi("t", "0\n0\n19\n20\n50\n");
  CHECK(trace->period() == Seconds(0.05));
  CHECK(trace->opportunities() == std::vector<std::uint32_t>{0, 0, 19, 20, 50});
  // Bins [0, 20), [20, 40), [40, 50] ms hold 3, 1 and 1 opportunities of 12,000 bits.
  REQUIRE(trace->pieces().size() == 3);
  CHECK(trace->pieces()[0].rate.value() == Approx(3 * 12000 / 0.020));
  CHECK(trace->pieces()[1].rate.value() == Approx(12000 / 0.020));
  CHECK(trace->pieces()[2].begin == Seconds(0.04));
  CHECK(trace->pieces()[2].rate.value() == Approx(12000 / 0.010));
  CHECK(trace->mean_rate().value() == Approx(5 * 12000 / 0.05));
}

TEST_CASE("A schedule in CSV holds each rate until the next") {
  const auto csv =
      RateSchedule::from_csv("c", "seconds,bits_per_second\n# a note\n0, 1e6\r\n2.5,3e6\n");
  CHECK(csv->period() == Seconds(0));
  CHECK(csv->opportunities().empty());
  REQUIRE(csv->pieces().size() == 2);
  CHECK(csv->pieces()[1].begin == Seconds(2.5));
  CHECK(csv->mean_rate() == BitsPerSecond(3e6));
}

TEST_CASE("Schedules that cannot be are refused, with the line") {
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", ""), Catch::Contains("empty"));
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", "3\n1\n"),
                    Catch::Contains("line 2") && Catch::Contains("back"));
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", "1\nx\n"), Catch::Contains("line 2"));
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", "-1\n"), Catch::Contains("line 1"));
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", "0\n0\n"), Catch::Contains("0 ms"));
  CHECK_NOTHROW(RateSchedule::from_mahimahi("t", "86400000\n"));
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", "86400001\n"), Catch::Contains("a day"));
  // Its bins' begins would wrap around.
  CHECK_THROWS_WITH(RateSchedule::from_mahimahi("t", "4294967295\n"), Catch::Contains("a day"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "0,1e6\n1;2\n"), Catch::Contains("line 2"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "1,1e6\n"), Catch::Contains("at 0 s"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "0,1e6\n2,1\n1,5\n"), Catch::Contains("back"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "0,1e6\n2,0\n"), Catch::Contains("nothing ever"));
  CHECK_THROWS_AS(RateSchedule::from_csv("c", "0,-1\n"), SimError);
  CHECK_THROWS_AS(RateSchedule::from_pieces("p", {{Seconds(0), BitsPerSecond(0)}}, Seconds(1)),
                  SimError);
}
