// Hand-worked segments over one path: 10 Mbps, 10 ms each way, no second hop.
#include <catch2/catch.hpp>
#include <utility>
#include <vector>

#include "tests/sim/streams.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kSegment = 1538 * 8 / 10e6;  // s: 1.2304 ms
/// s: a plain packet's 90 bytes, less the 36 that follow a packet on the wire and delay neither the
/// segment nor its acknowledgement.
constexpr double kAck = (90 - 2 * 36) * 8 / 10e6;
constexpr double kWay = 10e-3;

LoneStream stream(std::vector<std::uint64_t> lost, std::vector<std::uint64_t> lost_acks = {}) {
  return stream_over(10e6, kWay, {}, std::move(lost), std::move(lost_acks));
}

}  // namespace

TEST_CASE("A window's segments arrive one after the other") {
  LoneStream tcp = stream({});
  CHECK(send(tcp, 10) == Approx(10 * kSegment + kWay));
  CHECK(tcp.front().wire == 10 * 1538);
  CHECK(tcp.front().retransmissions == 0);
  drain(tcp);
  CHECK(tcp.idle());
  CHECK(tcp.arrived() == 10);
  // Acknowledged: the first at once, 2 and 3, 4 and 5, 6 and 7, 8 and 9, and the last after 40 ms.
  CHECK(tcp.acks_sent() == 6);
}

TEST_CASE("Three duplicate acknowledgements bring a lost segment back after a round trip") {
  // Segment 3 of 10 is lost. The receiver acknowledges 4, 5 and 6 at once; the third of these
  // leaves when segment 6 (the seventh) arrives, and the retransmission waits for what the window
  // had let out: nothing more here.
  LoneStream tcp = stream({3});
  constexpr double block = 8 * 8 / 10e6;  // which they name
  const double third = 7 * kSegment + kWay + kAck + block + kWay;
  CHECK(send(tcp, 10) == Approx(std::max(third, 10 * kSegment) + kSegment + kWay));
  CHECK(tcp.front().retransmissions == 1);
  CHECK(tcp.front().wire == 11 * 1538);
  CHECK(tcp.timeouts() == 0);
  // Recovery leaves 0.7 of the window's 10 segments (and the growth of the acknowledgement).
  drain(tcp);
  CHECK(tcp.window() / 1448 == Approx(8).margin(1.01));
}

TEST_CASE("The last segment's loss costs a timeout after the last acknowledgement") {
  // Segments 0 .. 8 arrive; 9 is lost, and no duplicate acknowledgement comes. The timer restarts
  // with the acknowledgement of 7 and 8, at 9 s + 2 x 10 ms + ack; RTO is min_rto, 200 ms.
  LoneStream tcp = stream({9});
  const double acknowledged = 9 * kSegment + 2 * kWay + kAck;
  CHECK(send(tcp, 10) == Approx(acknowledged + 0.2 + kSegment + kWay).epsilon(1e-6));
  CHECK(tcp.timeouts() == 1);
  CHECK(tcp.window() == 1448);
}

TEST_CASE("A retransmission that is lost waits for the timeout") {
  LoneStream once = stream({3});
  LoneStream twice = stream({3, 10});  // the eleventh to be sent is the retransmission
  CHECK(send(once, 10) < 0.1);
  CHECK(send(twice, 10) > 0.2);
  CHECK(twice.timeouts() == 1);
}

TEST_CASE("A lost acknowledgement is made good by the next, or by a timeout") {
  LoneStream covered = stream({}, {1});
  CHECK(send(covered, 30) < 0.15);
  drain(covered);
  CHECK(covered.timeouts() == 0);
  CHECK(covered.copies() == 0);
  // All six of a window's are lost: what has arrived is sent again.
  LoneStream silent = stream({}, {0, 1, 2, 3, 4, 5});
  CHECK(send(silent, 10) == Approx(10 * kSegment + kWay));
  drain(silent);
  CHECK(silent.timeouts() == 1);
  CHECK(silent.duplicates() > 0);
}

TEST_CASE("Every segment is dropped, lost, arrived or a duplicate") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const TransportSettings transport;
    const Cluster cluster = wire(10e6, kWay);
    const std::vector<ChannelId> route{0};
    TcpPath path(cluster, route, transport);
    LoneStream tcp(path, transport, LossSequence({{{seed, 1, 0, 0}, 0.03}}),
                   LossSequence({{{seed, 1, 1, 0}, 0.03}}));
    tcp.serve(0, path.line_rate / (seed % 2 == 0 ? 50 : 1));  // 61 ms a segment: CoDel drops
    for (int m = 0; m < 5; ++m) tcp.write(0, static_cast<std::uint64_t>(m), 200'000 + 777 * m);
    drain(tcp);
    CHECK(tcp.conserves());
    CHECK(tcp.tcp().receiver().next() == tcp.segments());  // everything came in the end
    CHECK(tcp.lost() > 0);
    CHECK((tcp.dropped() > 0) == (seed % 2 == 0));
  }
}

