#include "runner/message_times.h"

#include <catch2/catch.hpp>

using namespace gradwire;
using namespace gradwire::runner;

namespace {

constexpr double kWire = 1538.0 / 1448;  ///< bytes on the wire of a payload's byte

/// 8 Mbps until `rest`, then nothing, in periods of 10 s.
sim::RateSchedulePtr resting_from(double rest) {
  return sim::RateSchedule::from_pieces(
      "resting", {{Seconds(0), BitsPerSecond(8e6)}, {Seconds(rest), BitsPerSecond(0)}},
      Seconds(10));
}

/// Workers whose way up repeats `up`, each `ahead` s further than the one before.
sim::Cluster served(int workers, const sim::RateSchedulePtr& up, double ahead) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(8e6);
  link.delay = Seconds(0.01);
  sim::LinkSpec wide;
  wide.rate = BitsPerSecond(1e12);
  wide.delay = Seconds(0);
  sim::Cluster cluster = sim::Cluster::star(workers, link, 1, wide);
  link.schedule = up;
  for (int worker = 0; worker < workers; ++worker) {
    link.schedule_offset = Seconds(ahead * worker);
    cluster.change_link(worker, link);
  }
  return cluster;
}

}  // namespace

TEST_CASE("A message takes its bytes' time and the delay where nothing rests") {
  const auto steady = sim::RateSchedule::from_pieces(
      "steady", {{Seconds(0), BitsPerSecond(8e6)}, {Seconds(5), BitsPerSecond(8e6)}}, Seconds(10));
  const sim::Cluster cluster = served(1, steady, 0);
  REQUIRE(repeated_links(cluster));
  const MessageTimes times(*repeated_links(cluster), {}, 1e6, 5e5);
  // 1 MB at 1 MB/s and 10 ms; warm windows, so that nothing else counts but some segments.
  CHECK(times.push(0, 2, 0) == Approx(kWire + 0.01).epsilon(0.01));
  CHECK(times.pull(0, 2, 0) == Approx(kWire / 2 + 0.01).epsilon(0.01));
}

TEST_CASE("Workers are where their own schedules stand") {
  // Rests from 5 to 10 s. At 1 s worker 0's message passes; worker 1 is 5 s ahead and waits for 4
  // s.
  const MessageTimes times(*repeated_links(served(2, resting_from(5), 5)), {}, 1e5, 1e5);
  CHECK(times.push(0, 1, 0) == Approx(0.1 * kWire + 0.01).epsilon(0.05));
  CHECK(times.push(1, 1, 0) > 4);
  CHECK(times.push(1, 6, 0) == Approx(times.push(0, 1, 0)));
}

TEST_CASE("Timeouts that double outlast a rest") {
  // 4 MB from 8 s on: as a fluid 1 s passes by 9, and the other 3.25 s from 10 to 13.25: 5.25 s. Of
  // TCP's window, full at 9, the timeouts come at .2, .6, 1.4 s or later: after the rest.
  const double payload = 4e6, fluid = payload * kWire / 1e6 + 1 + 0.01;
  const MessageTimes times(*repeated_links(served(1, resting_from(9), 0)), {}, payload, 1e3);
  CHECK(times.push(0, 8, 0) > fluid + 0.1);
  CHECK(times.push(0, 8, 0) < fluid + 4);
  // The negative control: what ends before the rest waits for no timeout.
  const MessageTimes shorter(*repeated_links(served(1, resting_from(9), 0)), {}, 4e5, 1e3);
  CHECK(shorter.push(0, 8, 0) == Approx(0.4 * kWire + 0.01).epsilon(0.05));
}

TEST_CASE("Where links do not repeat, or rest beside their schedules, no message is sampled") {
  const auto once = sim::RateSchedule::from_pieces(
      "once", {{Seconds(0), BitsPerSecond(8e6)}, {Seconds(5), BitsPerSecond(4e6)}}, Seconds(0));
  CHECK_FALSE(repeated_links(served(2, once, 0)));
  CHECK_FALSE(repeated_links(served(2, nullptr, 0)));
  CHECK_FALSE(repeated_links(sim::Cluster::star(2, {})));
  sim::Cluster out = served(2, resting_from(5), 0);
  sim::LinkSpec link = out.links()[0].spec;
  link.outages = {{Seconds(1), Seconds(2)}};
  out.change_link(0, link);
  CHECK_FALSE(repeated_links(out));
}
