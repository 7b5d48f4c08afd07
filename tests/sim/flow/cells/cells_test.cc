// Radio cells in the flow executor, packet by packet: worked by hand, and beside ns-3.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/cluster/topologies/topologies.h"
#include "sim/flow/cells/rlc.h"
#include "sim/flow/cells/wifi_frames.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

struct CellCase {
  Cell::Kind kind = Cell::Kind::kWifi;
  double distance = 10;  ///< m, of all stations
  int stations = 1;
  std::int64_t bytes = 0;  ///< of each station's message
  bool up = true;
};

Cluster cell_of(const CellCase& one) {
  RadioCellPlan plan;
  plan.kind = one.kind;
  plan.workers = one.stations;
  plan.width = one.kind == Cell::Kind::kWifi ? 80e6 : 10e6;
  plan.places = {{one.distance, 0}};
  return radio_cell(plan, {true, 1, link(1e9, 50e-6)});
}

ExecutorOptions options_of(std::uint64_t seed, TransportSettings::Protocol protocol) {
  ExecutorOptions options;
  options.seed = seed;
  options.transport.protocol = protocol;
  return options;
}

/// ms, the mean over three rounds, each of which begins when the one before has ended and 150 ms
/// more have passed, and over the stations.
double mean_ms(const CellCase& one, std::uint64_t seed,
               TransportSettings::Protocol protocol = TransportSettings::Protocol::kTcp) {
  const auto executor = make("flow", cell_of(one), options_of(seed, protocol));
  std::vector<Route> routes;
  for (int s = 0; s < one.stations; ++s)
    routes.push_back({one.up ? s : one.stations, one.up ? one.stations : s, one.bytes});
  double sum = 0, start = 0;
  const Step step = transfers(routes);
  for (int round = 0; round < 3; ++round) {
    const Timeline timeline = run_to_end(*executor, submit(*executor, step, Seconds(start)));
    for (const OpRecord& op : timeline.ops) sum += op.end.value() - start;
    start = timeline.end.value() + 0.15;
  }
  return 1e3 * sum / (3 * one.stations);
}

}  // namespace

