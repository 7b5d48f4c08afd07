#include <catch2/catch.hpp>
#include <cmath>

#include "sim/cluster/topologies/topologies.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

Cell wifi(double distance, double speed = 0) {
  return {Cell::Kind::kWifi, 1, {{0, distance, speed}}, 80e6, 3.0};
}
Cell lte(double distance, double speed = 0) {
  return {Cell::Kind::kLte, 1, {{0, distance, speed}}, 10e6, 3.0};
}

}  // namespace

TEST_CASE("rates fall with distance by the table of schemes", "[unit]") {
  // 80 MHz: 980 carriers, symbols of 16 us. MCS 11: 980 x 10 x 5/6 / 16 us = 510.4 Mbps,
  // MCS 0: 980 x 1/2 / 16 us = 30.6 Mbps.
  CHECK(air_rate(wifi(1), 1, true) == Approx(980 * 10 * (5.0 / 6) / 16e-6));
  // SNR(d) = 16.02 - 46.68 - 30 log10 d - (-174 + 79.03 + 7) = 57.3 - 30 log10 d:
  // at 10 m 27.3 dB, MCS 9 (25.6 dB): 980 x 20/3 / 16 us = 408 Mbps.
  CHECK(air_rate(wifi(1), 10, true) == Approx(980 * (20.0 / 3) / 16e-6));
  // Where ns-3's stations are at 57.31 - 30 log10(d) dB: MCS 10 at 6 m (33.97 dB), MCS 9 at 8 m
  // (30.22), MCS 4 at 28 m (13.90), MCS 3 at 29 m (13.44), MCS 2 at 37 m (10.27).
  CHECK(air_rate(wifi(1), 6, true) == Approx(980 * 7.5 / 16e-6));
  CHECK(air_rate(wifi(1), 8, true) == Approx(980 * (20.0 / 3) / 16e-6));
  CHECK(air_rate(wifi(1), 28, true) == Approx(980 * 3.0 / 16e-6));
  CHECK(air_rate(wifi(1), 29, true) == Approx(980 * 2.0 / 16e-6));
  CHECK(air_rate(wifi(1), 37, true) == Approx(980 * 1.5 / 16e-6));
  CHECK(air_rate(wifi(1), 70, true) == Approx(980 * 0.5 / 16e-6));  // 57.3 - 55.4 = 1.95 dB
  CHECK(air_rate(wifi(1), 80, true) == 0);                          // 57.3 - 57.1 = 0.2 dB
  double last = 1e12;
  for (double d = 1; d < 100; d *= 1.1) {
    CHECK(air_rate(wifi(1), d, false) <= last);
    last = air_rate(wifi(1), d, false);
  }
  // LTE, 50 blocks, best CQI: 36,696 bits a millisecond up; down 48 blocks stand in whole groups.
  CHECK(air_rate(lte(1), 10, true) == Approx(36.696e6));
  CHECK(air_rate(lte(1), 10, false) == Approx(36.696e6 * 48 / 50));
  // Up at 200 m: 23 - 38.9 - 69.0 - (-174 + 69.5 + 5) = 14.6 dB; G = -ln(2.5e-4) / 1.5 = 5.53;
  // log2(1 + 28.7 / 5.53) = 2.63: CQI 9 (2.41), 15,264 bits.
  CHECK(air_rate(lte(1), 200, true) == Approx(15.264e6));
  // At 150 m 18.3 dB, 3.7: CQI 11 (3.32), modulation and coding 20, whose blocks are 21,384 bits up
  // and 19,848 down.
  CHECK(air_rate(lte(1), 150, true) == Approx(21.384e6));
  // Down: 30 - 107.9 - (-174 + 69.5 + 9) = 17.6 dB, and 3.54: log2(1 + 128.5 / 5.53) = 4.6: CQI 13.
  CHECK(air_rate(lte(1), 200, false) == Approx(27.376e6 * 48 / 50));
}

TEST_CASE("a phone's scheme up is the one that ns-3's base grants", "[unit]") {
  // 23 dBm over 9 MHz, 38.9 dB at 1 m, a noise figure of 5 dB: 83.56 - 30 log10(d). The best scheme
  // needs 5.55 bits/s/Hz, 24.04 dB, in eighths of a dB that are told: 24.125. At 93 m 24.51: ns-3
  // grants blocks of 4,587 B. At 96 m 24.09, told as 24.0: 3,822 B.
  const auto granted = [](double distance) {
    return air_rate(lte(distance), distance, true) * 1e-3 / 8;
  };
  CHECK(granted(93) == Approx(4587));
  CHECK(granted(96) == Approx(3822));
}

