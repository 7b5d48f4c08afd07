#include <catch2/catch.hpp>

#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

constexpr double kNs = 1e-9;

/// Two hosts and the link between them.
Cluster pair_of(const LinkSpec& spec) {
  Cluster cluster;
  const NodeId a = cluster.add_host("a"), b = cluster.add_host("b");
  cluster.add_link(a, b, spec);
  cluster.finish();
  return cluster;
}

RateSchedulePtr constant(double rate) {
  return RateSchedule::from_pieces("constant", {{Seconds(0), BitsPerSecond(rate)}}, Seconds(0));
}

double seconds_of(const LinkSpec& spec, const std::vector<Pair>& pairs,
                  const std::vector<Bytes>& bytes, std::uint64_t seed = 1) {
  ExecutorOptions options;
  options.seed = seed;
  const auto executor = make_packet_executor(pair_of(spec), options);
  return run(*executor, transfer_graph(pairs), bytes).end.value();
}

}  // namespace

TEST_CASE("a schedule of one rate is that rate, on our devices as on ns-3's", "[needs-packet]") {
  require_packet_program();
  const double rate = GENERATE(1e7, 1e9);
  const LinkSpec plain = link(rate, 2e-3);
  LinkSpec scheduled = link(1, 2e-3);
  scheduled.schedule = scheduled.schedule_back = constant(rate);
  const std::vector<Bytes> bytes = {Bytes(3'000'000), Bytes(1'000'000)};
  const double expected = seconds_of(plain, {{0, 1}, {1, 0}}, bytes);
  CHECK(seconds_of(scheduled, {{0, 1}, {1, 0}}, bytes) == Approx(expected).epsilon(0.002));
  scheduled.schedule = constant(0.9 * rate);
  CHECK(seconds_of(scheduled, {{0, 1}, {1, 0}}, bytes) > 1.02 * expected);
}

TEST_CASE("packets wait while the rate is zero, or the link out, and go on", "[needs-packet]") {
  require_packet_program();
  // 2 MB at 10 Mbps are 1,382 segments: 2,124,380 bytes, 1.6995 s; and 5 ms of delay.
  const double clear = seconds_of(link(1e7, 5e-3), {{0, 1}}, {Bytes(2'000'000)});
  CHECK(clear == Approx(1.7045).epsilon(0.005));
  LinkSpec spec = link(1e7, 5e-3);
  SECTION("zero rate") {
    spec.schedule = RateSchedule::from_pieces("gap",
                                              {{Seconds(0), BitsPerSecond(1e7)},
                                               {Seconds(0.5), BitsPerSecond(0)},
                                               {Seconds(2.5), BitsPerSecond(1e7)}},
                                              Seconds(0));
  }
  SECTION("outage") {
    spec.outages = {{Seconds(0.5), Seconds(2.5)}};
  }
  // Two seconds more, and what TCP sent again after its timeouts, at most.
  const double held = seconds_of(spec, {{0, 1}}, {Bytes(2'000'000)});
  CHECK(held >= clear + 2);
  CHECK(held < clear + 2.8);
}

TEST_CASE("segments arrive at a trace's instants to the nanosecond", "[needs-packet]") {
  require_packet_program();
  LinkSpec spec = link(1e9, 3e-3);
  spec.schedule = RateSchedule::from_mahimahi("t", "7\n13\n13\n20\n");
  spec.schedule_back = constant(1e9);
  const auto executor = make_packet_executor(pair_of(spec), {});
  // Four segments: at 7, 13, 13 and 20 ms, 3 ms later each. The next four from 27 ms on.
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}, {0, 1}, {0, 1}, {0, 1}}),
                                {Bytes(1448), Bytes(1448), Bytes(1448), Bytes(1448)});
  const std::vector<double> expected = {0.010, 0.016, 0.016, 0.023};
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(timeline.ops[i].end.value() == Approx(expected[i]).margin(0.1 * kNs));
  const Timeline later = run(*executor, transfer_graph({{0, 1}}), {Bytes(1448)});
  CHECK(later.ops[0].start.value() == Approx(0.023).margin(0.1 * kNs));
  CHECK(later.ops[0].end.value() == Approx(0.030).margin(0.1 * kNs));
}

