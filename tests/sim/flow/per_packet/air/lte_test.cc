// LTE cells in the flow executor, packet by packet: worked by hand, and beside ns-3.
#include "sim/flow/per_packet/air/lte_air.h"
#include "sim/flow/per_packet/air/rlc.h"
#include "sim/flow/per_packet/air/transport_blocks.h"
#include "tests/sim/flow/per_packet/air/cell_cases.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

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

}  // namespace

TEST_CASE("a short message over the air of an LTE cell, by hand", "[unit]") {
  // Up. The connection is open when the last packet of its handshake is at the server: a symbol (71
  // us) before a subframe ends, 54.7 us for the wire (and 0.4 us in the core). 100 ms later the
  // message goes out, 17 us before the next subframe, which tells the base (5 ms); its grant is
  // used after 7 ms less a symbol; the core and the wire, 590 B and not 90: 4.0 + 0.9 us more. 12
  // ms and 5 us. Down. The phone has the last packet but for the third one, which is as long on its
  // way as that; so 17 us, less the wire's 55 us: it waits for the subframe after the next one,
  // at 1.017 ms, and is there 3 ms later.
  const auto first = [](bool up) {
    const auto executor = make("flow", cell_of({kLte, 10, 1, 500, up}));
    return 1e3 * run(*executor, transfers({{up ? 0 : 1, up ? 1 : 0, 500}})).end.value();
  };
  CHECK(first(false) == Approx(4).margin(0.02));
  CHECK(first(true) == Approx(12.005).margin(0.001));
}

TEST_CASE("of messages of one instant BBR sees the first alone, as ns-3 writes it", "[unit]") {
  // Three of 1,300 B from phone to phone each 60 ms: less than a segment was there to send when the
  // first was written, so that their rates are limited by that. Taken together they would fill a
  // pipe of 87 kbps, and the last three take 45 ms.
  RadioCellPlan plan;
  plan.kind = Cell::Kind::kLte;
  plan.workers = 2;
  plan.width = 10e6;
  plan.places = {{82, 0}};
  ExecutorOptions options;
  options.transport.congestion_control = TransportSettings::CongestionControl::kBbr;
  const auto executor = make("flow", radio_cell(plan, {false, 1, link(1e9, 50e-6)}), options);
  const Step step = transfers({{0, 1, 1300}, {0, 1, 1300}, {0, 1, 1300}});
  double took = 0;
  for (int round = 0; round < 60; ++round) {
    const Seconds start(0.06 * round + 137e-6);
    took = (run_to_end(*executor, submit(*executor, step, start)).end - start).value();
  }
  CHECK(took == Approx(16e-3).margin(1e-5));  // ns-3's
}

TEST_CASE("an end of a radio bearer acknowledges what comes, at most every 10 ms", "[unit]") {
  Rlc base, phone;
  std::vector<AirPacket> through;
  const AirPacket packet{{.wire = 1538}};  // 1,500 B, and 2 of PDCP
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

TEST_CASE("a bearer's block has a length for every packet but the last", "[unit]") {
  // Three packets of 52 B and 2 of PDCP, a header of 4, two lengths in 3: 169 B of 1,000. With 115
  // B two packets fill it (4 + 54 + 2 + 54 = 114) to a byte, of which nothing can be made.
  Rlc base;
  const AirPacket packet{{.wire = 90}};
  for (int i = 0; i < 3; ++i) REQUIRE(base.push(0, packet));
  CHECK(base.send(0, 1000).packets.size() == 3);
  REQUIRE(base.push(0, packet));
  CHECK(base.told().unacknowledged == 169);
  for (int i = 0; i < 3; ++i) REQUIRE(base.push(0, packet));
  CHECK(base.send(0, 115).packets.size() == 2);
  REQUIRE(base.push(0, packet));
  CHECK(base.told().unacknowledged == 169 + 114);
  CHECK(base.told().data == 3 * 54);
}

TEST_CASE("a phone reports the next size of the standard's table", "[unit]") {
  CHECK(lte::reported(0) == 0);
  CHECK(lte::reported(1) == 10);
  CHECK(lte::reported(10.5) == 12);
  CHECK(lte::reported(2490) == 2490);  // the table's: 2,489.5 rounded up
  CHECK(lte::reported(2491) == 2915);
  CHECK(lte::reported(2e5) == 150e3);
}

TEST_CASE("transport blocks are not cut evenly", "[unit]") {
  CHECK(lte::kTransportBlocks.back()[49] == 36696 / 8);
  CHECK(lte::kTransportBlocks.back()[2] == 277);  // three fiftieths: 275
}

TEST_CASE("an LTE cell that has come to rest stands until something is sent") {
  // ns-3's clock stands after 100 ms of rest, so that a message finds the subframes where the last
  // one to arrive has left them: the second to the fourth take equally long, whenever they begin.
  const auto executor = make("flow", cell_of({kLte, 10, 2, 500, true}));
  const Step step = transfers({{0, 1, 500}});
  std::vector<double> ms;
  for (const double start : {0.0, 0.3003, 0.6007, 0.90091})
    ms.push_back(
        1e3 * (run_to_end(*executor, submit(*executor, step, Seconds(start))).end.value() - start));
  CHECK(ms[2] == Approx(ms[1]).margin(1e-5));
  CHECK(ms[3] == Approx(ms[1]).margin(1e-5));
  // Negative control: after 50.3 ms there is no rest yet, and the next subframe is nearer.
  const double begin = 1.2;
  run_to_end(*executor, submit(*executor, step, Seconds(begin)));
  const double soon = begin + 1e-3 * ms[1] + 50.3e-3;
  const double end = run_to_end(*executor, submit(*executor, step, Seconds(soon))).end.value();
  CHECK(1e3 * (end - soon) == Approx(ms[1] - 0.3).margin(1e-3));
}

TEST_CASE("phones that send to one of them a step of ns-3's") {
  // Fourteen send 2,360 B each to the fifteenth, which can acknowledge but when it owes no status
  // report: in ns-3 (four runs) 69.4 ms in the mean, the most of it for two such turns of 20 ms.
  // What each bearer owes from the handshakes decides who comes when. (36 ms, where nothing is owed
  // before the first message.)
  RadioCellPlan plan;
  plan.kind = kLte;
  plan.workers = 15;
  plan.width = 10e6;
  plan.places = {{6, 0}, {61, 0}};
  const Cluster cluster = radio_cell(plan, {true, 1, link(1e9, 50e-6)});
  std::vector<Route> routes;
  for (int s = 0; s < 14; ++s) routes.push_back({s, 14, 2360});
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto executor =
        make("flow", cluster, options_of(seed, TransportSettings::Protocol::kTcp));
    double sum = 0;
    for (const OpRecord& op : run(*executor, transfers(routes)).ops) sum += op.end.value();
    CHECK(1e3 * sum / 14 == Approx(69.4286).margin(0.01));
  }
}

TEST_CASE("an LTE cell's times are ns-3's") {
  const auto by_packets = [](const CellCase& one) { return mean_ms(one, 1); };
  // Not all: twelve phones that push 400 kB take 1,320 to 1,550 ms by the order in which they have
  // connected, which chance draws in both.
  CHECK(count_met(kLteFigures, 0.0101, by_packets) >= 42);
  // Negative control: the same by shares of the air alone.
  const auto by_shares = [](const CellCase& one) {
    return mean_ms(one, 1, TransportSettings::Protocol::kIdeal);
  };
  CHECK(count_met(kLteFigures, 0.01, by_shares) <= 4);
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
