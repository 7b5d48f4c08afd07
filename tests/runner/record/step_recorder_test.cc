#include "runner/record/step_recorder.h"

#include <catch2/catch.hpp>
#include <map>

#include "results/runs/exposed.h"
#include "runner/record/message_sizes.h"
#include "sim/executors.h"

using namespace gradwire;
using namespace gradwire::runner;
using results::TimelineSegment;

namespace {

constexpr double kBits = 1e9;  ///< of a link

sim::Cluster star(int hosts) {
  return sim::Cluster::star(hosts, {BitsPerSecond(kBits), Seconds(50e-6)});
}

sim::CollectiveSpec collective(sim::CollectiveKind kind, int ranks) {
  sim::CollectiveSpec spec;
  spec.kind = kind;
  for (int r = 0; r < ranks; ++r) spec.members.push_back(r);
  return spec;
}

/// One exchange among `workers`, without computation.
scenarios::StepPlan exchange(sim::CollectiveSpec spec, std::vector<Bytes> bytes, Bytes payload,
                             Bytes dense) {
  scenarios::StepPlan plan;
  sim::GraphBuilder builder;
  builder.add_collective(std::move(spec), "exchange");
  plan.graph = builder.finish();
  plan.bytes = std::move(bytes);
  plan.seconds.resize(plan.graph->size());
  plan.payload = payload;
  plan.dense_payload = dense;
  return plan;
}

/// As a schedule reports a step that is one graph.
results::StepRow record_step(StepRecorder& recorder, const scenarios::StepPlan& plan,
                             const sim::Timeline& timeline, Seconds end) {
  scenarios::StepReport report;
  report.end = end;
  report.payload = plan.payload;
  report.dense_payload = plan.dense_payload;
  report.dense_messages = plan.dense_messages;
  return recorder.record(report, std::vector<RanWork>{{plan, timeline, {}}});
}

struct Recorded {
  results::StepRow row;
  std::vector<TimelineSegment> segments;
  std::optional<double> compression, traffic;
};

Recorded record(const scenarios::StepPlan& plan, int workers, Bytes gradients, int hosts) {
  const sim::Cluster cluster = star(hosts);
  const sim::ExecutorOptions options;
  const auto executor = sim::make_executor("flow", cluster, options);
  const sim::Timeline timeline =
      sim::run_to_end(*executor, executor->submit(scenarios::submission_of(plan)));
  StepRecorder recorder(workers, options.transport, gradients);
  const results::StepRow row = record_step(recorder, plan, timeline, timeline.end);
  return {row, recorder.segments(), recorder.compression_ratio(), recorder.traffic_ratio()};
}

}  // namespace

TEST_CASE("the compression ratio is a message's, the traffic ratio grows with an all-gather") {
  // 1 MB of gradients a worker, messages of 100 kB: compression 0.1. Each worker receives N - 1
  // messages; fp32 values go round a ring, 2 (N - 1) / N of 1 MB a worker. Traffic: N (N - 1) 100
  // kB over 2 (N - 1) 1 MB = N / 20.
  constexpr std::int64_t kGradient = 1'000'000, kMessage = 100'000;
  for (const int n : {2, 4, 8, 16}) {
    const std::vector<Bytes> sizes(static_cast<std::size_t>(n), Bytes(kMessage));
    const auto plan = exchange(collective(sim::CollectiveKind::kRingAllGather, n), sizes,
                               Bytes(kMessage * n * (n - 1)), Bytes(2 * (n - 1) * kGradient));
    const Recorded one = record(plan, n, Bytes(kGradient * n), n);
    CAPTURE(n);
    CHECK(one.compression.value() == Approx(0.1));
    CHECK(one.traffic.value() == Approx(n / 20.0).epsilon(0.002));
  }
}

TEST_CASE("fp32 has a traffic ratio of 1 however short its messages are") {
  // 8 workers, 104 values: 2 x 7 x 8 hops of 13 values, 52 bytes and 90 of headers. As one message
  // the payload would take fewer headers, and the ratio would be 2.6.
  sim::CollectiveSpec spec = collective(sim::CollectiveKind::kRingAllReduce, 8);
  spec.elements = 104;
  const Bytes dense = sim::total_payload(spec, {});
  REQUIRE(dense == Bytes(112 * 52));
  CHECK(record(exchange(spec, {}, dense, dense), 8, Bytes(8 * 416), 8).traffic.value() ==
        Approx(1).epsilon(1e-9));
  // A gather of 56 messages beside a ring of 112: 56 x (30 + 90) bytes over 112 x (52 + 90).
  scenarios::StepPlan gather = exchange(collective(sim::CollectiveKind::kRingAllGather, 8),
                                        std::vector<Bytes>(8, Bytes(30)), Bytes(56 * 30), dense);
  gather.dense_messages = 112;
  CHECK(record(gather, 8, Bytes(8 * 416), 8).traffic.value() ==
        Approx(56 * 120 / (112 * 142.0)).epsilon(1e-9));
}

