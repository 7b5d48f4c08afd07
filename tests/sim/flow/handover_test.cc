// Fluids and streams of one connection: what was sent as the one is in flight for the other.
#include <catch2/catch.hpp>
#include <vector>

#include "tests/sim/streams.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kGigabit = 1e9, kLink = 500e-6;  // bits/s, s each way
constexpr double kSegment = 1538 * 8 / kGigabit;  // s: 12.304 us
constexpr double kWire = 1538;                    // bytes

/// When each of the messages, which are released at these times between two hosts of a star,
/// arrives. With a loss that never happens the connection is a stream from its start on.
std::vector<double> arrivals(const std::vector<double>& releases, std::int64_t bytes, double loss) {
  const auto executor = make("flow", Cluster::star(2, link(kGigabit, kLink, loss)));
  std::vector<GraphId> messages;
  for (const double release : releases)
    messages.push_back(submit(*executor, transfers({{0, 1, bytes}}), Seconds(release)));
  std::vector<double> result;
  for (const GraphId message : messages)
    result.push_back(run_to_end(*executor, message).end.value());
  return result;
}

}  // namespace

TEST_CASE("a burst that went out beside a stream fills its window, as if the stream had sent it") {
  // 6 segments at 0, and 10 more at 6 segments' time: the window of 10 lets 4 of them out at once.
  const double later = 6 * kSegment;
  LoneStream whole = stream_over(kGigabit, kLink, {}, {});
  whole.write(0, 1, 6 * 1448);
  whole.write(later, 2, 10 * 1448);
  LoneStream beside = stream_over(kGigabit, kLink, {}, {});
  CHECK(beside.take_over(later, 0, later, 6 * kWire) == 6);
  CHECK(beside.tcp().in_flight() == Approx(6 * kWire));
  CHECK(beside.wire_sent() == 0);  // who sent it counts it
  beside.write(later, 2, 10 * 1448);
  LoneStream alone = stream_over(kGigabit, kLink, {}, {});  // ... it takes the window for empty
  alone.write(later, 2, 10 * 1448);
  std::vector<double> last;
  for (LoneStream* each : {&whole, &beside, &alone}) {
    double arrival = 0;
    while (each->next_event() < FluidStream::kNever) {
      const double next = each->next_event();
      each->run(next);
      for (; each->delivered(next); each->pop()) arrival = each->front().arrival;
    }
    last.push_back(arrival);
    CHECK(each->idle());
  }
  CHECK(last[1] == Approx(last[0]).epsilon(1e-12));
  CHECK(beside.window() == whole.window());
  CHECK(last[2] < last[0] - kSegment);
  // Of what is acknowledged a round trip after it was sent nothing counts: of six, two pairs.
  LoneStream late = stream_over(kGigabit, kLink, {}, {});
  const double round_trip = kWire / late.tcp().demand() * 10;
  CHECK(late.take_over(4.1 * kSegment + round_trip, 0, 6 * kSegment, 6 * kWire) == 2);
}

TEST_CASE("messages that come before others are acknowledged arrive as from one stream") {
  // 7,240 bytes are 5 segments, 61.5 us; the round trip is 2 ms. Two messages fill the first window
  // of 10, and the third waits for their acknowledgements, which let the window grow.
  std::vector<double> releases;
  for (int round = 0; round < 10; ++round)
    for (int i = 0; i < 5; ++i) releases.push_back(round * 4e-3 + i * 100e-6);
  const std::vector<double> fluid = arrivals(releases, 5 * 1448, 0);
  const std::vector<double> stream = arrivals(releases, 5 * 1448, 1e-15);
  CHECK(stream[2] > releases[2] + 2e-3);
  for (std::size_t i = 0; i < releases.size(); ++i) {
    INFO(i);
    CHECK(fluid[i] == Approx(stream[i]).margin(30e-6));
  }
}
