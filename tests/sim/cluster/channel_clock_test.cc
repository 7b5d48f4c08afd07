#include "sim/cluster/channel_clock.h"

#include <catch2/catch.hpp>

#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

constexpr std::int64_t kMs = 1'000'000;  // ns

std::int64_t full(ChannelClock& clock, std::int64_t start) {
  return clock.end_of(start, Bytes(1538), Bytes(1500));
}

}  // namespace

TEST_CASE("a frame takes bits over rate, whatever the pieces, and waits where the rate is zero") {
  LinkSpec spec = link(1e9, 0);
  // 1 Mbps for 1 s, nothing for 2 s, 2 Mbps for 1 s; again from 4 s on.
  const auto schedule = RateSchedule::from_pieces("s",
                                                  {{Seconds(0), BitsPerSecond(1e6)},
                                                   {Seconds(1), BitsPerSecond(0)},
                                                   {Seconds(3), BitsPerSecond(2e6)}},
                                                  Seconds(4));
  ChannelClock clock(spec, schedule);
  // 12,500 bytes = 100,000 bits: 100 ms at 1 Mbps.
  CHECK(clock.end_of(0, Bytes(12'500), Bytes(1)) == 100 * kMs);
  // From 0.95 s: half of it by 1 s, the rest (50,000 bits) at 2 Mbps from 3 s on: 25 ms.
  CHECK(clock.end_of(950 * kMs, Bytes(12'500), Bytes(1)) == 3025 * kMs);
  // From 3.99 s: 20,000 bits by 4 s, then 80,000 at 1 Mbps.
  CHECK(clock.end_of(3990 * kMs, Bytes(12'500), Bytes(1)) == 4080 * kMs);
  // A whole round carries 3 Mbit: 375,000 bytes from 0 s end at 4 s, from 4,000,000,000 s 4 s
  // later.
  CHECK(clock.end_of(0, Bytes(375'000), Bytes(1)) == 4000 * kMs);
  CHECK(clock.end_of(4'000'000 * kMs, Bytes(375'000), Bytes(1)) == 4'004'000 * kMs);
}

TEST_CASE("outages hold frames back, those under way too") {
  LinkSpec spec = link(1e6, 0);
  spec.outages = {{Seconds(1), Seconds(2)}, {Seconds(2), Seconds(2.5)}, {Seconds(9), Seconds(10)}};
  ChannelClock clock(spec, nullptr);
  CHECK(clock.end_of(1500 * kMs, Bytes(125), Bytes(1)) == 2501 * kMs);
  // 100 ms at 1 Mbps, 50 of them before the outages.
  CHECK(clock.end_of(950 * kMs, Bytes(12'500), Bytes(1)) == 2550 * kMs);
  CHECK(clock.end_of(8900 * kMs, Bytes(12'500), Bytes(1)) == 9000 * kMs);
}

TEST_CASE("full packets leave at a trace's instants, one at each of its lines") {
  ChannelClock clock(link(1e9, 0), RateSchedule::from_mahimahi("t", "2\n5\n5\n9\n"));
  CHECK(full(clock, 0) == 2 * kMs);
  CHECK(full(clock, 2 * kMs) == 5 * kMs);
  CHECK(full(clock, 5 * kMs) == 5 * kMs);
  CHECK(full(clock, 5 * kMs) == 9 * kMs);
  // The round lasts 9 ms: 11, 14, 14, 18.
  CHECK(full(clock, 9 * kMs) == 11 * kMs);
  // Nothing waited at 14: those two are lost.
  CHECK(full(clock, 14 * kMs + 1) == 18 * kMs);
  CHECK(full(clock, 1'000'000 * kMs) == 1'000'001 * kMs);  // 111,111 rounds are 999,999 ms
}

TEST_CASE("what a packet leaves of an instant is the next one's at that instant only") {
  const auto trace = RateSchedule::from_mahimahi("t", "1\n4\n8\n");
  ChannelClock clock(link(1e9, 0), trace);
  const auto end = [&](std::int64_t start, std::int64_t bytes) {
    return clock.end_of(start, Bytes(bytes + 38), Bytes(bytes));
  };
  // 600 + 600 + 600: the third has 300 bytes of the instant at 1 ms and 300 of that at 4.
  CHECK(end(0, 600) == 1 * kMs);
  CHECK(end(1 * kMs, 600) == 1 * kMs);
  CHECK(end(1 * kMs, 600) == 4 * kMs);
  // 1,200 are left at 4 ms; a nanosecond later they are gone.
  CHECK(end(4 * kMs + 1, 1200) == 8 * kMs);
  // 300 are left at 8 ms, 1,500 at 9 (the next round's 1), 1,500 at 12.
  CHECK(end(8 * kMs, 3000) == 12 * kMs);
}

TEST_CASE("a trace's instants during an outage are lost") {
  LinkSpec spec = link(1e9, 0);
  spec.outages = {{Seconds(0.004), Seconds(0.0145)}};
  ChannelClock clock(spec, RateSchedule::from_mahimahi("t", "2\n5\n9\n"));
  // Instants: 2, (5, 9, 11, 14: out), 18, 20.
  CHECK(full(clock, 0) == 2 * kMs);
  CHECK(full(clock, 2 * kMs) == 18 * kMs);
  CHECK(full(clock, 18 * kMs) == 20 * kMs);
}

TEST_CASE("a schedule that is ahead moves on without its outages") {
  LinkSpec spec = link(1e9, 0);
  spec.schedule_offset = Seconds(0.004);
  spec.outages = {{Seconds(0.0105), Seconds(0.0125)}};
  ChannelClock clock(spec, RateSchedule::from_mahimahi("t", "2\n5\n9\n"));
  // The trace's 5, 9, 11, 14, 18, 20 ms are 1, 5, 7, 10, 14, 16 of the session's.
  CHECK(full(clock, 0) == 1 * kMs);
  CHECK(full(clock, 6 * kMs) == 7 * kMs);
  CHECK(full(clock, 7 * kMs) == 10 * kMs);
  CHECK(full(clock, 10 * kMs) == 14 * kMs);
}

TEST_CASE("a link that is slower than any run ends never, not wrongly") {
  ChannelClock clock(link(1e-300, 0), nullptr);
  CHECK(clock.end_of(0, Bytes(1538), Bytes(1500)) == ChannelClock::kNever);
}
