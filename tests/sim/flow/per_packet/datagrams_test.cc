// Datagrams one by one: which message ends when.
#include <catch2/catch.hpp>

#include "sim/flow/per_packet/datagrams.h"

using namespace gradwire::sim;

namespace {

// Segments of 1,000 B, 90 B of headers; at 1 MB/s one takes 1.09 ms. The last one is late after
// 5 ms.
constexpr DatagramFlow::Way kWay{1e6, 5e-3, 1000, 90};

}  // namespace

TEST_CASE("a message ends with its last datagram, or with one of a later message", "[unit]") {
  DatagramFlow flow(kWay);
  flow.write(7, 2500);  // datagrams 0, 1, 2 (500 B)
  flow.write(8, 1000);  // 3
  for (int i = 0; i < 4; ++i) {
    REQUIRE(flow.has_more());
    const Datagram sent = flow.send(i * 1.09e-3);
    CHECK(sent.number == i);
    CHECK(sent.wire == (i == 2 ? 590 : 1090));
  }
  CHECK(flow.next_time() == Approx(4 * 1.09e-3));
  CHECK_FALSE(flow.has_more());
  flow.arrive(0);
  CHECK(flow.take_ended().empty());
  flow.arrive(3);  // 1 and 2 are lost
  const auto ended = flow.take_ended();
  REQUIRE(ended.size() == 2);
  CHECK(ended[0].id == 7);
  CHECK(ended[0].wire == 2 * 1090 + 590);
  REQUIRE(ended[0].missing.size() == 1);
  CHECK(ended[0].missing[0].first == 1000);
  CHECK(ended[0].missing[0].count == 1500);
  CHECK(ended[1].id == 8);
  CHECK(ended[1].missing.empty());
  flow.arrive(1);  // too late
  CHECK(flow.take_ended().empty());
}

TEST_CASE("a message whose last datagram does not come ends when that is late", "[unit]") {
  DatagramFlow flow(kWay);
  flow.write(7, 2000);
  flow.send(0);
  CHECK(flow.deadline() == DatagramFlow::kNever);  // it is not wholly sent
  flow.send(2e-3);
  flow.arrive(0);
  CHECK(flow.deadline() == Approx(7e-3));
  flow.give_up(flow.deadline());
  const auto ended = flow.take_ended();
  REQUIRE(ended.size() == 1);
  REQUIRE(ended[0].missing.size() == 1);
  CHECK(ended[0].missing[0].first == 1000);
}

TEST_CASE("of a message that is cancelled nothing more is sent", "[unit]") {
  DatagramFlow flow(kWay);
  flow.write(7, 3000);
  flow.write(8, 3000);
  flow.write(9, 1000);
  flow.send(0);
  flow.cancel(8);  // ends when those before it have
  CHECK(flow.take_ended().empty());
  CHECK(flow.send(0).number == 1);
  flow.cancel(7);
  CHECK(flow.take_ended().size() == 2);
  CHECK(flow.send(0).number == 6);
  CHECK_FALSE(flow.has_more());
}

TEST_CASE("a host sends one datagram of each connection in turn, as its link takes them",
          "[unit]") {
  DatagramFlow fast({1e6, 5e-3, 1000, 90}), slow({1e5, 5e-3, 1000, 90});
  fast.write(1, 3000);
  slow.write(2, 2000);
  DatagramSender host;
  host.set_rate(2e6);  // 0.545 ms each
  host.wake(0, fast);
  host.wake(1, slow);
  std::vector<int> order;
  double now = 0;
  for (double next = 0; next < DatagramSender::kNever; next = host.next_event()) {
    now = std::max(now, next);
    Datagram packet;
    if (const int who = host.send(now, packet); who >= 0) order.push_back(who);
  }
  // 0 and 0.545 ms; then the fast one each 1.09 ms, the slow one 10.9 ms after its first.
  CHECK(order == std::vector<int>{1, 0, 0, 0, 1});
  CHECK(now == Approx(10.9e-3));
}