TEST_CASE("A slower share stretches what waits, a stall keeps its place") {
  LoneStream tcp = stream({});
  tcp.write(0, 1, 10 * 1448);
  // After 4 segments' time the share is halved: the fifth is on its way, the other 5 take twice as
  // long.
  tcp.serve(4 * kSegment, 10e6 / 8 / 2);
  double next = 0;
  while (!tcp.delivered(next)) tcp.run(next = tcp.next_event());
  CHECK(next == Approx(5 * kSegment + 10 * kSegment + kWay));
}

TEST_CASE("A cancelled message sends what is in the socket, and then those behind it") {
  LoneStream tcp = stream({});
  tcp.write(0, 1, 1000 * 1448);  // 10 of them leave at once, 256 more are in the socket
  tcp.write(0, 2, 5 * 1448);
  tcp.tcp().cancel(0, 1);
  double now = 0;
  while (!tcp.delivered(now)) tcp.run(now = tcp.next_event());
  CHECK(tcp.front().id == 1);
  CHECK(tcp.front().wire == 266 * 1538);
  tcp.pop();
  while (!tcp.delivered(now)) tcp.run(now = tcp.next_event());
  CHECK(tcp.front().id == 2);
  CHECK(tcp.segments() == 271);
  // Of a short one all is in it, and of the one behind that the rest: 10 + 256 - 20.
  LoneStream other = stream({});
  other.write(0, 1, 20 * 1448);
  other.write(0, 2, 1000 * 1448);
  other.tcp().cancel(0, 1);
  other.tcp().cancel(0, 2);
  for (now = 0; !other.delivered(now);) other.run(now = other.next_event());
  CHECK(other.front().wire == 20 * 1538);
  other.pop();
  while (!other.delivered(now)) other.run(now = other.next_event());
  CHECK(other.front().wire == 246 * 1538);
}

TEST_CASE("Losses by number and by chance") {
  LossSequence listed(std::vector<std::uint64_t>{0, 3});
  std::vector<bool> lost;
  for (int i = 0; i < 6; ++i) lost.push_back(listed.next());
  CHECK(lost == std::vector<bool>{true, false, false, true, false, false});
  LossSequence drawn({{{1, 2, 3, 0}, 0.01}});
  int count = 0;
  for (int i = 0; i < 100'000; ++i) count += drawn.next();
  CHECK(std::abs(count - 1000) < 5 * 32);  // sigma = sqrt(100,000 x 0.01 x 0.99) = 31.5
}

TEST_CASE("What CoDel would drop passes where nothing comes behind it in time") {
  // Ten segments go out at once; k leaves the queue when k - 1 is on the wire, (k - 1) x 1.2304 ms
  // from now on. Segment 2 is the first that waits for longer than 1 ms, and so 9, which leaves
  // 8.6 ms after it, is the first behind 8 ms of that. The eleventh waits for an acknowledgement.
  const auto send_eleven = [](double way) {
    TransportSettings transport;
    transport.constants.codel_target = 1e-3;
    transport.constants.codel_interval = 8e-3;
    transport.constants.codel_segments = 0;
    LoneStream tcp = stream_over(10e6, way, transport, {});
    const double time = send(tcp, 11);
    return std::pair(tcp.dropped(), time);
  };
  // It comes after 21 ms: the queue has been empty.
  const auto [none, time] = send_eleven(kWay);
  CHECK(none == 0);
  CHECK(time == Approx(kSegment + kWay + kAck + kWay + kSegment + kWay));
  // After 2.2 ms: segment 9 leaves one behind.
  CHECK(send_eleven(0.5e-3).first == 1);
}

TEST_CASE("Where a link changes, copies may wait when all is acknowledged, and still have a turn") {
  // The last of 10 segments has no second one beside it: acknowledged after 300 ms. The sender
  // times out after some 30, 60 and 120 ms more, and copies wait for a link that passes next to
  // nothing.
  TransportSettings transport;
  transport.min_rto = Seconds(0.02);
  transport.delayed_ack = Seconds(0.3);
  const Cluster cluster = wire(10e6, kWay);
  const std::vector<ChannelId> route{0};
  TcpPath path(cluster, route, transport);
  path.changes = true;
  LoneStream tcp(path, transport, LossSequence(std::vector<std::uint64_t>{}),
                 LossSequence(std::vector<std::uint64_t>{}));
  const double arrived = send(tcp, 10);
  tcp.pop();
  tcp.serve(arrived, 100);
  tcp.run(arrived + 0.4);
  CHECK(tcp.timeouts() >= 2);
  REQUIRE(tcp.idle());
  tcp.release();
  REQUIRE(tcp.next_event() < FluidStream::kNever);
  const double slow = 1538 / 100.0;  // s a copy
  CHECK(tcp.next_event() == Approx(arrived + slow).margin(0.4));
  drain(tcp);
  CHECK(tcp.duplicates() == tcp.timeouts());
}
