// A sender that follows Linux's rules, over one path: 10 Mbps, 10 ms each way, no second hop.
#include <catch2/catch.hpp>
#include <vector>

#include "sim/calibration.h"
#include "sim/flow/tcp/stream.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

constexpr double kSegment = 1538 * 8 / 10e6;  // s: 1.2304 ms
constexpr double kAck = 90 * 8 / 10e6;        // s: 72 us
constexpr double kWay = 10e-3;
constexpr double kRoundTrip = kSegment + kWay + kAck + kWay;  // 21.3 ms: of a lone segment

TcpStream stream(std::vector<std::uint64_t> lost) {
  Cluster cluster;
  cluster.add_host("a");
  cluster.add_host("b");
  LinkSpec link;
  link.rate = BitsPerSecond(10e6);
  link.delay = Seconds(kWay);
  cluster.add_link(0, 1, link);
  cluster.finish();
  const std::vector<ChannelId> route{0};
  TransportSettings transport;
  transport.constants = shipped_calibration("linux").constants;
  const TcpPath path(cluster, route, transport);
  TcpStream result(path, transport, LossSequence(std::move(lost)),
                   LossSequence(std::vector<std::uint64_t>{}));
  result.serve(0, path.line_rate);
  return result;
}

/// Sends `segments` whole ones at `begin`; how long until they have arrived.
double send(TcpStream& tcp, int segments, double begin = 0) {
  tcp.run(begin);
  tcp.write(begin, 1, segments * 1448);
  for (;;) {
    const double next = tcp.next_event();
    REQUIRE(next < TcpStream::kNever);
    tcp.run(next);
    if (!tcp.delivered(next)) continue;
    tcp.pop();
    return next - begin;
  }
}

void drain(TcpStream& tcp) {
  while (tcp.next_event() < TcpStream::kNever) tcp.run(tcp.next_event());
}

}  // namespace

TEST_CASE("Linux: the first acknowledgements are quick, and a window doubles in a round trip") {
  TcpStream tcp = stream({});
  send(tcp, 10);
  drain(tcp);
  CHECK(tcp.window() == 20 * 1448);
  CHECK(tcp.acks_sent() == 10);  // ns-3's receiver would have sent 6
}

TEST_CASE("Linux: a lost segment in the middle is sent again a round trip later, the window cut") {
  TcpStream tcp = stream({2});
  // Segments 3, 4, 5 are sacked; the third sack arrives when segment 5 (the sixth) has crossed:
  // 6 segments + 20 ms + ACK. Then segment 2 crosses behind those that PRR let out.
  const double time = send(tcp, 10);
  CHECK(time >= 6 * kSegment + 2 * kWay + kAck + kSegment + kWay);
  CHECK(time < 6 * kSegment + 2 * kWay + kAck + 6 * kSegment + kWay);
  drain(tcp);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.counts().again == 1);
  CHECK(tcp.window() < 13 * 1448);  // 0.7 of 10 to 12
}

TEST_CASE("Linux: a lost tail is probed after two round trips and a little, not after 200 ms") {
  TcpStream tcp = stream({9});
  const double time = send(tcp, 10);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.counts().again == 1);
  // The last acknowledgement that moves anything comes 9 segments and a round trip after the start;
  // one segment is out, so that the probe waits for the least timeout of 200 ms as well.
  CHECK(time > 0.2);
  CHECK(time < 0.2 + 9 * kSegment + 5 * kRoundTrip);
  TcpStream two = stream({8, 9});
  // Two are out: two smoothed round trips + 8 ms. The probe (segment 9) is sacked, so 8 is lost.
  const double quick = send(two, 10);
  CHECK(quick < 9 * kSegment + 8 * kRoundTrip);
  CHECK(two.timeouts() == 0);
  CHECK(two.counts().again == 2);
}

TEST_CASE("Linux: a retransmission that is lost is found by what was sent after it") {
  // Segment 2 is lost, and so is its copy (the eleventh packet, number 10); more follow.
  TcpStream tcp = stream({2, 10});
  const double time = send(tcp, 40);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.counts().again == 2);
  CHECK(time < 40 * kSegment + 6 * kRoundTrip);
}

TEST_CASE("Linux: after silence the window starts again from the initial one") {
  TcpStream tcp = stream({});
  send(tcp, 60);
  drain(tcp);
  const double before = tcp.window();
  CHECK(before > 30 * 1448);
  const double soon = send(tcp, 30, 0.5);
  drain(tcp);
  send(tcp, 1, 20);
  CHECK(tcp.window() == 10 * 1448);
  drain(tcp);
  const double late = send(tcp, 30, 40);
  CHECK(late > soon);
}

TEST_CASE("Linux: a long silence of the network is waited out by timeouts that double") {
  std::vector<std::uint64_t> lost;
  for (std::uint64_t i = 0; i < 14; ++i) lost.push_back(i);
  TcpStream tcp = stream(lost);
  // Ten segments and a probe are lost, then three copies of the first. The fourth timeout's passes:
  // each waits for at least 200 ms and a round trip of 20, doubled: 220 x (1 + 2 + 4 + 8) = 3.3 s.
  const double time = send(tcp, 10);
  CHECK(tcp.timeouts() == 4);
  CHECK(time > 3.3);
  CHECK(time < 3.3 + 0.1 + 8 * kRoundTrip);
  drain(tcp);
  const TcpStream::Counts& c = tcp.counts();
  CHECK(c.first + c.again == c.dropped + c.lost + c.arrived + c.duplicate);
}
