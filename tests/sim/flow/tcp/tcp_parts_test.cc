#include <catch2/catch.hpp>
#include <limits>

#include "sim/flow/queues/bottleneck.h"
#include "sim/flow/tcp/congestion.h"
#include "sim/flow/tcp/output.h"
#include "sim/flow/tcp/receiver.h"
#include "sim/flow/tcp/scoreboard.h"
#include "tests/sim/streams.h"

using namespace gradwire;
using namespace gradwire::sim;

TEST_CASE("a numbered queue keeps order and numbers while it grows, wraps and gives memory back") {
  NumberedQueue<std::int32_t> queue;
  std::int32_t pushed = 0, popped = 0;
  const auto check = [&] {
    REQUIRE(queue.size() == static_cast<std::size_t>(pushed - popped));
    REQUIRE(queue.begin() == static_cast<std::uint64_t>(popped));
    for (std::int32_t i = popped; i < pushed; ++i)
      REQUIRE(queue[static_cast<std::uint64_t>(i)] == i);
  };
  for (int round = 1; round < 60; ++round) {  // 3 in, 2 out: the first place goes round
    for (int i = 0; i < 3; ++i) queue.push(pushed++);
    for (int i = 0; i < 2; ++i) queue.pop(), ++popped;
    check();
  }
  CHECK(queue.capacity() < 100);  // 59 are in it
  while (popped < pushed) queue.pop(), ++popped;
  queue.release();
  CHECK(queue.capacity() == 0);
  queue.skip(), ++pushed, ++popped;
  queue.push(pushed++);
  check();
}

TEST_CASE("segments out of order come back as they arrived, in whatever runs") {
  TcpReceiver receiver({0.040});
  const std::vector<std::int64_t> arrivals{0, 2, 3, 4, 7, 6, 9, 10};  // 1, 5 and 8 are missing
  for (const std::int64_t segment : arrivals) receiver.arrive(segment, 0.001 * segment, 0);
  std::vector<std::int64_t> visited, popped;
  std::vector<std::uint64_t> reported;
  auto& queue = receiver.out_of_order();
  queue.visit([&](const TcpReceiver::OutOfOrder& each) {
    visited.push_back(each.segment);
    return each.segment != 6;
  });
  for (; !queue.empty(); queue.pop()) {
    popped.push_back(queue.front().segment);
    reported.push_back(queue.front().reported_by);
  }
  CHECK(visited == std::vector<std::int64_t>{2, 3, 4, 7, 6});
  CHECK(popped == std::vector<std::int64_t>{2, 3, 4, 7, 6, 9, 10});
  // Each is acknowledged at once, after the first segment's acknowledgement.
  CHECK(reported == std::vector<std::uint64_t>{1, 2, 3, 4, 5, 6, 7});
}

TEST_CASE("A receiver acknowledges the first, then every second, or after 40 ms") {
  TcpReceiver receiver({0.040});
  receiver.arrive(0, 1.000, 1);
  receiver.arrive(1, 1.001, 2);
  CHECK(receiver.deadline() == Approx(1.041));
  receiver.arrive(2, 1.002, 3);
  CHECK(receiver.deadline() > 1e300);
  receiver.arrive(3, 1.003, 4);
  receiver.arrive(4, 1.100, 5);  // too late for 3's
  auto& acks = receiver.acknowledgements();
  REQUIRE(acks.size() == 3);
  CHECK(acks[0].upto == 1);
  CHECK(acks[1].upto == 3);
  CHECK(acks[1].echo == 2);  // of the older of the two
  CHECK(acks[2].time == Approx(1.043));
  CHECK(acks[2].upto == 4);
}

TEST_CASE("an acknowledgement takes longer for each block that it names") {
  TcpReceiver receiver({.delayed_ack = 0.040, .block = 0.001F});
  // Runs of segments beyond gaps: 2; 2, 4; 2 to 4; 2 to 4, 6, 8, 10 (three are named); 1 fills.
  for (const int number : {0, 2, 4, 3, 6, 8, 10, 1})
    receiver.arrive(number, number == 0 ? 1 : 2, 0);
  const int blocks[] = {0, 1, 2, 1, 2, 3, 3, 3};
  auto& acks = receiver.acknowledgements();
  REQUIRE(acks.size() == 8);
  for (std::size_t i = 1; i < 8; ++i) CHECK(acks[i].time == Approx(2 + 0.001 * blocks[i]));
  CHECK(acks[7].upto == 5);
}