TEST_CASE("a step that is submitted early counts its exchange from when it could begin") {
  // Two workers, 1 MB round a ring. A hop of 500 kB is 346 segments of 1,538 B: 4.25 ms at 125
  // MB/s, 2.9 % more for the other direction's acknowledgements, 0.1 ms on the way and a segment's
  // 0.012 ms on the second link. Two hops are 2 x 4.49 = 8.97 ms. The second exchange waits for the
  // first and takes as long, not twice that. The first one's window is still to open: 3 % more.
  sim::CollectiveSpec spec = collective(sim::CollectiveKind::kRingAllReduce, 2);
  spec.elements = 250'000;
  const Bytes payload = sim::total_payload(spec, {});
  scenarios::StepPlan first = exchange(spec, {}, payload, payload), second = first;
  const sim::Cluster cluster = star(2);
  const sim::ExecutorOptions options;
  const auto executor = sim::make_executor("flow", cluster, options);
  const sim::GraphId earlier = executor->submit(scenarios::submission_of(first));
  second.after.push_back({{earlier, 0}, 0});
  const sim::GraphId later = executor->submit(scenarios::submission_of(second));
  const sim::Timeline ended = sim::run_to_end(*executor, earlier);
  StepRecorder recorder(2, options.transport, Bytes(2'000'000));
  record_step(recorder, first, ended, ended.end);
  const sim::Timeline next = sim::run_to_end(*executor, later);
  REQUIRE(next.start == ended.start);  // else the case shows nothing
  record_step(recorder, second, next, next.end);
  for (const double seconds : recorder.exchange_times())
    CHECK(seconds == Approx(8.97e-3).epsilon(0.035));
}

TEST_CASE("sums that widen on their way count by the terms that a worker encodes") {
  // 8 workers, 1,000,000 elements of 2 bits, sums of 5: 2 / 32 = 0.0625 a message. The same as fp32
  // has 1 and, each segment once, a traffic ratio of 1.
  sim::CollectiveSpec spec = collective(sim::CollectiveKind::kRingAllReduce, 8);
  spec.elements = 1'000'000;
  const Bytes dense = sim::total_payload(spec, {});
  const Recorded plain = record(exchange(spec, {}, dense, dense), 8, Bytes(32'000'000), 8);
  CHECK(plain.compression.value() == Approx(1));
  CHECK(plain.traffic.value() == Approx(1).epsilon(0.001));
  spec.width_bits = {2, 3, 3, 4, 4, 4, 4, 5};
  const Recorded coded =
      record(exchange(spec, {}, sim::total_payload(spec, {}), dense), 8, Bytes(32'000'000), 8);
  CHECK(coded.compression.value() == Approx(0.0625));
  CHECK(coded.traffic.value() > 0.0625);
  // Without gradients there is nothing to compress.
  CHECK_FALSE(record(exchange(spec, {}, dense, dense), 8, Bytes(0), 8).compression);
}

TEST_CASE("a server's answer is nobody's own message") {
  sim::CollectiveSpec push = collective(sim::CollectiveKind::kPush, 2);
  push.server = 2;
  sim::CollectiveSpec pull = push;
  pull.kind = sim::CollectiveKind::kPull;
  scenarios::StepPlan plan;
  sim::GraphBuilder builder;
  const sim::OpIndex up = builder.add_collective(push, "push");
  builder.add_collective(pull, "pull", std::vector{up});
  plan.graph = builder.finish();
  plan.bytes = {Bytes(10), Bytes(20), Bytes(500), Bytes(500)};
  CHECK(own_payload(plan) == Bytes(30));
}

