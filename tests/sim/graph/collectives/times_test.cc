#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/graph/collectives/support.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

TEST_CASE("times on a star: broadcast in log N turns, halving-doubling at 2 (N - 1) / N") {
  // 10 MB at 1 Gbps are 10e6 x 1,538 / 1,448 x 8 / 1e9 = 0.08497 s.
  const double whole = 0.08497;
  const Cluster star = Cluster::star(8, link(1e9, 1e-6));
  const CollectiveSpec broadcast = ring_spec(CollectiveKind::kTreeBroadcast, 8, 0);
  CHECK(seconds("flow", star, broadcast, {10'000'000}) == Approx(3 * whole).epsilon(0.03));
  const CollectiveSpec halving = ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 8, 2'500'000);
  CHECK(seconds("flow", star, halving) == Approx(1.75 * whole * 1.029).epsilon(0.03));
  const CollectiveSpec tree = ring_spec(CollectiveKind::kTreeAllReduce, 8, 2'500'000);
  CHECK(seconds("flow", star, tree) == Approx(6 * whole).epsilon(0.05));
  // Every rank gives and takes 7/8 of 10 MB at once.
  const CollectiveSpec exchange = ring_spec(CollectiveKind::kAllToAll, 8, 0);
  CHECK(seconds("flow", star, exchange, std::vector<std::int64_t>(8, 10'000'000)) ==
        Approx(0.875 * whole * 1.029).epsilon(0.03));
}

TEST_CASE("two levels pay where links inside a machine are fast") {
  const Cluster cluster = gpu_nodes({16, 4, 1, link(1e11, 1e-6), link(1e9, 1e-5)});
  const CollectiveSpec two = reduction(CollectiveKind::kTwoLevelAllReduce, 16, 2'500'000, 4);
  CollectiveSpec in_order = two;
  std::reverse(in_order.members.begin(), in_order.members.end());
  const CollectiveSpec halving =
      ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 16, 2'500'000);
  CHECK(seconds("flow", cluster, in_order) < 0.5 * seconds("flow", cluster, halving));
}

TEST_CASE("model and flow agree on the collectives where nobody is in the way") {
  const Cluster star = Cluster::star(8, link(1e9, 5e-5));
  const auto compare = [&](CollectiveSpec spec, const std::vector<std::int64_t>& sizes) {
    spec.group = 4;
    const double flow = seconds("flow", star, spec, sizes);
    INFO(name_of(spec.kind));
    CHECK(seconds("model", star, spec, sizes) == Approx(flow).epsilon(0.06));
    const Timeline t = run(*make("model", star), Step(graph_of(spec), sizes));
    CHECK(t.ops[0].payload.count() == payload_in_flow(spec, sizes));
    CHECK(t.ops[0].transfers ==
          run(*make("flow", star), Step(graph_of(spec), sizes)).ops[0].transfers);
  };
  compare(ring_spec(CollectiveKind::kTreeAllReduce, 8, 2'500'000), {});
  compare(ring_spec(CollectiveKind::kHalvingDoublingAllReduce, 8, 2'500'000), {});
  compare(ring_spec(CollectiveKind::kTwoLevelAllReduce, 8, 2'500'000), {});
  compare(ring_spec(CollectiveKind::kTreeBroadcast, 8, 0), {10'000'000});
  compare(ring_spec(CollectiveKind::kAllToAll, 8, 0), std::vector<std::int64_t>(8, 10'000'000));
  compare(ring_spec(CollectiveKind::kDirectAllGather, 8, 0),
          std::vector<std::int64_t>(8, 5'000'000));
}

TEST_CASE("hops may need time to be added, and ranks may come late") {
  for (const CollectiveKind kind : kAllReduces) {
    CollectiveSpec spec = reduction(kind, 5, 100'000, 2);
    spec.hop_per_element = Seconds(1e-7);
    GraphBuilder builder;
    const OpIndex late = builder.add_operation(OpKind::kCompute, Lane::kCompute, 2, "late");
    builder.add_collective(spec, "all-reduce", std::vector<OpIndex>{late});
    const Step step(builder.finish(), {}, {0.5, 0});
    const Timeline t = run(*make("flow", Cluster::star(5, {})), step);
    INFO(name_of(kind));
    for (const Seconds done : t.rank_done[0]) CHECK(done.value() > 0.5);
    CHECK(t.end.value() < 0.6);
  }
}