TEST_CASE("A receiver acknowledges at once what is out of order, and what fills the gap") {
  TcpReceiver receiver({0.040});
  receiver.arrive(0, 1, 0);
  receiver.arrive(2, 2, 0);
  receiver.arrive(3, 3, 0);
  receiver.arrive(1, 4, 0);
  receiver.arrive(1, 5, 0);  // again
  auto& acks = receiver.acknowledgements();
  REQUIRE(acks.size() == 5);
  CHECK(acks[1].upto == 1);
  CHECK(acks[2].upto == 1);
  CHECK(acks[3].upto == 4);
  CHECK(acks[4].upto == 4);
  int out_of_order = 0;
  receiver.out_of_order().visit([&](const TcpReceiver::OutOfOrder&) { return ++out_of_order > 0; });
  CHECK(out_of_order == 2);
}

TEST_CASE("Three sacked segments beyond a segment tell that it is lost") {
  Scoreboard board;
  for (int i = 0; i < 8; ++i) board.push(1000);
  CHECK(board.in_flight() == 8000);
  board.sack(3);
  board.sack(4);
  board.find_lost();
  CHECK(board.next_lost() == Scoreboard::kNone);
  CHECK(board.in_flight() == 6000);
  board.sack(6);
  board.find_lost();
  // 3, 4, 6 are sacked: 0, 1, 2 have three beyond them, 5 has one.
  CHECK(board.next_lost() == 0);
  CHECK(board.in_flight() == 8000 - 3000 - 3000);
  board.send_again(0);
  CHECK(board.next_lost() == 1);
  CHECK(board.in_flight() == 3000);
  CHECK(board.next_doubtful() == 1);
  CHECK(board.acknowledge(5) == 3000);  // 0, 1, 2; 3 and 4 were told before
  CHECK(board.in_flight() == 2000);     // 5 and 7
  board.mark_all_lost();
  CHECK(board.in_flight() == 0);
  CHECK(board.next_lost() == 5);
}

TEST_CASE("Where nothing is sacked any segment that was not sent again may be lost") {
  Scoreboard board;
  for (int i = 0; i < 4; ++i) board.push(1000);
  CHECK(board.next_doubtful() == 0);
  board.send_again(0);
  CHECK(board.next_doubtful() == 1);
  board.sack(2);  // below it 1 is the last one
  board.send_again(1);
  CHECK(board.next_doubtful() == Scoreboard::kNone);
  board.acknowledge(3);
  CHECK(board.next_doubtful() == 3);
}

TEST_CASE("What was sent again is doubtful once more when its copy counts as lost") {
  Scoreboard board;
  for (int i = 0; i < 4; ++i) board.push(1000);
  for (const int number : {0, 1, 2}) board.send_again(number);
  CHECK(board.next_doubtful() == 3);
  board.mark_lost(1);
  CHECK(board.next_doubtful() == 1);
  CHECK(board.next_lost_anywhere() == 1);
  board.send_again(1);
  CHECK(board.next_doubtful() == 3);
  board.mark_all_lost();
  CHECK(board.next_doubtful() == 0);
}

TEST_CASE("A bottleneck serves one after the other and stretches with its rate") {
  Bottleneck queue({.codel = {.target = 1, .interval = 1}});
  queue.set_rate(0, 1000);
  CHECK(queue.pass(0, 100));
  CHECK(queue.pass(0, 100));
  CHECK(queue.departure() == Approx(0.2));
  queue.set_rate(0.1, 500);
  CHECK(queue.moved(0.1, 0.1) == Approx(0.1));
  CHECK(queue.departure() == Approx(0.3));
}

