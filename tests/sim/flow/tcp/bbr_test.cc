// BBR's parts by hand: the filter of the largest, delivery rates, and the states.
#include <catch2/catch.hpp>
#include <vector>

#include "sim/flow/tcp/bbr.h"

using namespace gradwire;
using namespace gradwire::sim;

namespace {

constexpr std::int64_t kSegment = 1448;

/// Acknowledgements of two segments, each a round trip of its own: `rate` bits/s.
class Driver {
 public:
  explicit Driver(Bbr& bbr) : bbr_(bbr) {}

  void round(std::int64_t rate, std::int64_t in_flight) {
    RateSample sample;
    sample.rate = rate;
    sample.known = sample.timed = true;
    sample.prior_delivered = acked_.delivered;
    acked_.now += 11e-3;
    acked_.bytes = 2 * kSegment;
    acked_.delivered += acked_.bytes;
    acked_.in_flight = acked_.prior_in_flight = in_flight;
    acked_.round_trip = 10e-3;
    bbr_.on_ack(acked_, sample);
  }
  /// The pipe is full at 20 Mbps.
  void fill() {
    for (int i = 0; i < 4; ++i) round(20'000'000, 100'000);
  }
  double now() const { return acked_.now; }

 private:
  Bbr& bbr_;
  Bbr::Acked acked_;
};

}  // namespace

TEST_CASE("The largest of ten rounds, and then the largest of later ones") {
  WindowedMax most(10, 100);
  CHECK(most.best() == 100);
  most.update(50, 1);  // what it started with counts for nothing
  CHECK(most.best() == 50);
  most.update(60, 2);
  CHECK(most.best() == 60);
  most.update(40, 5);  // a quarter of the window after the best: the second
  most.update(20, 12);
  CHECK(most.best() == 60);  // ten rounds old
  most.update(20, 13);
  CHECK(most.best() == 40);
  most.update(10, 16);  // 11 rounds after the 40
  CHECK(most.best() == 20);
  most.update(5, 40);  // all are too old
  CHECK(most.best() == 5);
}

TEST_CASE("A delivery rate counts what came since the segment was sent") {
  // Segments 0 and 1 leave at 1 s, 2 and 3 at 1.1 s, when 0 is acknowledged.
  DeliveryRate rate;
  rate.sent(1, 0, true);
  rate.sent(1, 1, false);
  rate.delivered(1.1, 0, 1000);
  CHECK(rate.sample(0.05).rate == Approx(80'000).margin(1));  // 1,000 B in 0.1 s
  rate.sent(1.1, 2, false);
  rate.sent(1.1, 3, false);
  rate.delivered(1.15, 1, 1000);
  CHECK(rate.sample(0.05).rate == Approx(106'666).margin(1));  // 2,000 B since 1 s
  rate.delivered(1.2, 2, 1000);
  rate.delivered(1.2, 3, 1000);
  rate.delivered(1.2, 3, 1000);  // told twice
  CHECK(rate.total() == 4000);
  // Sent when 1,000 had been delivered: 3,000 since then, in 0.1 s.
  CHECK(rate.sample(0.05).rate == Approx(240'000).margin(1));
  CHECK(rate.sample(0.05).prior_delivered == 1000);
  CHECK_FALSE(rate.sample(0.2).timed);  // faster than light
}

TEST_CASE("Sending that took longer than acknowledging bounds a delivery rate") {
  DeliveryRate rate;
  rate.sent(0, 0, true);
  rate.sent(0.4, 1, false);  // paced
  rate.delivered(0.5, 0, 1000);
  rate.delivered(0.5, 1, 1000);
  CHECK(rate.sample(0.1).rate == Approx(32'000).margin(1));  // 2,000 B in 0.5 s
  rate.sent(0.5, 2, false);
  rate.sent(1.5, 3, false);  // notes: 2,000 delivered at 0.5, sending since 0 (of segment 0)
  rate.delivered(1.6, 2, 1000);
  rate.delivered(1.6, 3, 1000);
  CHECK(rate.sample(0.1).rate == Approx(16'000 / 1.1).margin(1));
}

TEST_CASE("What there was to send limits a rate until it has been delivered") {
  DeliveryRate rate;
  rate.sent(0, 0, true);
  rate.delivered(0.1, 0, 1000);
  CHECK_FALSE(rate.sample(0.01).limited);
  rate.limit(500);
  rate.sent(0.1, 1, true);
  rate.delivered(0.2, 1, 500);  // 1,500 delivered: as much as was in flight
  CHECK(rate.sample(0.01).limited);
  CHECK(rate.sample(0.01).rate ==
        Approx(80'000).margin(1));  // a limited sample that is slower says nothing
  rate.sent(0.2, 2, true);
  rate.delivered(0.3, 2, 1000);
  rate.sample(0.01);
  rate.sent(0.3, 3, true);
  rate.delivered(0.4, 3, 1000);
  CHECK_FALSE(rate.sample(0.01).limited);
}

TEST_CASE("BBR starts at 2.89 windows a round trip, fills, drains and probes") {
  Bbr bbr({kSegment, 10 * kSegment, 10e-3});
  // 10 segments in 10 ms are 11.584 Mbps.
  CHECK(8 * bbr.pacing_rate() == Approx(2.89 * 11.584e6));
  Driver driver(bbr);
  driver.round(20'000'000, 20'000);
  CHECK(8 * bbr.pacing_rate() == Approx(0.99 * 2.89 * 20e6));
  CHECK(bbr.window() == 12 * kSegment);
  driver.round(20'000'000, 100'000);
  driver.round(20'000'000, 100'000);
  CHECK(8 * bbr.pacing_rate() == Approx(0.99 * 2.89 * 20e6));
  // The third round trip without growth: the pipe is full, and drains to
  // 20 Mbps x 10 ms = 25,000 B + 3 segments.
  driver.round(20'000'000, 100'000);
  CHECK(8 * bbr.pacing_rate() == Approx(0.99 / 2.89 * 20e6));
  CHECK(bbr.threshold() == 25'000 + 3 * kSegment);
  driver.round(20'000'000, 25'000 + 3 * kSegment + 1);
  CHECK(8 * bbr.pacing_rate() == Approx(0.99 / 2.89 * 20e6));
  driver.round(20'000'000, 25'000 + 3 * kSegment);
  CHECK(8 * bbr.pacing_rate() >= 0.99 * 20e6 - 8);  // any phase but 0.75
}

TEST_CASE("the numbers that BBR's phases are drawn from are ns-3's") {
  // Of L'Ecuyer's default seed: 0.12701112204657714 and 0.31852756539678895.
  StreamNumbers numbers(12345, 0, 0);
  CHECK(numbers.next() == Approx(0.12701112204657714).epsilon(1e-10));
  CHECK(numbers.next() == Approx(0.31852756539678895).epsilon(1e-10));
  // Where the cycle begins in runs 1 to 10: ns-3's segments of four hosts are paced so.
  constexpr int kBegins[] = {0, 0, 2, 0, 2, 4, 1, 1, 3, 5};
  for (std::uint64_t run = 1; run <= 10; ++run)
    CHECK(static_cast<int>(6 * StreamNumbers::of_bbr(run).next()) == kBegins[run - 1]);
}

TEST_CASE("BBR goes through eight phases, one of them 1.25 and the next 0.75") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Bbr bbr({kSegment, 10 * kSegment, 10e-3});
    bbr.set_draws(StreamNumbers::of_bbr(seed));
    Driver driver(bbr);
    driver.fill();
    driver.round(20'000'000, 20'000);
    std::vector<int> gains;
    for (int i = 0; i < 16; ++i) {
      gains.push_back(static_cast<int>(std::lround(100 * 8 * bbr.pacing_rate() / 0.99 / 20e6)));
      driver.round(20'000'000, 100'000);  // full, so that no phase is longer than R
    }
    CHECK(gains.front() != 75);
    CHECK(std::count(gains.begin(), gains.end(), 125) == 2);
    CHECK(std::count(gains.begin(), gains.end(), 75) == 2);
    CHECK(std::count(gains.begin(), gains.end(), 100) == 12);
    for (std::size_t i = 1; i < gains.size(); ++i) CHECK((gains[i] == 75) == (gains[i - 1] == 125));
    // Two products, 3 segments, 2 for bursts, and 2 more in one phase.
    CHECK(bbr.window() >= 50'000 + 5 * kSegment);
    CHECK(bbr.window() <= 50'000 + 7 * kSegment);
  }
}

TEST_CASE("BBR probes for a shorter round trip after 10 s, with four segments, for 200 ms") {
  Bbr bbr({kSegment, 10 * kSegment, 9e-3});  // a round trip that never comes again
  Driver driver(bbr);
  driver.fill();
  driver.round(20'000'000, 20'000);
  while (driver.now() < 9.9) driver.round(20'000'000, 100'000);
  CHECK(bbr.window() > 40'000);
  while (driver.now() < 10.03) driver.round(20'000'000, 100'000);
  CHECK(bbr.window() == 4 * kSegment);
  const double low = driver.now();  // in flight comes down with the next acknowledgement
  driver.round(20'000'000, 4 * kSegment);
  while (bbr.window() == 4 * kSegment) driver.round(20'000'000, 4 * kSegment);
  CHECK(driver.now() - low > 0.2);
  CHECK(driver.now() - low < 0.25);
}

TEST_CASE("BBR sends as much as is acknowledged for the first round trip of a recovery") {
  Bbr bbr({kSegment, 10 * kSegment, 10e-3});
  Driver driver(bbr);
  driver.fill();
  bbr.enter_recovery(30'000, 2 * kSegment);
  CHECK(bbr.window() == 30'000 + 2 * kSegment);
  bbr.leave_recovery();
  CHECK(bbr.window() == 25'000 + 3 * kSegment);
  bbr.on_timeout(false);
  CHECK(bbr.window() == kSegment);
  driver.round(20'000'000, 0);
  CHECK(bbr.window() == 4 * kSegment);
}
