// Folded against unfolded.
#include <set>

#include "tests/sim/folding/draws.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

TEST_CASE("folded is unfolded, on every topology and of every collective") {
  std::set<std::string> folded;
  std::uint32_t instance = 0;
  std::vector<CollectiveKind> kinds(collective_kinds().begin(), collective_kinds().end());
  for (const CollectiveKind kind : collective_kinds())
    if (kind->repeats != nullptr) kinds.insert(kinds.end(), 3, kind);  // of more sizes
  for (const CollectiveKind kind : kinds) {
    Draws draws(instance++);
    const int columns = 16 + draws.below(9);
    for (const DrawnCluster& drawn : draw_clusters(draws, columns, kind->has_server())) {
      CAPTURE(name_of(kind), drawn.name, columns, drawn.group);
      const CollectiveSpec spec = drawn_spec(kind, drawn, draws);
      const bool may_fold = kind->repeats != nullptr;
      const Step step = two_of(spec, 1 + draws.below(may_fold ? 200'000 : 2'000));
      if (check_same(drawn.cluster, {step, step}) > 0)
        folded.insert(std::string(name_of(kind)) + " on " + drawn.name);
    }
  }
  // Where hosts are joined as the collective goes.
  for (const char* kind : {"ring-all-reduce", "ring-reduce-scatter", "ring-all-gather"})
    for (const char* cluster : {"star", "host ring", "gpu nodes", "two tiers", "wan"})
      CHECK(folded.contains(std::string(kind) + " on " + cluster));
  for (const char* cluster : {"star", "gpu nodes", "two tiers"})
    CHECK(folded.contains(std::string("two-level-all-reduce on ") + cluster));
  // Where they meet in one link, or are not alike.
  for (const std::string& each : folded) {
    CHECK(each.find("dumb-bell") == std::string::npos);
    CHECK((each.starts_with("ring-") || each.starts_with("two-level-")));
  }
}

TEST_CASE("a fold that overlooks one different link is found out") {
  constexpr int kWorkers = 40;
  Cluster even = Cluster::star(kWorkers, link(1e9, 5e-5)), odd = even;
  odd.change_link(23, link(0.999e9, 5e-5));
  const std::vector<Step> steps = {ring(kWorkers, 40'000), ring(kWorkers, 40'000)};
  CHECK(check_same(even, steps) == kWorkers);
  CHECK(check_same(odd, steps) == 0);
  // The even cluster's fold in place of the odd one.
  CHECK(difference(play(even, steps, true), play(odd, steps, false)) > 1e-5);
}

TEST_CASE("what differs in one link or one host is not folded") {
  constexpr int kWorkers = 32;
  const std::vector<Step> steps = {ring(kWorkers, 3200)};
  const Cluster star = Cluster::star(kWorkers, link(1e9, 5e-5));
  CHECK(check_same(star, steps) == kWorkers);
  LinkSpec other = link(1e9, 5e-5);
  const auto with = [&](const LinkSpec& spec) {
    Cluster changed = star;
    changed.change_link(7, spec);
    return changed;
  };
  CHECK(check_same(with(link(1e9, 6e-5)), steps) == 0);
  CHECK(check_same(with(link(1e9, 5e-5, 0.01)), steps) == 0);
  other.queue = Bytes(20'000);
  CHECK(check_same(with(other), steps) == 0);
  other = link(1e9, 5e-5);
  other.outages = {{Seconds(1e-3), Seconds(2e-3)}};
  CHECK(check_same(with(other), steps) == 0);
  // Equal on all links, but drawn for each by itself, or changing.
  CHECK(check_same(Cluster::star(kWorkers, link(1e9, 5e-5, 0.01)), steps) == 0);
  CHECK(check_same(Cluster::star(kWorkers, other), steps) == 0);
  other = link(1e9, 5e-5);
  other.jitter = Seconds(1e-5);
  CHECK(check_same(Cluster::star(kWorkers, other), steps) == 0);
  Cluster slow = star;
  slow.set_host_plan(3, {.spread = 0.1, .absences = {}});
  CHECK(check_same(slow, steps) == 0);
  Cluster busy = star;
  busy.add_background({.source = 1, .destination = 5});
  CHECK(play(busy, steps, true).columns == 0);
  TransportSettings bbr;
  bbr.congestion_control = TransportSettings::CongestionControl::kBbr;
  CHECK(check_same(star, steps, bbr) == 0);
}

TEST_CASE("a library's pace hangs on all ranks: not folded") {
  TransportSettings rdma;
  rdma.protocol = TransportSettings::Protocol::kRdma;
  const Cluster star = Cluster::star(32, link(1e11, 1e-6));
  const std::vector<Step> steps = {ring(32, 320'000)};
  CHECK(check_same(star, steps, rdma) == 32);
  rdma.library = NcclSettings{};
  CHECK(check_same(star, steps, rdma) == 0);
}

TEST_CASE("sizes that repeat are folded by their period, others not") {
  const Cluster star = Cluster::star(96, link(1e9, 5e-5));
  CHECK(check_same(star, {ring(96, 96'000)}) == 96);
  // 96 chunks of 1,000 or 1,001 elements: floor(c x 1/3) repeats after 3.
  CHECK(check_same(star, {ring(96, 96'032)}) == 32);
  CHECK(check_same(star, {ring(96, 96'001)}) == 0);
  GraphBuilder builder;
  builder.add_collective(ring_spec(CollectiveKind::kRingAllGather, 96, 0), "gather");
  const GraphPtr gather = builder.finish();
  std::vector<std::int64_t> sizes(96, 20'000);
  CHECK(check_same(star, {Step(gather, sizes)}) == 96);
  for (std::size_t r = 0; r < sizes.size(); r += 4) sizes[r] = 45'000;
  CHECK(check_same(star, {Step(gather, sizes)}) == 24);
  sizes[50] += 1;
  CHECK(check_same(star, {Step(gather, sizes)}) == 0);
}

TEST_CASE("folding holds for every transport that draws nothing, and with limited queues") {
  LinkSpec limited = link(1e9, 5e-5);
  limited.queue = Bytes(40'000);
  const std::vector<Step> steps = {ring(24, 240'000), ring(24, 240'000)};
  for (const LinkSpec& spec : {link(1e9, 5e-5), link(1e10, 1e-5), limited}) {
    const Cluster star = Cluster::star(24, spec);
    using Protocol = TransportSettings::Protocol;
    for (const Protocol protocol : {Protocol::kTcp, Protocol::kIdeal, Protocol::kUdpLossy}) {
      TransportSettings transport;
      transport.protocol = protocol;
      CHECK(check_same(star, steps, transport) == 24);
    }
    TransportSettings reno;
    reno.congestion_control = TransportSettings::CongestionControl::kReno;
    reno.connections = 2;
    reno.delayed_ack = Seconds(0);
    CHECK(check_same(star, steps, reno) == 24);
  }
}