namespace {

/// A case and what ns-3 3.44 takes for it, ms: mean_ms() of `packet`, one run.
struct Figure {
  CellCase one;
  double packet_ms = 0;
};

constexpr auto kLte = Cell::Kind::kLte;
constexpr auto kWifi = Cell::Kind::kWifi;

const Figure kLteFigures[] = {
    {{kLte, 10, 1, 500, true}, 12},        {{kLte, 10, 1, 500, false}, 4},
    {{kLte, 10, 1, 20000, true}, 24.34},   {{kLte, 10, 1, 20000, false}, 16.33},
    {{kLte, 10, 1, 400000, true}, 118.3},  {{kLte, 10, 1, 400000, false}, 117},
    {{kLte, 10, 3, 500, true}, 12},        {{kLte, 10, 3, 500, false}, 5},
    {{kLte, 10, 3, 20000, true}, 29},      {{kLte, 10, 3, 20000, false}, 22},
    {{kLte, 10, 3, 400000, true}, 325},    {{kLte, 10, 3, 400000, false}, 380},
    {{kLte, 10, 12, 500, true}, 13.66},    {{kLte, 10, 12, 500, false}, 9.5},
    {{kLte, 10, 12, 20000, true}, 86.44},  {{kLte, 10, 12, 20000, false}, 81.5},
    {{kLte, 10, 12, 400000, true}, 1446},  {{kLte, 10, 12, 400000, false}, 1882},
    {{kLte, 10, 30, 500, true}, 16.87},    {{kLte, 10, 30, 500, false}, 28.5},
    {{kLte, 10, 30, 20000, true}, 192.7},  {{kLte, 10, 30, 20000, false}, 379.5},
    {{kLte, 150, 1, 500, true}, 12},       {{kLte, 150, 1, 500, false}, 4},
    {{kLte, 150, 1, 20000, true}, 26.01},  {{kLte, 150, 1, 20000, false}, 16.33},
    {{kLte, 150, 1, 400000, true}, 187},   {{kLte, 150, 1, 400000, false}, 117},
    {{kLte, 150, 3, 500, true}, 12},       {{kLte, 150, 3, 500, false}, 5},
    {{kLte, 150, 3, 20000, true}, 36.23},  {{kLte, 150, 3, 20000, false}, 22},
    {{kLte, 150, 3, 400000, true}, 541.9}, {{kLte, 150, 3, 400000, false}, 380},
    {{kLte, 150, 12, 500, true}, 14.66},   {{kLte, 150, 12, 500, false}, 9.5},
    {{kLte, 150, 12, 20000, true}, 126.5}, {{kLte, 150, 12, 20000, false}, 81.5},
    {{kLte, 150, 12, 400000, true}, 2337}, {{kLte, 150, 12, 400000, false}, 1882},
    {{kLte, 150, 30, 500, true}, 18.74},   {{kLte, 150, 30, 500, false}, 28.5},
    {{kLte, 150, 30, 20000, true}, 360.3}, {{kLte, 150, 30, 20000, false}, 379.5},
};

const Figure kWifiFigures[] = {
    {{kWifi, 10, 1, 500, true}, 0.119},     {{kWifi, 10, 1, 500, false}, 0.1207},
    {{kWifi, 10, 1, 20000, true}, 0.8163},  {{kWifi, 10, 1, 20000, false}, 1.082},
    {{kWifi, 10, 1, 400000, true}, 10.83},  {{kWifi, 10, 1, 400000, false}, 13.64},
    {{kWifi, 10, 3, 500, true}, 0.6363},    {{kWifi, 10, 3, 500, false}, 0.4057},
    {{kWifi, 10, 3, 20000, true}, 3.3},     {{kWifi, 10, 3, 20000, false}, 2.649},
    {{kWifi, 10, 3, 400000, true}, 35.77},  {{kWifi, 10, 3, 400000, false}, 34.44},
    {{kWifi, 10, 12, 500, true}, 1.612},    {{kWifi, 10, 12, 500, false}, 1.63},
    {{kWifi, 10, 12, 20000, true}, 13.55},  {{kWifi, 10, 12, 20000, false}, 11.45},
    {{kWifi, 10, 12, 400000, true}, 139.7}, {{kWifi, 10, 12, 400000, false}, 158.8},
    {{kWifi, 10, 30, 500, true}, 3.848},    {{kWifi, 10, 30, 500, false}, 4.282},
    {{kWifi, 10, 30, 20000, true}, 36.81},  {{kWifi, 10, 30, 20000, false}, 26.77},
    {{kWifi, 10, 30, 400000, true}, 409.2}, {{kWifi, 10, 30, 400000, false}, 405.1},
    {{kWifi, 35, 1, 500, true}, 0.1503},    {{kWifi, 35, 1, 500, false}, 0.152},
    {{kWifi, 35, 1, 20000, true}, 1.814},   {{kWifi, 35, 1, 20000, false}, 2.085},
    {{kWifi, 35, 1, 400000, true}, 30.96},  {{kWifi, 35, 1, 400000, false}, 35.23},
    {{kWifi, 35, 3, 500, true}, 0.7073},    {{kWifi, 35, 3, 500, false}, 0.4707},
    {{kWifi, 35, 3, 20000, true}, 8.193},   {{kWifi, 35, 3, 20000, false}, 5.499},
    {{kWifi, 35, 3, 400000, true}, 87.52},  {{kWifi, 35, 3, 400000, false}, 90.12},
    {{kWifi, 35, 12, 500, true}, 2.094},    {{kWifi, 35, 12, 500, false}, 1.841},
    {{kWifi, 35, 12, 20000, true}, 25.2},   {{kWifi, 35, 12, 20000, false}, 23.01},
    {{kWifi, 35, 12, 400000, true}, 372.5}, {{kWifi, 35, 12, 400000, false}, 375.5},
    {{kWifi, 35, 30, 500, true}, 4.383},    {{kWifi, 35, 30, 500, false}, 4.813},
    {{kWifi, 35, 30, 20000, true}, 60.14},  {{kWifi, 35, 30, 20000, false}, 58.29},
    {{kWifi, 35, 30, 400000, true}, 1160},  {{kWifi, 35, 30, 400000, false}, 1003},
};

/// How many of the figures `ms` meets within that share of them.
template <std::size_t N, typename Ms>
int count_met(const Figure (&figures)[N], double share, Ms ms) {
  int met = 0;
  for (const Figure& figure : figures) {
    const double got = ms(figure.one);
    UNSCOPED_INFO(figure.one.distance
                  << " m, " << figure.one.stations << " stations, " << figure.one.bytes << " B "
                  << (figure.one.up ? "up" : "down") << ": " << got << " ms, ns-3 "
                  << figure.packet_ms);
    met += std::abs(got / figure.packet_ms - 1) <= share;
  }
  return met;
}

}  // namespace

TEST_CASE("a short message over the air of a Wi-Fi cell, by hand", "[unit]") {
  // 500 B in one frame of 590 + 4 B at 10 m: 980 carriers of 20/3 bits in 16 us, 408.3 Mbps.
  //     44 us + 16 us ceil((22 + 8 x 594) / 6533) = 60 us
  // It begins with the next slot of 9 us, and arrives when it is over. Then the wire, 50 us and
  // 590 B at 1 Gbps: 4.7 us.
  CHECK(wifi::air_time(594, 980 * 20.0 / 3 / 16e-6) == Approx(60e-6));
  CHECK(wifi::framed(0, 590) == 594);
  CHECK(wifi::framed(594, 590) == 596 + 594);  // a multiple of 4 before the next one
  const double least = 60e-3 + 54.7e-3;
  const double ms = mean_ms({kWifi, 10, 1, 500, true}, 1);
  CHECK(ms >= least);
  CHECK(ms <= least + 9e-3 + 5e-3);
}

