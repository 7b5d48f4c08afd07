// Background traffic, hosts that vary and fail, and transports beside TCP.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "sim/flow/flow_network.h"
#include "sim/graph/interpreter.h"
#include "sim/session/background.h"
#include "sim/transport/calibration.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr double kWire = 1538;

BackgroundTraffic traffic(BackgroundTraffic::Pattern pattern, double rate, std::int64_t size) {
  BackgroundTraffic source;
  source.source = 0;
  source.destination = 1;
  source.pattern = pattern;
  source.rate = BitsPerSecond(rate);
  source.size = Bytes(size);
  return source;
}

/// Wire bytes that left host 0 within `seconds` while nothing else happens.
double carried(const BackgroundTraffic& source, double seconds, std::uint64_t seed) {
  Cluster cluster = Cluster::star(3, link(1e9, 1e-4));
  cluster.add_background(source);
  ExecutorOptions options;
  options.seed = seed;
  const auto executor = make("flow", cluster, options);
  std::vector<Event> events;
  while (executor->advance(Seconds(seconds), events)) {
  }
  CHECK(executor->now().value() == seconds);
  return static_cast<double>(executor->channels()[0].wire.count());
}

ExecutorOptions with(TransportSettings::Protocol protocol) {
  ExecutorOptions options;
  options.transport.protocol = protocol;
  return options;
}

/// One graph of one compute operation a host.
Step work(int hosts, double seconds) {
  GraphBuilder builder;
  for (int h = 0; h < hosts; ++h)
    builder.add_operation(OpKind::kCompute, Lane::kCompute, h, "work");
  return Step(builder.finish(), {}, std::vector<double>(static_cast<std::size_t>(hosts), seconds));
}

/// Adds floats that arrive to those of the destination.
class Adder final : public DataHandler {
 public:
  explicit Adder(std::size_t elements) : own_(elements, 1.0f), sum_(elements, 0.0f) {}
  std::span<const std::byte> send(int, OpIndex, const HopTransfer&, ChunkRange) override {
    return std::as_bytes(std::span(own_));
  }
  void receive(int, OpIndex, const HopTransfer&, ChunkRange,
               std::span<const std::byte> payload) override {
    std::vector<float> values(payload.size() / sizeof(float));
    std::memcpy(values.data(), payload.data(), payload.size());
    for (std::size_t i = 0; i < values.size(); ++i) sum_[i] += values[i];
  }
  const std::vector<float>& sum() const { return sum_; }

 private:
  std::vector<float> own_;
  std::vector<float> sum_;
};

}  // namespace

TEST_CASE("Poisson traffic offers its rate, in transfers at random times", "[unit]") {
  // 80 Mbps of 100 kB transfers: 100 a second. In 50 s 5,000 are expected, with a standard
  // deviation of 71; 100 kB are 70 segments of 90 B of headers: 106,300 B on the wire.
  const BackgroundTraffic source = traffic(BackgroundTraffic::Pattern::kPoisson, 80e6, 100000);
  CHECK(carried(source, 50, 1) / 106300 == Approx(5000).margin(4 * 71));
  CHECK(carried(source, 50, 1) == carried(source, 50, 1));
  CHECK(carried(source, 50, 1) != carried(source, 50, 2));
}

TEST_CASE("on-off traffic sends evenly while it is on", "[unit]") {
  BackgroundTraffic source = traffic(BackgroundTraffic::Pattern::kOnOff, 80e6, 100000);
  source.on = Seconds(0.2);
  source.off = Seconds(0.6);
  // On for a quarter of the time: 25 a second; 250 periods in 200 s, each varying by its own
  // length.
  CHECK(carried(source, 200, 1) / 106300 == Approx(5000).epsilon(0.2));
}

TEST_CASE("background traffic takes its share, and does not queue before the work", "[unit]") {
  // A link of 8 Mbps, half of it offered to background of the same pair and direction.
  const Step step = transfers({{0, 1, 1448 * 2000}});
  const Cluster quiet = Cluster::star(2, link(8e6, 1e-3));
  Cluster busy = quiet;
  BackgroundTraffic source = traffic(BackgroundTraffic::Pattern::kPoisson, 4e6, 50000);
  busy.add_background(source);
  const double alone = run(*make("flow", quiet), step).end.value();
  const double beside = run(*make("flow", busy), step).end.value();
  CHECK(alone == Approx(2000 * kWire / 1e6).epsilon(0.02));
  CHECK(beside > 1.5 * alone);  // half the rate is left to it, but for chance
  CHECK(beside < 2.5 * alone);
  // A short transfer behind 64 waiting ones of 10 MB: were they one connection, it would take 640
  // s.
  source.rate = BitsPerSecond(1e9);
  source.size = Bytes(10'000'000);
  Cluster flooded = quiet;
  flooded.add_background(source);
  const auto executor = make("flow", flooded);
  std::vector<Event> events;
  while (executor->advance(Seconds(20), events)) {
  }
  const Timeline timeline = run(*executor, transfers({{0, 1, 14480}}));
  CHECK((timeline.end - timeline.start).value() < 0.2);
}