TEST_CASE("A share of a link takes turns: a lone segment has the link's time, the next a share's") {
  // Segments of 100 B at 250 B/s of a link of 1,000 B/s.
  Bottleneck queue({.codel = {.target = 10, .interval = 10}, .line_rate = 1000, .spreads = true});
  queue.set_rate(0, 250);
  REQUIRE(queue.pass(1, 100));
  CHECK(queue.departure() == Approx(1.1));  // 100 / 1,000
  REQUIRE(queue.pass(1, 100));
  CHECK(queue.departure() == Approx(1.5));  // 100 / 250 after the first
  REQUIRE(queue.pass(1.8, 100));
  CHECK(queue.departure() == Approx(1.9));  // its turn has come
  queue.set_rate(2, 1000);
  REQUIRE(queue.pass(2, 100));
  REQUIRE(queue.pass(2, 100));
  CHECK(queue.departure() == Approx(2.2));
}

namespace {

/// When a queue of 1,000 B/s drops that is kept at `waiting` segments of 1 B, 1 ms each.
std::vector<double> drops_of(Bottleneck queue, int waiting) {
  queue.set_rate(0, 1000);
  std::vector<double> drops;
  for (int i = 0; i < waiting; ++i) queue.pass(0, 1);
  for (double t = 0; t < 0.45; t += 0.001)
    if (!queue.pass(t, 1)) {
      drops.push_back(t);
      queue.pass(t, 1);  // the queue stands
    }
  return drops;
}

}  // namespace

TEST_CASE("A stream sends a segment's bytes in its turn, and what is left of it with the next") {
  // A link of 1,000 of which the stream has 250: of 100 bytes it sends 0.1 s, others 0.3 s.
  Bottleneck queue({.codel = {.target = 10, .interval = 10}, .line_rate = 1000, .quantum = 100});
  queue.set_rate(0, 250);
  REQUIRE(queue.pass(0, 100));
  CHECK(queue.departure() == Approx(0.4));
  REQUIRE(queue.pass(0, 100));
  CHECK(queue.departure() == Approx(0.8));
  // 40 bytes, of which others send as many (3 x 0.04 s), it itself 0.04 s.
  REQUIRE(queue.pass(0, 40, 0));
  CHECK(queue.departure() == Approx(0.96));
  // 60 bytes of its turn are left: the next one goes out at once.
  REQUIRE(queue.pass(0, 100, 0));
  CHECK(queue.departure() == Approx(0.96 + 0.1));
  // 40 too many, which the next turn lacks: still one segment a turn.
  REQUIRE(queue.pass(0, 100, 0));
  CHECK(queue.departure() == Approx(1.06 + 0.3 + 0.1));
  // When another one comes, the segment whose turn is next keeps it: from 1.1 s on at less of
  // the rate, the last but one is through at 1.06 s, the last 0.4 s later; it is next.
  const double last = queue.departure();
  queue.set_rate(1.1, 200);
  CHECK(queue.departure() == Approx(last));
  // Where the link itself becomes slower, it takes longer.
  queue.set_line(500);
  queue.set_rate(1.1, 100);
  CHECK(queue.departure() == Approx(1.1 + 2 * (last - 1.1)));
}

TEST_CASE("CoDel drops at intervals that shrink while the queue stands") {
  // The queue stands above the target of 5 ms. The first drop comes an interval (100 ms) after the
  // target is first passed; the next 100 ms later, then 100 / sqrt(2), 100 / sqrt(3) ms (RFC 8289,
  // 5.5).
  const auto drops = drops_of(Bottleneck({.codel = {.target = 0.005, .interval = 0.1}}), 12);
  REQUIRE(drops.size() >= 4);
  CHECK(drops[0] == Approx(0.095).margin(0.012));
  CHECK(drops[1] - drops[0] == Approx(0.100).margin(0.002));
  CHECK(drops[2] - drops[1] == Approx(0.0707).margin(0.002));
  CHECK(drops[3] - drops[2] == Approx(0.0577).margin(0.002));
}