TEST_CASE("a base sends a packet on that came alone without drawing slots", "[unit]") {
  // From a station to another, both at 10 m, 500 B: a slot of 9 us at most, a frame of 60 us, SIFS
  // (16 us) and its acknowledgement (28 us), AIFS (43 us), the same frame again: 207 us (ns-3:
  // 210). With 0 to 15 slots drawn it would be 67 us more in the mean.
  const auto ms = [](std::uint64_t seed) {
    const auto executor = make("flow", cell_of({kWifi, 10, 2, 500, true}),
                               options_of(seed, TransportSettings::Protocol::kTcp));
    return 1e3 * run(*executor, transfers({{0, 1, 500}})).end.value();
  };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    CHECK(ms(seed) >= 0.207);
    CHECK(ms(seed) <= 0.217);
  }
}

TEST_CASE("a short message over the air of an LTE cell, by hand", "[unit]") {
  // Down: it waits for the next subframe after the wire's 54.7 us, at 1 ms, and is there 3 ms
  // later. Up: the subframe that begins (0 ms) tells the base (5 ms), whose grant is used 7 ms
  // later; the wire.
  const auto first = [](bool up) {
    const auto executor = make("flow", cell_of({kLte, 10, 1, 500, up}));
    return 1e3 * run(*executor, transfers({{up ? 0 : 1, up ? 1 : 0, 500}})).end.value();
  };
  CHECK(first(false) == Approx(4).margin(0.01));
  CHECK(first(true) == Approx(12 + 0.0547).margin(0.01));
}

TEST_CASE("an end of a radio bearer acknowledges what comes, at most every 10 ms", "[unit]") {
  Rlc base, phone;
  std::vector<CellPacket> through;
  const CellPacket packet{.wire = 1538};  // 1,500 B, and 2 of PDCP
  REQUIRE(base.push(0, packet));
  CHECK(base.told().data == 1502);
  // 800 B: 4 of RLC's header and 796 of the packet; the rest goes with the next.
  const Rlc::Pdu first = base.send(0, 800), second = base.send(1e-3, 800);
  CHECK(first.packets.empty());
  REQUIRE(second.packets.size() == 1);
  phone.receive(3e-3, first, through);
  CHECK(phone.told().status > 0);
  CHECK(through.empty());
  const Rlc::Pdu status = phone.send(4e-3, 100);
  CHECK(status.is_status);
  phone.receive(4.1e-3, second, through);
  CHECK(through.size() == 1);
  CHECK(phone.send(5e-3, 100).is_nothing());  // it is silent until 14 ms
  CHECK(phone.send(15e-3, 100).is_status);
  // The first PDU is acknowledged, the second one not: after 20 ms it is sent again.
  base.receive(10e-3, status, through);
  CHECK(base.next_event() == Approx(20e-3));  // it tells what waits; the poll's is at 21 ms
  base.run(21e-3);
  CHECK(base.told().unacknowledged == Approx(1502 - 796 + 4));
  CHECK(base.send(22e-3, 500).is_nothing());  // too little for all of it
  const Rlc::Pdu again = base.send(23e-3, 800);
  CHECK(again.number == second.number);
  CHECK(again.packets.empty());  // they have come, and come once
}

TEST_CASE("an LTE cell's times are ns-3's") {
  const auto by_packets = [](const CellCase& one) { return mean_ms(one, 1); };
  CHECK(count_met(kLteFigures, 0.1, by_packets) >= 41);
  // Negative control: the same by shares of the air alone.
  const auto by_shares = [](const CellCase& one) {
    return mean_ms(one, 1, TransportSettings::Protocol::kIdeal);
  };
  CHECK(count_met(kLteFigures, 0.1, by_shares) <= 20);
}

