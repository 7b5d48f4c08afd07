#include "trainers/step_template.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/trainers/support.h"
#include "trainers/movers.h"

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

TEST_CASE("times: compute is slowed by its worker's factor, decoding counts every message") {
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
  // compute (1 + 2 + 4)(1 + 3) = 28; codec 2 (8 + 2 * 16) = 80.
  CHECK(total == Approx(28 + 80));
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
