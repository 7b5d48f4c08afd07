#include "sim/graph/pipeline.h"

#include <catch2/catch.hpp>

#include "sim/cluster/cluster.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr PipelineSchedule kSchedules[] = {PipelineSchedule::kGpipe,
                                           PipelineSchedule::kOneForwardOneBackward};

PipelinePlan equal_stages(PipelineSchedule schedule, int stages, int micro_batches,
                          std::int64_t bytes) {
  PipelinePlan plan;
  plan.schedule = schedule;
  plan.micro_batches = micro_batches;
  const auto p = static_cast<std::size_t>(stages);
  plan.forward.assign(p, Seconds(1));
  plan.backward.assign(p, Seconds(2));
  plan.update.assign(p, Seconds(0));
  plan.boundary.assign(p - 1, Bytes(bytes));
  return plan;
}

Timeline run_plan(const PipelineStep& step, int stages, double rate = 1e9) {
  const auto executor = make("flow", Cluster::star(stages, link(rate, 1e-5)));
  return run_to_end(*executor, executor->submit({step.graph, step.bytes, step.seconds}));
}

}  // namespace

TEST_CASE("pipeline: equal stages idle (p - 1) / (m + p - 1) of the time, either schedule") {
  for (const PipelineSchedule schedule : kSchedules) {
    for (const int p : {1, 2, 3, 5}) {
      for (const int m : {1, 2, 4, 9}) {
        CAPTURE(p, m);
        const PipelineStep step = build_pipeline(equal_stages(schedule, p, m, 0));
        const double end = run_plan(step, p).end.value();
        // m forwards and backwards of 1 + 2 s each, and p - 1 more before the last stage has one.
        CHECK(end == Approx((m + p - 1) * 3.0));
        CHECK(1 - m * 3.0 / end == Approx(static_cast<double>(p - 1) / (m + p - 1)));
      }
    }
  }
}

