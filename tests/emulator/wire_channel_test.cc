#include "emulator/shaper/wire_channel.h"

#include <catch2/catch.hpp>

namespace gradwire::emulator {
namespace {

constexpr double kFull = 1538;  // bytes of a full frame on the wire

/// 1,538,000 bytes a second: a full frame takes 1 ms.
WireChannel::Spec plain_spec() {
  WireChannel::Spec spec;
  spec.rate = 1538e3;
  spec.delay = 0.010;
  spec.limit = 1e9;
  return spec;
}

WireChannel live(const WireChannel::Spec& spec, double epoch = 0) {
  WireChannel channel(spec, 7, 3);
  channel.set_live(true, epoch);
  return channel;
}

/// When a full frame that comes at `time` reaches the other end; < 0: it does not.
double through(WireChannel& channel, double time, double bytes = kFull) {
  return channel.cross(time, bytes) == WireChannel::Fate::kPasses ? time : -1;
}

TEST_CASE("A steady channel sends at its rate, then delays", "[unit]") {
  WireChannel channel = live(plain_spec());
  CHECK(through(channel, 1) == Approx(1.011));
  CHECK(through(channel, 1) == Approx(1.012));  // behind the first
  CHECK(channel.counts().frames == 2);
  CHECK(channel.counts().busy == Approx(0.002));
}

TEST_CASE("Nothing passes during an outage, and what is under way goes on after it", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.outages = {{Seconds(0.5), Seconds(0.7)}};
  WireChannel channel = live(spec, 10);  // out from 10.5 to 10.7
  CHECK(through(channel, 10.2) == Approx(10.211));
  // 0.4 ms before the outage, 0.6 ms after it.
  CHECK(through(channel, 10.4996) == Approx(10.7106));
  CHECK(through(channel, 10.6) == Approx(10.7116));
}

TEST_CASE("Before it is live a channel that changes has its nominal rate", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.outages = {{Seconds(0.0001), Seconds(5)}};
  spec.loss = 0.5;
  WireChannel channel(spec, 7, 3);
  for (int i = 0; i < 20; ++i) CHECK(through(channel, 1 + i) == Approx(1.011 + i));
}

TEST_CASE("A channel follows its schedule from the epoch on, ahead by its offset", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.schedule = sim::RateSchedule::from_pieces(
      "half", {{Seconds(0), BitsPerSecond(8 * 1538e3)}, {Seconds(1), BitsPerSecond(4 * 1538e3)}},
      Seconds(2));
  WireChannel channel = live(spec, 100);
  CHECK(through(channel, 100.5) == Approx(100.511));
  CHECK(through(channel, 101.5) == Approx(101.512));  // half the rate
  spec.schedule_offset = 1;
  WireChannel ahead = live(spec, 100);
  CHECK(through(ahead, 100.5) == Approx(100.512));
}

TEST_CASE("A trace passes 1,500 bytes of packet at each of its instants", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.schedule = sim::RateSchedule::from_opportunities("trace", {2, 2, 5, 10});
  WireChannel channel = live(spec, 50);
  // 1,538 on the wire is a packet of 1,500 bytes: one opportunity each.
  CHECK(through(channel, 50.001) == Approx(50.012));
  CHECK(through(channel, 50.001) == Approx(50.012));
  CHECK(through(channel, 50.001) == Approx(50.015));
  // Nothing waits at 10 ms: that opportunity is lost, the next round's first is at 12.
  CHECK(through(channel, 50.0105) == Approx(50.022));
  // Two packets of 712 bytes (750 on the wire) share one.
  CHECK(through(channel, 50.0125, 750) == Approx(50.025));
  CHECK(through(channel, 50.0125, 750) == Approx(50.025));
}

TEST_CASE("A full queue before a link that changes drops", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.outages = {{Seconds(0), Seconds(1)}};
  spec.limit = 3 * kFull;
  WireChannel channel = live(spec);
  for (int i = 0; i < 3; ++i) CHECK(through(channel, 0.5) > 1);
  CHECK(through(channel, 0.6) < 0);
  CHECK(channel.counts().dropped == 1);
  CHECK(through(channel, 1.5) == Approx(1.511));  // they are through: there is room again
}

TEST_CASE("CoDel drops from a queue that stays long before a link that changes", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.limit = 0;
  spec.codel = {0.005, 0.1};
  spec.outages = {{Seconds(100), Seconds(101)}};
  WireChannel channel = live(spec);
  // 1.1 frames come for each that leaves: 100 wait after a second, and none may stay 5 ms.
  for (int i = 0; i < 1000; ++i) through(channel, i * 1e-3 / 1.1);
  CHECK(channel.counts().dropped > 2);
  CHECK(channel.counts().dropped < 100);
}

TEST_CASE("Jitter is uniform, and no frame overtakes another", "[unit]") {
  WireChannel::Spec spec = plain_spec();
  spec.jitter = 0.004;
  WireChannel apart = live(spec);
  double sum = 0, most = 0;
  for (int i = 0; i < 2000; ++i) {
    const double late = through(apart, i * 0.1) - i * 0.1 - 0.011;
    CHECK(late >= -1e-9);
    sum += late;
    most = std::max(most, late);
  }
  // Uniform on [0, 4 ms): mean 2 ms, deviation 4 / sqrt(12 x 2000) = 0.026 ms; five of them.
  CHECK(sum / 2000 == Approx(0.002).margin(5 * 0.026e-3));
  CHECK(most < 0.004);
  WireChannel together = live(spec);
  double last = 0;
  for (int i = 0; i < 100; ++i) {
    const double now = through(together, i * 1e-3);
    CHECK(now >= last);
    last = now;
  }
}

TEST_CASE("Losses are within five standard errors, independent or in bursts", "[unit]") {
  constexpr int kFrames = 20'000;
  WireChannel::Spec spec = plain_spec();
  spec.loss = 0.02;
  WireChannel independent = live(spec);
  for (int i = 0; i < kFrames; ++i) through(independent, i * 1e-3);
  // sqrt(20,000 x 0.02 x 0.98) = 19.8
  CHECK(std::abs(independent.counts().lost - 400) < 99);
  // Bad one packet in five of the time, all of them lost: 0.01 / (0.01 + 0.25) = 3.8 %.
  spec.loss = 0;
  spec.burst = {0.01, 0.25, 1};
  WireChannel bursts = live(spec);
  int runs = 0;
  bool before = false;
  for (int i = 0; i < kFrames; ++i) {
    const bool lost = through(bursts, i * 1e-3) < 0;
    runs += lost && !before ? 1 : 0;
    before = lost;
  }
  const double share = static_cast<double>(bursts.counts().lost) / kFrames;
  CHECK(share == Approx(0.0385).margin(0.012));
  // Bursts of 4 packets in the mean.
  CHECK(static_cast<double>(bursts.counts().lost) / runs == Approx(4).margin(0.8));
}

}  // namespace
}  // namespace gradwire::emulator