TEST_CASE("a Wi-Fi station alone pays for each turn", "[unit]") {
  // MCS 11: 65,535 B in 1.027 ms, 13 % and 0.38 ms more: 524,280 bits in 1.541 ms = 340 Mbps.
  const double air = 980 * 10 * (5.0 / 6) / 16e-6;
  CHECK(alone_rate(wifi(1), 1, true) == Approx(524280 / (1.13 * 524280 / air + 0.38e-3)));
  CHECK(turn_bytes(Cell::Kind::kWifi, alone_rate(wifi(1), 1, true)) == 65535);
  // MCS 0: 30.6 Mbps fill the 5.484 ms that a turn may last with 20,995 B.
  const double slow = 980 * 0.5 / 16e-6;
  CHECK(turn_bytes(Cell::Kind::kWifi, alone_rate(wifi(1), 70, true)) ==
        Approx(slow / 8 * 5.484e-3));
}

TEST_CASE("a cell joins each station to its base", "[unit]") {
  RadioCellPlan plan;
  plan.workers = 3;
  plan.kind = Cell::Kind::kLte;
  plan.width = 10e6;
  plan.places = {{50, 0}, {200, 0}};
  plan.wire.rate = BitsPerSecond(5e9);
  const Cluster cluster = radio_cell(plan, {true, 1, {}});
  REQUIRE(cluster.cells().size() == 1);
  CHECK(cluster.cells()[0].stations.size() == 3);
  CHECK(cluster.cells()[0].stations[2].distance == 50);
  REQUIRE(cluster.links().size() == 4);
  CHECK(cluster.links()[1].cell == 0);
  CHECK(cluster.links()[3].cell == -1);
  CHECK(cluster.links()[3].spec.rate.value() == 5e9);
  CHECK(cluster.nominal_rate(2).value() == Approx(15.264e6 * 0.93));  // up
  CHECK(cluster.nominal_rate(3).value() == Approx(27.376e6 * 0.96 * 0.93));
  std::vector<ChannelId> route;
  cluster.route(0, 3, route);
  CHECK(route == std::vector<ChannelId>{0, 7});
}

TEST_CASE("a moving station changes its rate where a scheme's reach ends", "[unit]") {
  // From 10 m outwards at 1 m/s: MCS 9 reaches 10^((57.31 - 25.91) / 30) = 11.1 m, so 1.1 s.
  const LinkSpec link = station_link(wifi(10, 1), {0, 10, 1}, "w");
  const auto& pieces = link.schedule->pieces();
  REQUIRE(pieces.size() == 11);  // MCS 9 to 0, and nothing
  CHECK(pieces[0].rate.value() == alone_rate(wifi(10), 10, true));
  CHECK(pieces[1].begin.value() == Approx(std::pow(10, (57.3129 - 25.91) / 30) - 10).epsilon(1e-3));
  CHECK(pieces[10].rate.value() == 0);
  // Towards the base and past it: it gets faster and then slower, evenly around the passage.
  const LinkSpec past = station_link(lte(300, -10), {0, 300, -10}, "w");
  const auto& passing = past.schedule->pieces();
  std::size_t best = 0;
  for (std::size_t i = 0; i < passing.size(); ++i) {
    if (passing[i].rate > passing[best].rate) best = i;
  }
  CHECK(passing[best].rate.value() == Approx(36.696e6 * 0.93));
  REQUIRE(best + 1 < passing.size());
  CHECK((passing[best].begin + passing[best + 1].begin).value() / 2 == Approx(30));
  CHECK(passing.back().rate.value() == 0);
}

TEST_CASE("cells that cannot be are refused", "[unit]") {
  const auto build = [](const Cell& cell) {
    Cluster cluster;
    cluster.add_host("a");
    cluster.add_switch("base");
    cluster.add_cell(cell);
  };
  CHECK_NOTHROW(build(wifi(10)));
  CHECK_THROWS_WITH(build(wifi(1000)), Catch::Contains("a") && Catch::Contains("out of"));
  CHECK_THROWS_WITH(build(wifi(1000, 1)), Catch::Contains("out of"));
  CHECK_NOTHROW(build(wifi(1000, -1)));
  CHECK_THROWS_WITH(build(wifi(-1)), Catch::Contains("no place"));
  Cell cell = wifi(10);
  cell.width = 30e6;
  CHECK_THROWS_WITH(build(cell), Catch::Contains("width"));
  cell = wifi(10);
  cell.stations.push_back({0, 20, 0});
  CHECK_THROWS_WITH(build(cell), Catch::Contains("twice"));
  cell = wifi(10);
  cell.stations[0].node = 5;
  CHECK_THROWS_WITH(build(cell), Catch::Contains("no node"));
  cell = wifi(10);
  cell.stations.clear();
  CHECK_THROWS_WITH(build(cell), Catch::Contains("no station"));
  cell = wifi(10);
  cell.exponent = 0;
  CHECK_THROWS_WITH(build(cell), Catch::Contains("exponent"));
}