TEST_CASE("phones that do the same at the same time fall into ns-3's step") {
  // Messages to all phones at once, served in turns. With seven phones a turn takes 7 ms, and every
  // second one is a status report's, which take 10 ms: 1,071 ms, more than eight phones need. What
  // a phone wants to send is known 5 ms after the subframe in which it came; one later, and the
  // step is another one (728 ms with 4 ms). ns-3 3.44, one run each, means over the phones.
  const Figure figures[] = {
      {{kLte, 10, 5, 326000, false}, 541},  {{kLte, 10, 6, 326000, false}, 696.5},
      {{kLte, 10, 7, 326000, false}, 1071}, {{kLte, 10, 8, 326000, false}, 839.5},
      {{kLte, 10, 9, 326000, false}, 1385}, {{kLte, 10, 20, 100000, false}, 933.5}};
  const auto first_round = [](const CellCase& one) {
    const auto executor = make("flow", cell_of(one));
    std::vector<Route> routes;
    for (int s = 0; s < one.stations; ++s) routes.push_back({one.stations, s, one.bytes});
    double sum = 0;
    for (const OpRecord& op : run(*executor, transfers(routes)).ops) sum += op.end.value();
    return 1e3 * sum / one.stations;
  };
  CHECK(count_met(figures, 0.02, first_round) == 6);
}

TEST_CASE("datagrams over cells take ns-3's times") {
  // At once from the base to each station, or (`up`) from each station to the next one. ns-3 3.44,
  // means over the messages, of Wi-Fi (chance) of two runs.
  const Figure lte[] = {{{kLte, 10, 1, 500, false}, 4},
                        {{kLte, 10, 12, 100000, false}, 231.4},
                        {{kLte, 10, 12, 100000, true}, 236.6},
                        {{kLte, 10, 30, 500, true}, 67.5},
                        {{kLte, 10, 30, 20000, false}, 139}};
  const Figure wifi[] = {
      {{kWifi, 10, 1, 400000, false}, 12.68}, {{kWifi, 10, 2, 500, true}, 0.717},
      {{kWifi, 10, 3, 200000, false}, 15.91}, {{kWifi, 10, 3, 200000, true}, 30.3},
      {{kWifi, 10, 12, 20000, true}, 13.9},   {{kWifi, 10, 12, 20000, false}, 6.72}};
  using Protocol = TransportSettings::Protocol;
  const auto by = [](Protocol protocol) {
    return [protocol](const CellCase& one) {
      double sum = 0;
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const auto executor = make("flow", cell_of(one), options_of(seed, protocol));
        std::vector<Route> routes;
        for (int s = 0; s < one.stations; ++s)
          routes.push_back(
              {one.up ? s : one.stations, one.up ? (s + 1) % one.stations : s, one.bytes});
        for (const OpRecord& op : run(*executor, transfers(routes)).ops) sum += op.end.value();
      }
      return 1e3 * sum / (4 * one.stations);
    };
  };
  CHECK(count_met(lte, 0.03, by(Protocol::kUdpLossy)) == 5);
  CHECK(count_met(wifi, 0.15, by(Protocol::kUdpLossy)) == 6);
  // Negative control: the same bytes by shares of the air.
  CHECK(count_met(lte, 0.03, by(Protocol::kIdeal)) <= 1);
}

TEST_CASE("stations of a Wi-Fi cell that send to each other take ns-3's times") {
  // Each to the next one, at once: all contend, and each byte is in the air twice. Stations that
  // are opposite each other at 29 m (58 m) are -83.6 dBm to each other. ns-3 3.44, means of three
  // runs.
  const Figure figures[] = {
      {{kWifi, 10, 12, 20000, true}, 24.6},  {{kWifi, 10, 24, 500, true}, 9.43},
      {{kWifi, 10, 24, 20000, true}, 52.6},  {{kWifi, 10, 24, 100000, true}, 190.6},
      {{kWifi, 29, 12, 20000, true}, 48.6},  {{kWifi, 29, 24, 500, true}, 10.13},
      {{kWifi, 29, 24, 20000, true}, 102.3}, {{kWifi, 29, 24, 100000, true}, 408.2}};
  const auto across = [](const CellCase& one) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const auto executor =
          make("flow", cell_of(one), options_of(seed, TransportSettings::Protocol::kTcp));
      std::vector<Route> routes;
      for (int s = 0; s < one.stations; ++s)
        routes.push_back({s, (s + 1) % one.stations, one.bytes});
      for (const OpRecord& op : run(*executor, transfers(routes)).ops) sum += op.end.value();
    }
    return 1e3 * sum / (4 * one.stations);
  };
  CHECK(count_met(figures, 0.18, across) == 8);
}

TEST_CASE("a Wi-Fi cell's times are ns-3's") {
  // Who sends when is chance in both: four runs of flow, one of ns-3.
  const auto by_frames = [](const CellCase& one) {
    double sum = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) sum += mean_ms(one, seed) / 4;
    return sum;
  };
  CHECK(count_met(kWifiFigures, 0.2, by_frames) >= 45);
  const auto by_shares = [](const CellCase& one) {
    return mean_ms(one, 1, TransportSettings::Protocol::kIdeal);
  };
  CHECK(count_met(kWifiFigures, 0.2, by_shares) <= 24);
}