TEST_CASE("an idle session does not run background traffic for ever", "[unit]") {
  Cluster cluster = Cluster::star(2, link(8e6, 1e-3));
  cluster.add_background(traffic(BackgroundTraffic::Pattern::kPoisson, 1e6, 1000));
  const auto executor = make("flow", cluster);
  std::vector<Event> events;
  CHECK_FALSE(executor->advance(kForever, events));
  CHECK_THROWS_AS(cluster.add_background(traffic(BackgroundTraffic::Pattern::kPoisson, 0, 1)),
                  SimError);
}

TEST_CASE("the spread of a host's times has the mean 1 and varies by so much", "[unit]") {
  HostPlan plan;
  plan.spread = 0.3;
  double sum = 0, squares = 0;
  constexpr int kDraws = 40000;
  for (int i = 0; i < kDraws; ++i) {
    const double t = spread_seconds(plan, 2, 5, 3, static_cast<std::uint64_t>(i / 100 + 1),
                                    static_cast<std::uint32_t>(i % 100));
    CHECK(t > 0);
    sum += t / 2;
    squares += t * t / 4;
  }
  const double mean = sum / kDraws;
  // The standard error of the mean is 0.3 / 200. exp(0.09) - 1 = 0.0942: a deviation of 0.307.
  CHECK(mean == Approx(1).margin(0.006));
  CHECK(std::sqrt(squares / kDraws - mean * mean) == Approx(0.307).epsilon(0.05));
  CHECK(spread_seconds(plan, 2, 5, 3, 1, 1) == spread_seconds(plan, 2, 5, 3, 1, 1));
  CHECK(spread_seconds(plan, 2, 5, 3, 1, 1) != spread_seconds(plan, 2, 6, 3, 1, 1));
  CHECK(spread_seconds({}, 2, 5, 3, 1, 1) == 2);
}

TEST_CASE("a host that is away stands still, and its links with it", "[unit]") {
  Cluster cluster = Cluster::star(3, link(8e6, 1e-3));
  HostPlan plan;
  plan.absences = {{Seconds(1), Seconds(3)}, {Seconds(4), Seconds(4.5)}};
  cluster.set_host_plan(0, plan);
  // 2 s of work from 0 on: 1 s, away for 2 s, 1 s more: done at 4, as the next absence begins.
  const Timeline timeline = run(*make("flow", cluster), work(3, 2));
  CHECK(timeline.ops[0].end.value() == Approx(4));
  CHECK(timeline.ops[1].end.value() == 2);
  CHECK(end_of_work(plan, 0, 2.5) == Approx(5));  // the second one too
  CHECK(end_of_work(plan, 2, 1) == Approx(4));    // begins while it is away
  CHECK(end_of_work(plan, 5, 1) == 6);
  // A transfer of 1.538 s: 1 s of it before, the rest after the absence, and copies of what was
  // waiting, whose timer has gone off (ns-3 3.44: the same). Others go on.
  const Timeline sent = run(*make("flow", cluster), transfers({{0, 1, 1448000}, {1, 2, 1448000}}));
  CHECK(sent.ops[0].end.value() == Approx(3.646086).epsilon(1e-6));
  CHECK(sent.ops[1].end.value() == Approx(1.538).epsilon(0.04));
}

TEST_CASE("a worker that never returns is named", "[unit]") {
  Cluster cluster = Cluster::star(3, link(8e6, 1e-3));
  HostPlan plan;
  plan.absences = {{Seconds(1), kNeverReturns}};
  cluster.set_host_plan(1, plan);
  CHECK_THROWS_WITH(run(*make("flow", cluster), work(3, 2)),
                    Catch::Contains("host 1") && Catch::Contains("never returns"));
  CHECK_THROWS_WITH(run(*make("flow", cluster), transfers({{0, 1, 14480000}})),
                    Catch::Contains("a transfer failed"));
  CHECK(run(*make("flow", cluster), work(3, 0.5)).end.value() == 0.5);
  plan.absences = {{Seconds(2), Seconds(1)}};
  CHECK_THROWS_AS(cluster.set_host_plan(1, plan), SimError);
}