TEST_CASE("CoDel's roots by Newton's steps, as queues of Linux and ns-3 take them") {
  // x (3 - c x^2) / 2: from 1 with c = 2: 1/2; then with c = 3: 1/2 x (3 - 3/4) / 2 = 0.5625; with
  // c = 4: 0.5625 x (3 - 4 x 0.3164) / 2 = 0.4878.
  const auto drops =
      drops_of(Bottleneck({.codel = {.target = 0.005, .interval = 0.1}, .at_device = true}), 12);
  REQUIRE(drops.size() >= 5);
  CHECK(drops[1] - drops[0] == Approx(0.1).margin(0.001));
  CHECK(drops[2] - drops[1] == Approx(0.05).margin(0.001));
  CHECK(drops[3] - drops[2] == Approx(0.05625).margin(0.001));
  CHECK(drops[4] - drops[3] == Approx(0.04878).margin(0.001));
}

TEST_CASE("A place behind the wire takes its time off the wait") {
  // The seventh waits 6 ms, of which the last is behind the one on the wire.
  CHECK(drops_of(Bottleneck({.codel = {.target = 0.0055, .interval = 0.1}}), 6).size() > 0);
  CHECK(drops_of(Bottleneck({.codel = {.target = 0.0055, .interval = 0.1}, .at_device = true}), 6)
            .empty());
}

TEST_CASE("A drop that is taken back leaves the queue as if it had been short") {
  // Segments of 1 B and 1 ms at 1,000 B/s. Ten come at once: the eighth (7) leaves after 6 ms, the
  // first to wait for longer than 5.5; so 9, which leaves at 8 ms, is later than 1 ms after that.
  const Bottleneck::Discipline discipline{.codel = {.target = 0.0055, .interval = 0.001},
                                          .at_device = true};
  Bottleneck queue(discipline), strict(discipline);
  for (Bottleneck* each : {&queue, &strict}) {
    each->set_rate(0, 1000);
    for (int i = 0; i < 9; ++i) REQUIRE(each->pass(0, 1));
    REQUIRE_FALSE(each->pass(0, 1));
    CHECK(each->drop_time() == Approx(0.008));
    CHECK(each->departure() == Approx(0.009));
  }
  queue.spare();
  CHECK(queue.departure() == Approx(0.010));
  CHECK_FALSE(queue.waits_too_long());
  CHECK(strict.waits_too_long());  // an episode of drops
}

TEST_CASE("Windows: slow start doubles, a loss leaves 0.7 or half, a timeout one segment") {
  for (const bool cubic : {true, false}) {
    TransportSettings transport;
    if (!cubic) transport.congestion_control = TransportSettings::CongestionControl::kReno;
    CongestionWindow window(transport);
    CHECK(window.size() == 10 * 1448);
    window.set_limited(true);
    window.grow(0.1, 10, 10, 20);
    CHECK(window.size() == 20 * 1448);
    window.set_limited(false);  // the sender did not fill it
    window.grow(0.2, 20, 30, 40);
    CHECK(window.size() == (cubic ? 20 : 40) * 1448);
    window.set_size(20 * 1448);
    window.cut();
    CHECK(window.threshold() == (cubic ? 14 : 10) * 1448);
    window.set_size(window.threshold());
    window.set_limited(true);
    window.cut();
    window.collapse(0.3, 40);
    CHECK(window.size() == 1448);
  }
}

TEST_CASE("CUBIC comes back to W_max after K seconds") {
  // W_max = 100, beta W = 70: K = cbrt(30 / 0.4) = 4.217 s. Round trips of 0.5 s: Reno's rate, 8 /
  // 15 a round, would take 28 s.
  TransportSettings transport;
  transport.initial_window = 100;
  CongestionWindow window(transport);
  window.cut();
  window.set_size(window.threshold());
  window.set_limited(true);
  double reached = 0;
  for (int round = 0; round < 100 && reached == 0; ++round) {
    const double now = 0.5 * round;
    for (std::int64_t i = 0; i < window.size() / 1448 / 2; ++i) {
      window.acknowledged(now, 0.5);
      window.grow(now, 2, 0, 0);
    }
    if (window.size() / 1448 >= 99) reached = now;
  }
  // The target is in whole segments: 100 from K - cbrt(1 / 0.4) = K - 1.36 s on, seen a round
  // ahead.
  const double k = std::cbrt(30 / 0.4);
  CHECK(reached > k - 1.36 - 2 * 0.5);
  CHECK(reached < k);
}

