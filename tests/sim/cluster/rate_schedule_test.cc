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

namespace {

/// Begins in seconds and rates in bits per second.
std::vector<std::pair<double, double>> pieces_of(const std::string& csv) {
  std::vector<std::pair<double, double>> pieces;
  const auto schedule = RateSchedule::from_csv("c", csv);
  for (const auto& piece : schedule->pieces())
    pieces.emplace_back(piece.begin.value(), piece.rate.value());
  return pieces;
}

std::string refusal(const std::string& csv) {
  try {
    RateSchedule::from_csv("c", csv);
  } catch (const SimError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("A schedule's head names the unit of its rates") {
  const std::pair<const char*, double> units[] = {{"throughput_mbps", 1e6},
                                                  {"rate (Mbit/s)", 1e6},
                                                  {"Mbps", 1e6},
                                                  {"bandwidth_kbps", 1e3},
                                                  {"dl kbit/s", 1e3},
                                                  {"bit/s", 1},
                                                  {"bits_per_second", 1},
                                                  {"rate_bps", 1},
                                                  {"down [Gbps]", 1e9},
                                                  {"gbps", 1e9},
                                                  {"rate_MBps", 8e6},
                                                  {"MB/s", 8e6},
                                                  {"kB/s", 8e3},
                                                  {"KB/s", 8e3},
                                                  {"MiB/s", 8 * 1048576.0},
                                                  {"bytes_per_second", 8},
                                                  {"Mbits/sec", 1e6},
                                                  {"megabits per second", 1e6},
                                                  {"rate_kilobytes_per_s", 8e3},
                                                  {"bandwidth:Mbit/s", 1e6}};
  for (const auto& [name, bits] : units) {
    CAPTURE(name);
    CHECK(pieces_of(std::string("time_s,") + name + "\n0,2000\n1,3000\n") ==
          std::vector<std::pair<double, double>>{{0, 2000 * bits}, {1, 3000 * bits}});
  }
}

TEST_CASE("A schedule's head names the unit of its times, in any order and with any separator") {
  const std::vector<std::pair<double, double>> expected = {{0, 24.5e6}, {1.5, 18e6}};
  for (const char* csv :
       {"time_s,rate_Mbps\n0,24.5\n1.5,18\n", "t_ms;Mbps\n0;24.5\n1500;18\n",
        "Mbps,time (ms)\n24.5,0\n18,1500\n", "time_s\tMbps\n0\t24.5\n1.5\t18\n",
        "seconds  kbps\n0 24500\n1.5   18000\n", "# seconds,Mbps\n0,24.5\n1.5,18\n",
        "# 4G, on a tram\n# rates in kbps\n0 24500\n1.5 18000\n",
        "# 4G, on a tram\n# time_s,mbps\n0,24.5\n1.5,18\n",
        "\xEF\xBB\xBFtime_s,Mbps\r\n0,24.5\r\n1.5,18", "time_s,Mbps\r0,24.5\r1.5,18\r",
        "0,24.5Mbps\n1500ms,18 Mbit/s\n", "\"time_s\",\"Mbps\"\n\"0\",\"24.5\"\n1.5,18\n",
        "0,24.5e6\n1.5,18e6\n", "0 24.5e6\n1.5 18e6\n"}) {
    CAPTURE(csv);
    CHECK(pieces_of(csv) == expected);
  }
}

TEST_CASE("A schedule whose units are not told is refused") {
  for (const char* head : {"time_s,throughput", "time,Mbps", "time_s,mb/s", "time_s,MBPS",
                           "time_s,mbytes/s", "kbps,Mbps", "a,b", "time_s,time_s", "time_s,fps"}) {
    CAPTURE(head);
    CHECK_THAT(refusal(std::string(head) + "\n0,24.5\n"),
               Catch::Contains("line 1") && Catch::Contains("does not name the units"));
  }
  CHECK_THAT(refusal("0,24.5\n1,18.2\n"), Catch::Contains("below 100 kbit/s"));
  CHECK_THAT(refusal("0,24500\n1,18200\n"), Catch::Contains("below 100 kbit/s"));
  CHECK_THAT(refusal("# of a line of 30 Mbps\n0 24.5\n"), Catch::Contains("below 100 kbit/s"));
  CHECK_THAT(refusal("time_s,a,Mbps\n0,1,2\n"), Catch::Contains("line 1"));
  CHECK_THAT(refusal("time_s,Mbps\n0,24.5kbps\n"), Catch::Contains("line 2"));
  CHECK_THAT(refusal("time_s;Mbps\n0;24,5\n"), Catch::Contains("decimals with a point"));
  CHECK_THAT(refusal("time_s,Mbps\n0,1\ntime_s,Mbps\n"), Catch::Contains("line 3"));
  CHECK_THAT(refusal(std::string("\xFF\xFEt\0i\0", 6)), Catch::Contains("UTF-16"));
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
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "0,1e6\n1x2\n"), Catch::Contains("line 2"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "1,1e6\n"), Catch::Contains("at 0 s"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "0,1e6\n2,1\n1,5\n"), Catch::Contains("back"));
  CHECK_THROWS_WITH(RateSchedule::from_csv("c", "0,1e6\n2,0\n"), Catch::Contains("nothing ever"));
  CHECK_THROWS_AS(RateSchedule::from_csv("c", "0,-1\n"), SimError);
  CHECK_THROWS_AS(RateSchedule::from_pieces("p", {{Seconds(0), BitsPerSecond(0)}}, Seconds(1)),
                  SimError);
}
