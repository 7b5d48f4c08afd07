// Steps of data-parallel training, folded for as long as all workers do the same.
#include "tests/sim/folding/draws.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

constexpr CollectiveKind kRing = CollectiveKind::kRingAllReduce;
constexpr CollectiveKind kTwoLevel = CollectiveKind::kTwoLevelAllReduce;

}  // namespace

TEST_CASE("replicas are computed once: lanes, sums, steps in flight") {
  const Cluster star = Cluster::star(32, link(1e9, 5e-5));
  const Step step = training_step(star, kRing, 1, 32 * 4000);
  CHECK(check_same(star, {step, step, step, step}) == 32);
  const Cluster nodes = gpu_nodes({64, 4, 1, link(1e11, 1e-6), link(1e9, 2e-5)});
  const Step two = training_step(nodes, kTwoLevel, 4, 64 * 1000);
  CHECK(check_same(nodes, {two, two, two}) == 16);
  // The ring of all, in columns of a machine.
  const Step all = training_step(nodes, kRing, 1, 64 * 1000);
  CHECK(check_same(nodes, {all, all}) == 16);
}

TEST_CASE("where who is first among equals matters, all hosts are simulated") {
  // Two sums at once: what is left of one message meets the next one's first segments.
  for (const double delay : {5e-5, 5e-3}) {
    const Cluster star = Cluster::star(24, link(1e9, delay));
    const Step step = training_step(star, kRing, 1, 24 * 4000, true);
    check_same(star, {step, step, step});
  }
  const Cluster slow = Cluster::star(24, link(2e7, 5e-3));
  check_same(slow, {ring(24, 240'000), ring(24, 240'000)});
}

TEST_CASE("from the first step on that is not alike, all hosts are simulated") {
  const Cluster star = Cluster::star(32, link(1e9, 5e-5));
  const Step even = training_step(star, kRing, 1, 32 * 4000);
  const Step odd = training_step(star, kRing, 1, 32 * 4000, false, 5);
  CHECK(check_same(star, {even, even, odd, even, even}) == 0);
  CHECK(check_same(star, {odd, even, even}) == 0);
  // Another collective, whose schedule does not repeat.
  const Step tree = training_step(star, CollectiveKind::kTreeAllReduce, 1, 32 * 4000);
  CHECK(check_same(star, {even, even, tree, even}) == 0);
  // A plain transfer between two of the hosts.
  GraphBuilder builder;
  builder.add_transfer(3, 9, "transfer", {});
  const Step transfer(builder.finish(), {500'000});
  CHECK(check_same(star, {even, transfer, even}) == 0);
}

TEST_CASE("a graph that is cancelled halfway, and what follows it") {
  const Cluster star = Cluster::star(24, link(1e9, 5e-5));
  const Step step = training_step(star, kRing, 1, 24 * 4000);
  Outcome outcomes[2];
  for (const bool fold : {false, true}) {
    ExecutorOptions options;
    options.fold = fold;
    const auto executor = make("flow", star, options);
    Outcome& outcome = outcomes[fold];
    CHECK_FALSE(executor->advance(Seconds(0.25), outcome.events));  // nothing was asked for yet
    CHECK(executor->now() == Seconds(0.25));
    const GraphId first = submit(*executor, step);
    while (executor->advance(Seconds(0.255), outcome.events)) {
    }
    CHECK(executor->now() == Seconds(0.255));
    outcome.timelines.push_back(executor->timeline(first));
    CHECK(outcome.timelines.back().ops.back().end < Seconds(0));
    executor->cancel(first);
    const GraphId second = submit(*executor, step);
    while (executor->advance(kForever, outcome.events)) {
    }
    outcome.timelines.push_back(executor->timeline(first));
    outcome.timelines.push_back(executor->timeline(second));
    outcome.channels = executor->channels();
    CHECK(columns_of(*executor) == (fold ? 24 : 0));
  }
  CHECK(difference(outcomes[0], outcomes[1]) <= 1e-9);
}

TEST_CASE("a transfer that outlasts the limit is told of the host that waits for it") {
  const Cluster star = Cluster::star(16, link(1e6, 1e-3));
  Outcome outcomes[2];
  for (const bool fold : {false, true}) {
    ExecutorOptions options;
    options.fold = fold;
    options.transfer_limit = Seconds(0.5);
    const auto executor = make("flow", star, options);
    submit(*executor, ring(16, 16 * 100'000));  // 400 kB a hop: 3.3 s
    outcomes[fold].events = drain(*executor);
  }
  CHECK(outcomes[0].events.size() == 16);
  CHECK(difference(outcomes[0], outcomes[1]) <= 1e-9);
}