TEST_CASE("Reno grows by a segment a window") {
  TransportSettings transport;
  transport.congestion_control = TransportSettings::CongestionControl::kReno;
  CongestionWindow window(transport);
  window.cut();
  window.set_size(window.threshold());  // 5 segments
  window.set_limited(true);
  for (int i = 0; i < 5; ++i) window.grow(0, 1, 0, 0);
  CHECK(window.size() == 6 * 1448);
  window.set_limited(false);  // not where the sender does not fill it
  for (int i = 0; i < 100; ++i) window.grow(0, 1, 0, 0);
  CHECK(window.size() == 6 * 1448);
}

TEST_CASE("What slow start leaves of an acknowledgement counts by Linux's Reno, not by ns-3's") {
  for (const bool kernel : {false, true}) {
    TransportSettings transport;
    transport.congestion_control = TransportSettings::CongestionControl::kReno;
    transport.constants.kernel_recovery = kernel;
    CongestionWindow window(transport);
    window.cut();
    window.set_size(3 * 1448);  // 2 below the threshold of 5
    window.set_limited(true);
    window.grow(0, 4, 0, 0);  // 2 for slow start, 2 left over
    CHECK(window.size() == 5 * 1448);
    for (int i = 0; i < 3; ++i) window.grow(0, 1, 0, 0);
    CHECK(window.size() == (kernel ? 6 : 5) * 1448);
  }
}

TEST_CASE("What goes out again takes the bytes that follow it along") {
  // Three segments of 840 B that a timeout has marked lost: the first takes 608 B of the second,
  // the second, of which 232 B are left, all of the third.
  Scoreboard board;
  JoinedCopies joined;
  for (int i = 0; i < 3; ++i) board.push(840);
  board.mark_all_lost();
  joined.join(board, 0, 1448);
  board.send_again(0);
  CHECK(board.in_flight() == 1448);
  joined.join(board, 1, 1448);
  board.send_again(1);
  CHECK(board.in_flight() == 3 * 840);
  CHECK(board.at(2).bytes == 0);
  CHECK(board.next_lost() == Scoreboard::kNone);
  for (int i = 0; i < 3; ++i) CHECK(joined.original(board, i) == 840);
  // The first copy arrives alone, the second with the third; an original with nothing.
  CHECK(joined.arrive(board, 0, 1448) == 1);
  CHECK(joined.arrive(board, 1, 232 + 840) == 2);
  CHECK(joined.arrive(board, 1, 840) == 1);
  // An acknowledgement of what came before gives back what is still on its way.
  joined.part(board, 2);
  CHECK(board.acknowledge(2) == 2 * 840);
  CHECK(board.at(2).bytes == 840);
  CHECK(board.in_flight() == 840);
  // Not where one of the two is sacked, or only one is lost.
  Scoreboard other;
  for (int i = 0; i < 2; ++i) other.push(840);
  other.mark_first_lost();
  joined.join(other, 0, 1448);
  CHECK(other.at(0).bytes == 840);
}

TEST_CASE("A timeout follows the round trips by RFC 6298, doubles, and is reset") {
  TransportSettings transport;
  for (const bool linux_rules : {false, true}) {
    transport.constants.kernel_recovery = linux_rules;
    const Cluster cluster = testing::wire(1e9, 10e-3);
    const std::vector<ChannelId> route{0};
    const StreamPath path(TcpPath(cluster, route, transport), transport);
    RoundTripEstimator estimator;
    estimator.start(0.4, path);
    estimator.measure(0.8, path);  // error 0.4: smoothed 0.45, deviation 0.2 + (0.4 - 0.2) / 4
    CHECK(estimator.smoothed() == Approx(0.45));
    CHECK(estimator.timeout() == Approx(0.45 + 4 * 0.25));
    estimator.back_off(2);
    CHECK(estimator.timeout() == Approx(2));
    estimator.reset_timeout(path);
    CHECK(estimator.timeout() == Approx(1.45));
    // At least 200 ms in all, or beside the round trip.
    estimator.start(1e-3, path);
    CHECK(estimator.timeout() == Approx(linux_rules ? 0.201 : 0.2));
    CHECK(estimator.timeouts() == 1);
  }
}