TEST_CASE("a rank's part of a collective begins when that rank is ready") {
  // Worker 0 computes 1 s, worker 1 2 s, then both reduce: worker 0 waits for worker 1 from 1 s on,
  // which is exposed communication; worker 1's part begins at 2 s.
  sim::CollectiveSpec spec = collective(sim::CollectiveKind::kRingAllReduce, 2);
  spec.elements = 250'000;
  scenarios::StepPlan plan;
  sim::GraphBuilder builder;
  std::vector<sim::OpIndex> ready;
  for (int w = 0; w < 2; ++w)
    ready.push_back(
        builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, w, "backward"));
  builder.add_collective(spec, "all-reduce", ready);
  plan.graph = builder.finish();
  plan.seconds = {Seconds(1), Seconds(2), Seconds(0)};
  const Recorded one = record(plan, 2, Bytes(2'000'000), 2);
  std::map<int, TimelineSegment> parts;
  for (const TimelineSegment& segment : one.segments)
    if (segment.label == "all-reduce" && segment.lane == results::kTransferLane)
      parts[segment.worker] = segment;
  CHECK(parts.at(0).start_s == Approx(1));
  CHECK(parts.at(1).start_s == Approx(2));
  CHECK(one.row.exposed_s == Approx((parts.at(0).end_s - 1 + parts.at(1).end_s - 2) / 2));
  CHECK(one.row.exposed_s >
        0.5);  // both from 1 s on would be 1 s, both from 2 s on next to nothing
  CHECK(one.row.exposed_s < 0.6);
  CHECK(one.row.compute_s == Approx(1.5));
}

TEST_CASE("a step splits into compute, codec and exposed communication") {
  // Worker 0: compute 0-2, codec 1-3 (1-2 hides), a transfer from 3 on, then compute for 1 s.
  // Worker 1: compute 0-1, then nothing until the transfer reaches it: that is idle time, 2 s.
  scenarios::StepPlan plan;
  sim::GraphBuilder builder;
  using sim::Lane;
  const auto work = [&](int worker, Lane lane, std::vector<sim::OpIndex> after) {
    return builder.add_operation(sim::OpKind::kCompute, lane, worker, "work", after);
  };
  const sim::OpIndex forward = work(0, Lane::kCompute, {});
  const sim::OpIndex wait = work(1, Lane::kCompute, {});
  const sim::OpIndex encode = work(0, Lane::kCodec, {wait});
  const sim::OpIndex send = builder.add_transfer(0, 1, "data", {}, std::vector{encode});
  work(0, Lane::kCompute, {send, forward});
  plan.graph = builder.finish();
  plan.bytes = {Bytes(1'000'000)};
  plan.seconds = {Seconds(2), Seconds(1), Seconds(2), Seconds(0), Seconds(1)};
  const Recorded one = record(plan, 2, Bytes(0), 2);
  const double sent = one.row.end_s - 4;
  CHECK(sent > 0.008);  // 1 MB at 1 Gbps
  const results::TimeSplit first = results::split_of(one.segments, 1);
  CHECK(first.compute_s == Approx(3));
  CHECK(first.codec_s == Approx(2));
  CHECK(first.exposed_codec_s == Approx(1));
  CHECK(first.exposed_s == Approx(sent));
  CHECK(first.compute_s + first.exposed_codec_s + first.exposed_s == Approx(one.row.end_s));
  // Both have the transfer under way; means over the two.
  CHECK(one.row.exposed_s == Approx(sent));
  CHECK(one.row.compute_s == Approx((3 + 1) / 2.0));
}

TEST_CASE("what a deadline cuts off is not counted as sent") {
  // 100 MB take 0.8 s at 1 Gbps; the step is cut off at 0.1 s.
  scenarios::StepPlan plan;
  sim::GraphBuilder builder;
  const sim::OpIndex quick = builder.add_transfer(0, 1, "quick", {});
  builder.add_transfer(0, 2, "slow", {}, std::vector{quick});
  builder.add_transfer(1, 2, "never", {}, std::vector<sim::OpIndex>{1});
  plan.graph = builder.finish();
  plan.bytes = {Bytes(1000), Bytes(100'000'000), Bytes(5)};
  plan.seconds.resize(3);
  plan.payload = Bytes(100'001'005);
  const sim::Cluster cluster = star(3);
  const sim::ExecutorOptions options;
  const auto executor = sim::make_executor("flow", cluster, options);
  const sim::GraphId graph = executor->submit(scenarios::submission_of(plan));
  std::vector<sim::Event> events;
  while (executor->advance(Seconds(0.1), events)) {
  }
  executor->cancel(graph);
  StepRecorder recorder(3, options.transport, Bytes(0));
  const results::StepRow row = record_step(recorder, plan, executor->timeline(graph), Seconds(0.1));
  CHECK(row.payload_bytes == 1000);
  CHECK(row.wire_bytes >= 1000);
  CHECK(row.wire_bytes < 1200);
}