TEST_CASE("the ideal transport is the fluid alone", "[unit]") {
  // Two hops of 8 Mbps and 1 ms: 1,000,000 B in 1 s, without headers, start-up or forwarding.
  const auto options = with(TransportSettings::Protocol::kIdeal);
  const Cluster cluster = Cluster::star(4, link(8e6, 1e-3, 0.1));
  CHECK(run(*make("flow", cluster, options), transfers({{0, 1, 1000000}})).end.value() ==
        Approx(1.002).epsilon(1e-12));
  // Both ways at once: no acknowledgements take anything.
  CHECK(run(*make("flow", cluster, options), transfers({{0, 1, 1000000}, {1, 0, 1000000}}))
            .end.value() == Approx(1.002).epsilon(1e-12));
  // Three into one: a third each; the short one leaves its share to the others.
  const Timeline three = run(*make("flow", cluster, options),
                             transfers({{0, 3, 1000000}, {1, 3, 1000000}, {2, 3, 400000}}));
  CHECK(three.ops[2].end.value() == Approx(1.2 + 2e-3));
  CHECK(three.ops[0].end.value() == Approx(2.4 + 2e-3));
  CHECK(three.ops[0].wire.count() == 1000000);
  CHECK(three.ops[0].retransmissions == 0);
}

TEST_CASE("datagrams that are lost are missing; the last one costs the deadline", "[unit]") {
  auto options = with(TransportSettings::Protocol::kUdpLossy);
  options.transport.deadline = Seconds(0.005);
  const double p = 1 - 0.98 * 0.98;
  const Cluster lossy = Cluster::star(2, link(8e6, 1e-3, 0.02));
  const auto executor = make("flow", lossy, options);
  const Step step = transfers({{0, 1, 1448 * 999 + 100}});
  // 999 full segments and one of 190 B on the wire, which comes before the gaps behind it, 36 B a
  // link, and waits for the segment before on the second link, unless that is lost on the first.
  const double seconds = (999 * kWire + 190) / 1e6 + 2e-3 + (kWire - 2 * 36) / 1e6;
  const double alone = (999 * kWire + 2 * (190 - 36)) / 1e6 + 2e-3;
  // It is due a segment on each link after it was sent, and 1 ns.
  const double late_by = (999 * kWire + 2 * kWire) / 1e6 + 2e-3 + 0.005 + 1e-9;
  double lost = 0;
  int late = 0;
  for (int i = 0; i < 50; ++i) {
    const double begin = executor->now().value();
    const GraphId graph = submit(*executor, step);
    const Timeline timeline = run_to_end(*executor, graph);
    CHECK(timeline.ops[0].retransmissions == 0);
    REQUIRE(executor->missing(graph).size() == 1);
    const MissingData& missing = executor->missing(graph)[0];
    const ByteRange& last = missing.ranges.back();
    const bool waits = last.first + last.count == 1448 * 999 + 100;
    late += waits;
    const bool is_alone = !waits && last.first + last.count == 1448 * 999;
    const double took = timeline.end.value() - begin;
    if (!is_alone || took > alone + 1e-6)
      CHECK(took == Approx(waits ? late_by : seconds).epsilon(1e-9));
    else
      CHECK(took == Approx(alone).epsilon(1e-9));
    std::int64_t end = -1;
    for (const ByteRange& range : missing.ranges) {
      CHECK(range.first > end);  // apart: neighbours are one range
      CHECK(range.first % 1448 == 0);
      end = range.first + range.count;
      CHECK((end % 1448 == 0 || end == 1448 * 999 + 100));
      lost += static_cast<double>(range.count) / 1448;
    }
    executor->forget(graph);
  }
  // 50,000 segments: 1,980 lost, with a standard deviation of 44.
  CHECK(lost == Approx(50000 * p).margin(4 * 44));
  CHECK(late > 0);
  CHECK(late < 10);  // 2 of 50, with a standard deviation of 1.4
  const auto clean = make("flow", Cluster::star(2, link(8e6, 1e-3)), options);
  const GraphId graph = submit(*clean, step);
  run_to_end(*clean, graph);
  CHECK(clean->missing(graph).empty());
}