TEST_CASE("pipeline: 1F1B keeps p - s micro-batches' activations at most, GPipe all") {
  // On the timeline, whatever the network: a slow one lets a stage keep fewer, never more.
  for (const double rate : {1e9, 1e6}) {
    const PipelineStep gpipe = build_pipeline(equal_stages(PipelineSchedule::kGpipe, 4, 9, 50'000));
    const PipelineStep both =
        build_pipeline(equal_stages(PipelineSchedule::kOneForwardOneBackward, 4, 9, 50'000));
    const Timeline kept_by_gpipe = run_plan(gpipe, 4, rate), kept_by_both = run_plan(both, 4, rate);
    for (int stage = 0; stage < 4; ++stage) {
      CHECK(most_kept(*gpipe.graph, kept_by_gpipe, stage) == 9);
      CHECK(most_kept(*both.graph, kept_by_both, stage) == 4 - stage);
    }
  }
  const PipelineStep few =
      build_pipeline(equal_stages(PipelineSchedule::kOneForwardOneBackward, 4, 2, 0));
  CHECK(most_kept(*few.graph, run_plan(few, 4), 0) == 2);
  // Three stages, four micro-batches, the middle one: F0 then F1 B0 F2 B1 F3 B2, B3.
  std::string text;
  for (const PipelineTask& task : pipeline_order(PipelineSchedule::kOneForwardOneBackward, 3, 1, 4))
    text += (task.backward ? "B" : "F") + std::to_string(task.micro_batch);
  CHECK(text == "F0F1B0F2B1F3B2B3");
}

TEST_CASE("pipeline: every boundary is crossed by each micro-batch once either way") {
  for (const PipelineSchedule schedule : kSchedules) {
    PipelinePlan plan = equal_stages(schedule, 3, 4, 1000);
    plan.boundary[1] = Bytes(50);
    const PipelineStep step = build_pipeline(plan);
    const Timeline timeline = run_plan(step, 3);
    std::int64_t all = 0;
    for (const OpRecord& op : timeline.ops) all += op.payload.count();
    CHECK(all == 2 * 4 * (1000 + 50));
    for (OpIndex op = 0; op < step.graph->size(); ++op)
      for (const OpIndex before : step.graph->dependencies(op))
        CHECK(timeline.ops[op].start >= timeline.ops[before].end);
    CHECK(step.graph->worker[step.update[2]] == 2);
    CHECK(timeline.ops[step.update[2]].end <= timeline.end);
  }
}

TEST_CASE("pipeline: activations on a slow link hold the stages up") {
  // Two stages, one micro-batch of 12.5 MB at 100 Mbps: 1.06 s of wire each way, 3 + 3 s of work.
  const PipelineStep step =
      build_pipeline(equal_stages(PipelineSchedule::kGpipe, 2, 1, 12'500'000));
  CHECK(run_plan(step, 2, 1e8).end.value() == Approx(6 + 2 * 1.0622).epsilon(0.01));
}

TEST_CASE("pipeline: each direction has sizes of its own, and what a codec takes at both ends") {
  // Two stages, one micro-batch: 1 + e + 1.0622 s there + d, 1 + 2, and back 0.1 of the bytes.
  PipelinePlan plan = equal_stages(PipelineSchedule::kGpipe, 2, 1, 12'500'000);
  plan.gradients = {Bytes(1'250'000)};
  const double there = 1.0622, back = 0.10622;
  CHECK(run_plan(build_pipeline(plan), 2, 1e8).end.value() ==
        Approx(6 + there + back).epsilon(0.01));
  plan.coding = {PipelineCoding{Seconds(0.5), Seconds(0.25)}};
  plan.gradient_coding = {PipelineCoding{Seconds(0.125), Seconds(2)}};
  const PipelineStep step = build_pipeline(plan);
  const Timeline timeline = run_plan(step, 2, 1e8);
  CHECK(timeline.end.value() == Approx(6 + there + back + 2.875).epsilon(0.01));
  const PipelineMessage& message = step.activations[0][0];
  CHECK(step.graph->worker[message.encode.value()] == 0);
  CHECK(step.graph->worker[message.decode.value()] == 1);
  CHECK(timeline.ops[message.transfer].payload == Bytes(12'500'000));
  CHECK(timeline.ops[step.gradients[0][0].transfer].payload == Bytes(1'250'000));
  // What waits is the pass alone: by itself the codec's lane holds up no other micro-batch.
  PipelinePlan several = equal_stages(PipelineSchedule::kGpipe, 2, 4, 0);
  const double before = run_plan(build_pipeline(several), 2).end.value();
  several.coding = {PipelineCoding{Seconds(0.5), Seconds(0.5)}};
  CHECK(run_plan(build_pipeline(several), 2).end.value() == Approx(before + 1));
}

TEST_CASE("pipeline: exposed is what a stage waits while its message is on its way") {
  const PipelineStep one = build_pipeline(equal_stages(PipelineSchedule::kGpipe, 2, 1, 12'500'000));
  const Timeline timeline = run_plan(one, 2, 1e8);
  CHECK(exposed_transfer(*one.graph, timeline, 0).value() == Approx(1.0622).epsilon(0.01));
  CHECK(exposed_transfer(*one.graph, timeline, 1).value() == Approx(1.0622).epsilon(0.01));
  // Eight micro-batches, whose messages the link carries faster than stages compute: only the first
  // one's way is waited for, and back only the last one's.
  const PipelineStep many = build_pipeline(equal_stages(PipelineSchedule::kGpipe, 2, 8, 1'250'000));
  const Timeline hidden = run_plan(many, 2, 1e8);
  CHECK(exposed_transfer(*many.graph, hidden, 0).value() == Approx(0.106).epsilon(0.05));
  CHECK(exposed_transfer(*many.graph, hidden, 1).value() == Approx(0.106).epsilon(0.05));
  const PipelineStep free = build_pipeline(equal_stages(PipelineSchedule::kGpipe, 2, 4, 0));
  CHECK(exposed_transfer(*free.graph, run_plan(free, 2), 1).value() == Approx(0).margin(1e-9));
}

TEST_CASE("pipeline: several replicas in a graph do not meet") {
  const PipelinePlan plan = equal_stages(PipelineSchedule::kGpipe, 3, 2, 1000);
  GraphBuilder builder;
  PipelineStep both;
  const PipelinePasses first = add_pipeline(builder, plan, 0, both.bytes, both.seconds);
  const PipelinePasses second = add_pipeline(builder, plan, 3, both.bytes, both.seconds);
  both.graph = builder.finish();
  CHECK(both.graph->hosts == 6);
  CHECK(both.graph->worker[second.first[2]] == 5);
  const Timeline timeline = run_plan(both, 6);
  CHECK(timeline.ops[first.last[0]].end == timeline.ops[second.last[0]].end);
}

TEST_CASE("pipeline: a plan whose sizes do not agree is refused") {
  PipelinePlan plan = equal_stages(PipelineSchedule::kGpipe, 3, 1, 0);
  plan.boundary.pop_back();
  CHECK_THROWS_AS(build_pipeline(plan), SimError);
  CHECK_THROWS_AS(build_pipeline(PipelinePlan{}), SimError);
  plan = equal_stages(PipelineSchedule::kGpipe, 3, 1, 0);
  plan.gradients = {Bytes(1)};
  CHECK_THROWS_AS(build_pipeline(plan), SimError);
}
