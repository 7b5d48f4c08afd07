// A sender that follows Linux's rules, over one path: 10 Mbps, 10 ms each way, no second hop.
#include <algorithm>
#include <catch2/catch.hpp>
#include <vector>

#include "sim/transport/calibration.h"
#include "tests/sim/streams.h"

using namespace gradwire;
using namespace gradwire::sim;
using testing::drain;
using testing::LoneStream;
using testing::send;

namespace {

constexpr double kSegment = 1538 * 8 / 10e6;  // s: 1.2304 ms
constexpr double kAck = 90 * 8 / 10e6;        // s: 72 us
constexpr double kWay = 10e-3;
constexpr double kRoundTrip = kSegment + kWay + kAck + kWay;  // 21.3 ms: of a lone segment

TcpConstants linux_rules() {
  return shipped_calibration("linux").constants;
}

LoneStream stream_over(double rate, double way, const TcpConstants& constants,
                       std::vector<std::uint64_t> lost) {
  TransportSettings transport;
  transport.constants = constants;
  return testing::stream_over(rate, way, transport, std::move(lost));
}

LoneStream stream(std::vector<std::uint64_t> lost) {
  return stream_over(10e6, kWay, linux_rules(), std::move(lost));
}

/// Sends `segments`: how many go out at each instant at which any do.
std::vector<std::int64_t> bundles_of(LoneStream& tcp, int segments) {
  tcp.write(0, 1, segments * 1448);
  std::vector<std::int64_t> sizes{tcp.segments()};
  for (std::int64_t sent = sizes[0]; tcp.next_event() < FluidStream::kNever;) {
    const double now = tcp.next_event();
    tcp.run(now);
    if (tcp.delivered(now)) tcp.pop();
    if (tcp.segments() > sent) sizes.push_back(tcp.segments() - sent);
    sent = tcp.segments();
  }
  return sizes;
}

}  // namespace

TEST_CASE("Linux: the first acknowledgements are quick, and a window doubles in a round trip") {
  LoneStream tcp = stream({});
  send(tcp, 10);
  drain(tcp);
  CHECK(tcp.window() == 20 * 1448);
  CHECK(tcp.acks_sent() == 10);  // ns-3's receiver would have sent 6
}

TEST_CASE("Linux: a lost segment in the middle is sent again a round trip later, the window cut") {
  LoneStream tcp = stream({2});
  // Segments 3, 4, 5 are sacked; the third sack arrives when segment 5 (the sixth) has crossed:
  // 6 segments + 20 ms + ACK. Then segment 2 crosses behind those that PRR let out.
  const double time = send(tcp, 10);
  CHECK(time >= 6 * kSegment + 2 * kWay + kAck + kSegment + kWay);
  CHECK(time < 6 * kSegment + 2 * kWay + kAck + 6 * kSegment + kWay);
  drain(tcp);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.copies() == 1);
  CHECK(tcp.window() < 13 * 1448);  // 0.7 of 10 to 12
}

TEST_CASE("Linux: a lost tail is probed after two round trips and a little, not after 200 ms") {
  LoneStream tcp = stream({9});
  const double time = send(tcp, 10);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.copies() == 1);
  // The last acknowledgement that moves anything comes 9 segments and a round trip after the start;
  // one segment is out, so that the probe waits for the least timeout of 200 ms as well.
  CHECK(time > 0.2);
  CHECK(time < 0.2 + 9 * kSegment + 5 * kRoundTrip);
  LoneStream two = stream({8, 9});
  // Two are out: two smoothed round trips + 8 ms. The probe (segment 9) is sacked, so 8 is lost.
  const double quick = send(two, 10);
  CHECK(quick < 9 * kSegment + 8 * kRoundTrip);
  CHECK(two.timeouts() == 0);
  CHECK(two.copies() == 2);
}

TEST_CASE("Linux: a retransmission that is lost is found by what was sent after it") {
  // Segment 2 is lost, and so is its copy (the eleventh packet, number 10); more follow.
  LoneStream tcp = stream({2, 10});
  const double time = send(tcp, 40);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.copies() == 2);
  CHECK(time < 40 * kSegment + 6 * kRoundTrip);
}