TEST_CASE("TCP fills a trace-driven link", "[needs-packet]") {
  require_packet_program();
  // One packet a millisecond, 12 Mbps, but nothing in one tenth of a second of each second.
  std::string trace;
  for (int ms = 1; ms <= 900; ++ms) trace += std::to_string(ms) + "\n";
  trace += "1000\n";
  LinkSpec spec = link(1e9, 10e-3);
  spec.schedule = spec.schedule_back = RateSchedule::from_mahimahi("t", trace);
  // 5 MB are 3,454 packets: 3 * 901 in three seconds, the rest by 3.751 s, and 10 ms of delay.
  const double time = seconds_of(spec, {{0, 1}}, {Bytes(5'000'000)});
  CHECK(time >= 3.761);
  CHECK(time < 3.761 * 1.02);
}

TEST_CASE("the two directions of a half-duplex link share its rate in turns", "[needs-packet]") {
  require_packet_program();
  LinkSpec spec = link(1e8, 100e-6);
  const std::vector<Bytes> both = {Bytes(2'000'000), Bytes(2'000'000)};
  // 2 MB are 2,124,380 bytes with headers, 0.170 s; acknowledgements of 90 bytes for every second
  // segment are 2.9 % more, which only a shared medium feels.
  const double duplex = seconds_of(spec, {{0, 1}, {1, 0}}, both);
  CHECK(duplex == Approx(0.172).epsilon(0.03));
  spec.half_duplex = true;
  const double shared = seconds_of(spec, {{0, 1}, {1, 0}}, both);
  CHECK(shared == Approx(2 * 0.170 * 1.029).epsilon(0.03));
  CHECK(seconds_of(spec, {{0, 1}}, {Bytes(2'000'000)}) == Approx(0.170 * 1.029).epsilon(0.02));
}

TEST_CASE("jitter delays packets by up to so much, and never reorders them", "[needs-packet]") {
  require_packet_program();
  LinkSpec spec = link(1e9, 5e-3);
  spec.jitter = Seconds(4e-3);
  const auto executor = make_packet_executor(pair_of(spec), {});
  // A segment alone: 5 ms, 12.3 us on the link, and uniform up to 4 ms. Mean of 60: 7.0123 ms, its
  // standard error 4 / sqrt(12 * 60) = 0.15 ms.
  double sum = 0, least = 1, most = 0;
  for (int i = 0; i < 60; ++i) {
    const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(1448)});
    const double taken = (timeline.end - timeline.start).value();
    sum += taken;
    least = std::min(least, taken);
    most = std::max(most, taken);
  }
  CHECK(least >= 5.0123e-3 - kNs);
  CHECK(most <= 9.0124e-3);
  CHECK(most - least > 3e-3);
  CHECK(sum / 60 == Approx(7.0123e-3).margin(0.6e-3));
  // 100 segments follow each other closely: had one overtaken another TCP would send it again.
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(144'800)});
  CHECK(timeline.ops[0].retransmissions == 0);
}

TEST_CASE("losses in bursts are drawn from the seed", "[needs-packet]") {
  require_packet_program();
  LinkSpec spec = link(1e8, 1e-3);
  const std::vector<Bytes> bytes = {Bytes(2'000'000)};
  const double clear = seconds_of(spec, {{0, 1}}, bytes);
  spec.burst = {0.01, 0.25, 1};
  const double one = seconds_of(spec, {{0, 1}}, bytes, 1);
  CHECK(one > clear);
  CHECK(seconds_of(spec, {{0, 1}}, bytes, 1) == one);
  CHECK(seconds_of(spec, {{0, 1}}, bytes, 2) != one);
  spec.burst.enter = 0;
  CHECK(seconds_of(spec, {{0, 1}}, bytes) == clear);
}

TEST_CASE("opening connections loses nothing to a link that is out", "[needs-packet]") {
  require_packet_program();
  LinkSpec spec = link(1e9, 5e-3);
  spec.outages = {{Seconds(0), Seconds(1)}};
  // The segment waits for the outage's end; the handshake took no time of the session's clock.
  CHECK(seconds_of(spec, {{0, 1}}, {Bytes(1448)}) == Approx(1.005012).margin(1e-6));
}
