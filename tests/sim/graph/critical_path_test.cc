#include "sim/graph/critical_path.h"

#include <catch2/catch.hpp>

#include "sim/graph/gossip_graph.h"
#include "sim/graph/pipeline.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// 8 Mbps without headers or start-up: 1 MB a second, and no delay.
std::unique_ptr<Executor> ideal(int hosts) {
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kIdeal;
  return make("flow", Cluster::star(hosts, link(8e6, 0)), options);
}

std::string text_of(const std::vector<CriticalPath::Piece>& path) {
  std::string text;
  for (const auto& piece : path)
    text += (text.empty() ? "" : ", ") + piece.label + "@" + std::to_string(piece.host);
  return text;
}

double length(const std::vector<CriticalPath::Piece>& path) {
  double sum = 0;
  for (const auto& piece : path) sum += piece.end - piece.start;
  return sum;
}

std::vector<CriticalPath::Piece> path_of(const Step& step, const Timeline& timeline) {
  CriticalPath path;
  path.add(step.graph, timeline, {});
  return path.find();
}

}  // namespace

TEST_CASE("critical path: through work, a transfer, and the lane that was taken") {
  // Host 0 computes 1 s and sends 1 MB (1 s) to host 1, which computes 2 s with it; host 1 has done
  // something else of 0.5 s before. Then it has 1 s more on the same lane, which waits for nothing
  // but the lane.
  GraphBuilder builder;
  const OpIndex a = builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "make");
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 1, "else");
  const OpIndex t = builder.add_transfer(0, 1, "send", {}, std::vector<OpIndex>{a});
  const OpIndex u =
      builder.add_operation(OpKind::kCompute, Lane::kCompute, 1, "use", std::vector<OpIndex>{t});
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 1, "more", std::vector<OpIndex>{t});
  CHECK(u == 3);
  const Step step(builder.finish(), {1'000'000}, {1, 0.5, 0, 2, 1});
  const Timeline timeline = run(*ideal(2), step);
  const auto path = path_of(step, timeline);
  CHECK(text_of(path) == "make@0, send@0, use@1, more@1");
  CHECK(timeline.end.value() == Approx(5));  // 1 + 1 + 2 + 1
  CHECK(length(path) == Approx(5));
}

TEST_CASE("critical path: a collective waits for its slowest rank") {
  // Ranks compute 1, 3 and 1 s; a ring of 3 MB on 3 hosts takes 4 hops of 1 MB; then 1 s of update.
  GraphBuilder builder;
  std::vector<OpIndex> ready;
  for (int w = 0; w < 3; ++w)
    ready.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, w, "work"));
  const OpIndex all = builder.add_collective(ring_spec(CollectiveKind::kRingAllReduce, 3, 750'000),
                                             "all-reduce", ready);
  for (int w = 0; w < 3; ++w)
    builder.add_operation(OpKind::kCompute, Lane::kCompute, w, "update", std::vector<OpIndex>{all});
  const Step step(builder.finish(), {}, {1, 3, 1, 0, 1, 1, 1});
  const Timeline timeline = run(*ideal(3), step);
  const auto path = path_of(step, timeline);
  REQUIRE(path.size() == 3);
  CHECK(text_of({path[0]}) == "work@1");
  CHECK(path[1].label == "all-reduce");
  CHECK(path[1].start == Approx(3));
  CHECK(path[1].host == path[2].host);
  CHECK(length(path) == Approx(timeline.end.value()));
  CHECK(timeline.end.value() >= 3 + 4 + 1 - 1e-6);
}

TEST_CASE("critical path: a gossip waits for neighbours, not for all") {
  // A path 0-1-2-3, worker 3 is ready after 5 s, the others at once; then worker 0 works 20 s: what
  // worker 3 did has nothing to do with the end.
  GraphBuilder builder;
  std::vector<OpIndex> ready;
  for (int w = 0; w < 4; ++w)
    ready.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, w, "work"));
  CollectiveSpec spec = ring_spec(CollectiveKind::kGossip, 4, 0);
  set_neighbours(spec, {{0, 1}, {1, 2}, {2, 3}});
  const OpIndex gossip = builder.add_collective(spec, "gossip", ready);
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "long", std::vector<OpIndex>{gossip});
  const Step step(builder.finish(), {1000, 1000, 1000, 1000}, {1, 2, 1, 5, 0, 20});
  CHECK(text_of(path_of(step, run(*ideal(4), step))) == "work@1, gossip@0, long@0");
}

TEST_CASE("critical path: steps follow one another through their edges") {
  const PipelinePlan plan{
      PipelineSchedule::kOneForwardOneBackward, 4,
      {Seconds(1), Seconds(2), Seconds(1)},     {Seconds(2), Seconds(3), Seconds(2)},
      {Seconds(1), Seconds(1), Seconds(1)},     {Bytes(300'000), Bytes(100'000)}};
  const PipelineStep step = build_pipeline(plan);
  const auto executor = ideal(3);
  CriticalPath path;
  std::vector<CrossEdge> after;
  double end = 0;
  for (int i = 0; i < 3; ++i) {
    const GraphId id = executor->submit({step.graph, step.bytes, step.seconds, Seconds(0), after});
    end = run_to_end(*executor, id).end.value();
    path.add(step.graph, executor->timeline(id), after);
    after.clear();
    for (std::size_t s = 0; s < 3; ++s) after.push_back({{id, step.update[s]}, step.first[s]});
  }
  const auto pieces = path.find();
  CHECK(pieces.front().step == 0);
  CHECK(pieces.back().step == 2);
  for (std::size_t i = 1; i < pieces.size(); ++i)
    CHECK(pieces[i].start == Approx(pieces[i - 1].end));
  CHECK(length(pieces) == Approx(end));
}