TEST_CASE("Linux: after silence the window starts again from the initial one") {
  LoneStream tcp = stream({});
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
  LoneStream tcp = stream(lost);
  // Ten segments and a probe are lost, then three copies of the first. The fourth timeout's passes:
  // each waits for at least 200 ms and a round trip of 20, doubled: 220 x (1 + 2 + 4 + 8) = 3.3 s.
  const double time = send(tcp, 10);
  CHECK(tcp.timeouts() == 4);
  CHECK(time > 3.3);
  CHECK(time < 3.3 + 0.1 + 8 * kRoundTrip);
  drain(tcp);
  CHECK(tcp.conserves());
}

TEST_CASE("Linux: segments wait for a third of the window while acknowledgements are near") {
  // 172 Mbps, 2.74 ms: as a kernel of 6.18 was seen to send 62 segments on such a path. Round 2:
  // nothing was sent for more than 1 ms, so the first acknowledgement lets 2 out; then W = 14, 17
  // with 6 free, a third or more; then 6 of 20, less than a third, but the oldest segment that is
  // out was sent in this round: its acknowledgement is far. Round 3: 10 of 26, 12 of 32, the rest
  // at 14 of 39.
  const std::vector<std::int64_t> kernel{10, 2, 6, 6, 6, 2, 10, 12, 8};
  LoneStream tcp = stream_over(172e6, 1.37e-3, linux_rules(), {});
  CHECK(bundles_of(tcp, 62) == kernel);
  TcpConstants alone = linux_rules();
  alone.bundles = false;
  LoneStream plain = stream_over(172e6, 1.37e-3, alone, {});
  const auto sizes = bundles_of(plain, 62);  // two for each acknowledgement
  CHECK(std::count(sizes.begin(), sizes.end(), 2) == 26);
}

TEST_CASE("Linux: on long paths a bundle is two segments, and nothing waits") {
  // 10 segments in 20 ms: 2 x 14,480 B / 21.3 ms / 1024 = 1.3 kB, less than two segments.
  LoneStream tcp = stream({});
  const auto sizes = bundles_of(tcp, 20);
  CHECK(sizes == std::vector<std::int64_t>{10, 2, 2, 2, 2, 2});
}

TEST_CASE("Linux: no acknowledgement is delayed while the receive window grows") {
  // An eighth of 8 MiB is 724 segments, and 16 are quick anyway: 740 of 1,000, then every second,
  // and the last of each bundle.
  LoneStream tcp = stream({});
  send(tcp, 1000);
  drain(tcp);
  CHECK(tcp.acks_sent() >= 740 + 130);
  CHECK(tcp.acks_sent() < 1000);
  TcpConstants fixed = linux_rules();
  fixed.quick_share = 0;
  LoneStream other = stream_over(10e6, kWay, fixed, {});
  send(other, 1000);
  drain(other);
  CHECK(other.acks_sent() < 740);
}

TEST_CASE("Linux: HyStart's round ends whether or not the window is filled") {
  // Round trips of 1 ms, an acknowledgement every 0.25 ms, no window filled: a train that no round
  // ended would be longer than (1 + 1) / 2 ms at the fifth of them.
  for (const bool ends : {true, false}) {
    TransportSettings transport;
    transport.initial_window = 20;
    transport.constants = linux_rules();
    CongestionWindow window(transport);
    window.set_limited(false);
    for (int ack = 1; ack <= 40; ++ack) {
      const double now = 1 + 0.25e-3 * ack;
      if (ends || ack == 1) window.end_round(now, ack, ack + 3);
      window.acknowledged(now, 1e-3);
    }
    CHECK((window.threshold() > 1000 * 1448) == ends);
  }
}

TEST_CASE(
    "Linux: a loss that a probe repaired cuts the window when something newer is acknowledged") {
  // The last of ten segments is lost, and its copy acknowledged: nine have grown the window to 19,
  // which the next message still finds; its first acknowledgement cuts it to 0.7 of that, 13.
  LoneStream tcp = stream({9});
  const double end = send(tcp, 10);
  drain(tcp);
  CHECK(tcp.timeouts() == 0);
  CHECK(tcp.window() >= 19 * 1448);
  send(tcp, 2, end + 0.05);
  drain(tcp);
  CHECK(tcp.window() < 16 * 1448);
}
