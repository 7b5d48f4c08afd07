#include "trainers/timing/step_template.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/trainers/support.h"
#include "trainers/routes/movers.h"

namespace gradwire::trainers {
namespace {

std::vector<Stage> ring_stages(std::size_t bucket) {
  return {{StageKind::kWorker, sim::OpKind::kEncode, "encode", StageCost::kEncode},
          {StageKind::kCollective, sim::OpKind::kCollective, "all-gather", StageCost::kNone,
           collective_spec(sim::CollectiveKind::kRingAllGather, 2, 10, bucket)},
          {StageKind::kWorker, sim::OpKind::kDecode, "decode", StageCost::kDecodeAll}};
}

bool depends(const sim::GraphTemplate& graph, sim::OpIndex op, sim::OpIndex on) {
  const auto all = graph.dependencies(op);
  return std::find(all.begin(), all.end(), on) != all.end();
}

TEST_CASE("two workers, two buckets: 2 x (1 + 2 + 2 + 2 + 1) operations and 2 collectives") {
  const StepTemplate plan(2, {ring_stages(0), ring_stages(1)}, true);
  const sim::GraphTemplate& graph = *plan.graph();
  CHECK(graph.size() == 2 * (1 + 2 + 2 + 2 + 1) + 2);
  const sim::OpIndex first = plan.collective(0, 1), second = plan.collective(1, 1);
  CHECK(graph.kind[first] == sim::OpKind::kCollective);
  // One communication stream: bucket 1's collective follows bucket 0's.
  CHECK(depends(graph, second, first));
  CHECK(graph.bytes_begin.back() == 4);
}

TEST_CASE("each shard of a server adds when its own messages are there, and answers then") {
  const std::vector<Stage> stages = {
      {StageKind::kCollective, sim::OpKind::kCollective, "push", StageCost::kNone,
       collective_spec(sim::CollectiveKind::kPush, 2, 10, 0)},
      {StageKind::kServer, sim::OpKind::kAggregate, "aggregate", StageCost::kAggregateAll},
      {StageKind::kCollective, sim::OpKind::kCollective, "pull", StageCost::kNone,
       collective_spec(sim::CollectiveKind::kPull, 2, 10, 0)}};
  const StepTemplate plan(2, {stages, stages}, true, 3);
  const sim::GraphTemplate& graph = *plan.graph();
  CHECK(graph.hosts == 5);
  for (std::size_t s = 0; s < 3; ++s) {
    const sim::OpIndex push = plan.collective(0, 0, s), add = plan.collective(0, 1, s),
                       pull = plan.collective(0, 2, s);
    CHECK(graph.collectives[static_cast<std::size_t>(graph.peer[push])].server ==
          2 + static_cast<int>(s));
    CHECK(graph.worker[add] == 2 + static_cast<int>(s));
    CHECK(depends(graph, add, push));
    CHECK(depends(graph, pull, add));
    for (std::size_t other = 0; other < 3; ++other) {
      // No shard waits for another before its answer; the next bucket follows all of them.
      CHECK(depends(graph, pull, plan.collective(0, 1, other)) == (s == other));
      CHECK(depends(graph, plan.collective(1, 0, s), plan.collective(0, 2, other)));
    }
    CHECK(depends(graph, plan.update(0), plan.collective(1, 2, s)));
  }
  scenarios::ComputeProfile profile = fixed_profile({10, 10});
  profile.buckets[0].aggregate = Seconds(6);
  // Two workers' messages, a third of them each.
  const std::vector<Seconds> seconds = plan.seconds(profile, std::vector<double>{1, 1});
  CHECK(seconds[plan.collective(0, 1, 2)].value() == Approx(2 * 6.0 / 3));
}

std::vector<Stage> reduced_stages(std::size_t bucket) {
  return {{StageKind::kCollective, sim::OpKind::kCollective, "reduce-scatter", StageCost::kNone,
           collective_spec(sim::CollectiveKind::kRingReduceScatter, 2, 10, bucket)}};
}

TEST_CASE("stage 2 of ZeRO: weights are gathered in forward order before the next step") {
  const StepTemplate plan(2, {reduced_stages(0), reduced_stages(1), reduced_stages(2)}, true, 1, 2);
  const sim::GraphTemplate& graph = *plan.graph();
  CHECK(graph.size() == 2 * (1 + 3 + 1) + 3 + 3);
  for (int w = 0; w < 2; ++w) CHECK(depends(graph, plan.gather(0, 2), plan.update(w)));
  CHECK(depends(graph, plan.gather(0, 1), plan.gather(0, 2)));
  CHECK(depends(graph, plan.gather(0, 0), plan.gather(0, 1)));
  const auto edges = plan.edges_from(sim::GraphId{7}, plan.ends());
  REQUIRE(edges.size() == 2);
  CHECK(edges[1].from.op == plan.gather(0, 0));
  CHECK(edges[1].to == plan.forward(1));
  // No more than two buckets of whole gradients: backward b2 waits for bucket 0's sum.
  const auto waiting = [&](int zero) {
    const StepTemplate one(2, {reduced_stages(0), reduced_stages(1), reduced_stages(2)}, true, 1,
                           zero);
    const sim::GraphTemplate& steps = *one.graph();
    for (sim::OpIndex op = 0; op < steps.size(); ++op)
      if (steps.labels[steps.label[op]] == "backward b2" &&
          depends(steps, op, one.collective(0, 0)))
        return true;
    return false;
  };
  CHECK(waiting(2));
  CHECK(waiting(3));
  CHECK_FALSE(waiting(1));
}

TEST_CASE("stage 3 of ZeRO: no pass goes through a bucket before its weights are there") {
  const StepTemplate plan(2, {reduced_stages(0), reduced_stages(1), reduced_stages(2)}, true, 1, 3);
  const sim::GraphTemplate& graph = *plan.graph();
  CHECK(graph.size() == 2 * (3 + 3 + 1) + 3 + 6);
  const auto first_of = [&](const std::string& label) {
    for (sim::OpIndex op = 0; op < graph.size(); ++op)
      if (graph.labels[graph.label[op]] == label) return op;
    FAIL(label);
    return sim::OpIndex{0};
  };
  for (std::size_t b = 0; b < 3; ++b) {
    const std::string bucket = " b" + std::to_string(b);
    CHECK(depends(graph, first_of("forward" + bucket), plan.gather(0, b)));
    CHECK(depends(graph, first_of("backward" + bucket), plan.gather(1, b)));
  }
  // One bucket ahead of the pass, which goes b2, b1, b0.
  CHECK(depends(graph, plan.gather(0, 0), first_of("forward b2")));
  CHECK(depends(graph, plan.gather(1, 2), first_of("backward b0")));
  CHECK_FALSE(depends(graph, plan.gather(0, 1), first_of("forward b2")));
  const auto edges = plan.edges_from(sim::GraphId{7}, plan.ends());
  CHECK(edges[1].from.op == plan.update(1));
  CHECK(edges[1].to == plan.gather(0, 2));
  // Parts of the forward pass take what parts of the backward pass take of theirs: 1, 1 and 2.
  scenarios::ComputeProfile profile = fixed_profile({10, 10, 10});
  profile.forward = Seconds(8);
  for (std::size_t b = 0; b < 3; ++b) profile.buckets[b].backward = Seconds(b == 2 ? 2 : 1);
  const std::vector<Seconds> seconds = plan.seconds(profile, std::vector<double>{1, 1});
  CHECK(seconds[first_of("forward b0")] == Seconds(2));
  CHECK(seconds[first_of("forward b2")] == Seconds(4));
}

TEST_CASE("times: a worker's factor slows compute and codec, decoding counts every message") {
  const StepTemplate plan(2, {ring_stages(0)}, true);
  scenarios::ComputeProfile profile = fixed_profile({10});
  profile.forward = Seconds(1);
  profile.update = Seconds(4);
  profile.buckets[0].backward = Seconds(2);
  profile.buckets[0].encode = Seconds(8);
  profile.buckets[0].decode = Seconds(16);
  const std::vector<double> slowdown{1, 3};
  const std::vector<Seconds> seconds = plan.seconds(profile, slowdown);
  CHECK(seconds[plan.forward(1)] == Seconds(3));
  CHECK(seconds[plan.update(1)] == Seconds(12));
  double total = 0;
  for (const Seconds s : seconds) total += s.value();
  // compute (1 + 2 + 4)(1 + 3) = 28; codec (8 + 2 * 16)(1 + 3) = 160.
  CHECK(total == Approx(28 + 160));
}

TEST_CASE("without overlap the exchange waits for the whole backward pass") {
  const auto first_encode_after = [](bool overlap) {
    const StepTemplate plan(2, {ring_stages(0), ring_stages(1)}, overlap);
    const sim::GraphTemplate& graph = *plan.graph();
    for (sim::OpIndex op = 0; op < graph.size(); ++op) {
      if (graph.kind[op] != sim::OpKind::kEncode) continue;
      return graph.labels[graph.label[graph.dependencies(op)[0]]];
    }
    return std::string();
  };
  CHECK(first_encode_after(true) == "backward b0");
  CHECK(first_encode_after(false) == "backward b1");
}

}  // namespace
}  // namespace gradwire::trainers