TEST_CASE("who waits for a last datagram knows by the next message's that it is lost", "[unit]") {
  // Messages of 10 segments, 1.538 ms each at 8 Mbps, way of 2 ms and a segment: one after the
  // other on the connection. The first ends with its last segment, or with the next one's first
  // that comes: a segment later, if that is its first.
  auto options = with(TransportSettings::Protocol::kUdpLossy);
  options.transport.deadline = Seconds(0.2);
  const auto executor = make("flow", Cluster::star(2, link(8e6, 1e-3, 0.3)), options);
  const Step step = transfers({{0, 1, 14480}, {0, 1, 14480}});
  const double segment = kWire / 1e6;
  const double way = 2e-3 + segment - 2 * 36e-6;  // it comes before the gaps behind it
  int waited = 0, met = 0;
  for (int i = 0; i < 60; ++i) {
    const double begin = executor->now().value();
    const GraphId graph = submit(*executor, step);
    const Timeline timeline = run_to_end(*executor, graph);
    std::vector<bool> lost(20, false);
    for (const MissingData& each : executor->missing(graph))
      for (const ByteRange& range : each.ranges)
        for (std::int64_t at = range.first; at < range.first + range.count; at += 1448)
          lost[static_cast<std::size_t>((each.op == 0 ? 0 : 10) + at / 1448)] = true;
    std::size_t end = 9;  // the segment at whose coming the first message ends
    while (end < 20 && lost[end]) ++end;
    const double met_at = (static_cast<double>(end) + 1) * segment + way;
    const double first = timeline.ops[0].end.value() - begin;
    CHECK(first == Approx(end < 20 ? met_at : 11 * segment + 2e-3 + 0.2).epsilon(1e-8));
    const double second = timeline.ops[1].end.value() - begin;
    CHECK(second ==
          Approx(lost[19] ? 21 * segment + 2e-3 + 0.2 : 20 * segment + way).epsilon(1e-8));
    waited += lost[19];
    met += end > 10;
    executor->forget(graph);
  }
  CHECK(waited > 10);
  CHECK(met > 5);
}

TEST_CASE("datagrams have no idle restart, whatever the calibration", "[unit]") {
  auto options = with(TransportSettings::Protocol::kUdpLossy);
  options.transport.constants = shipped_calibration("linux").constants;
  const auto executor = make("flow", Cluster::star(2, link(8e6, 1e-3)), options);
  const Step step = transfers({{0, 1, 1'448'000}});
  for (int i = 0; i < 2; ++i) {
    std::vector<Event> events;
    while (executor->advance(Seconds(5.0 * i), events)) {
    }
    const double begin = executor->now().value();
    const Timeline timeline = run_to_end(*executor, submit(*executor, step));
    CHECK(timeline.end.value() - begin ==
          Approx((1001 * kWire - 2 * 36) / 1e6 + 2e-3).epsilon(1e-9));
  }
}

TEST_CASE("what is missing adds nothing", "[unit]") {
  GraphBuilder builder;
  TransferMeaning meaning;
  meaning.source = meaning.destination = {0, 1000};
  meaning.action = Action::kAdd;
  builder.add_transfer(0, 1, "gradient", meaning);
  const Step step(builder.finish(), {4000});
  const auto executor = make("flow", Cluster::star(2, link(8e6, 1e-3, 0.3)),
                             with(TransportSettings::Protocol::kUdpLossy));
  bool some = false;
  for (int i = 0; i < 10; ++i) {
    const GraphId graph = submit(*executor, step);
    run_to_end(*executor, graph);
    Adder adder(1000);
    interpret(*step.graph, 0, step.bytes, adder, executor->missing(graph));
    std::vector<float> expected(1000, 1.0f);
    for (const MissingData& each : executor->missing(graph)) {
      some = true;
      for (const ByteRange& range : each.ranges) {
        for (std::int64_t b = range.first; b < range.first + range.count; ++b) {
          expected[static_cast<std::size_t>(b / 4)] = 0;
        }
      }
    }
    CHECK(adder.sum() == expected);
  }
  CHECK(some);
}

TEST_CASE("a ring's hops name what they lost", "[unit]") {
  const auto executor = make("flow", Cluster::star(4, link(8e7, 1e-3, 0.05)),
                             with(TransportSettings::Protocol::kUdpLossy));
  const Step step = ring(4, 100000);
  const GraphId graph = submit(*executor, step);
  run_to_end(*executor, graph);
  // 24 hops of 70 segments, lost with 1 - 0.95^2 each: hardly one is whole.
  const auto missing = executor->missing(graph);
  CHECK(missing.size() > 20);
  for (const MissingData& each : missing) {
    CHECK(each.hop.destination_rank == (each.hop.source_rank + 1) % 4);
    CHECK(each.ranges.back().first + each.ranges.back().count <= each.hop.bytes.count());
  }
}
