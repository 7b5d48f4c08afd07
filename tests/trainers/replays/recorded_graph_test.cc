#include "trainers/replays/recorded_graph.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "sim/executors.h"
#include "sim/graph/timeline_hash.h"
#include "tests/bridge/chakra/trace_bytes.h"
#include "tests/trainers/replays/recorded_text.h"

using namespace gradwire;
using namespace gradwire::trainers;
using Catch::Contains;
using gradwire::testing::members;
using gradwire::testing::RecordedText;

namespace {

struct Ran {
  std::vector<double> ends;  ///< by step
  std::vector<std::uint64_t> hashes;
  std::vector<Bytes> payloads;
};

/// All steps of a recording on a star of 1 Gbps in `flow`, two in flight.
Ran run(const bridge::Recording& recording, const std::string& executor_name = "flow",
        RecordedGraph::Backend backend = RecordedGraph::Backend::kNccl) {
  const RecordedSteps steps(recording, "a.jsonl");
  RecordedGraph graph(steps, backend);
  const auto cluster = sim::Cluster::star(recording.header.world, {});
  const auto executor = sim::make_executor(executor_name, cluster, {});
  std::vector<sim::GraphId> graphs;
  Ran ran;
  for (std::int64_t k = 0; k < steps.size(); ++k) {
    const RecordedStep step = graph.next();
    std::vector<sim::CrossEdge> after;
    for (const auto& edge : step.after)
      after.push_back({{graphs[static_cast<std::size_t>(edge.from.step)], edge.from.op}, edge.to});
    graphs.push_back(executor->submit({step.graph, step.bytes, step.seconds, Seconds(0), after}));
    ran.payloads.push_back(step.payload);
  }
  for (const sim::GraphId id : graphs) {
    const sim::Timeline& timeline = sim::run_to_end(*executor, id);
    ran.ends.push_back(timeline.end.value());
    ran.hashes.push_back(sim::timeline_hash(timeline));
  }
  return ran;
}

Ran run(const std::string& text, const std::string& executor_name = "flow",
        RecordedGraph::Backend backend = RecordedGraph::Backend::kNccl) {
  return run(bridge::parse_recording(text, "a.jsonl"), executor_name, backend);
}

/// Two ranks reduce 100,000 elements: each computes `before`, then `beside` between call and wait.
std::string reduces(double before, double beside, double straggle = 0) {
  RecordedText text(2);
  for (int rank = 0; rank < 2; ++rank) {
    const double late = rank == 1 ? straggle : 0;
    const int call =
        text.call(rank, before + late, members("all-reduce", 100'000, ",\"o\":\"sum\""));
    text.wait(rank, beside, call);
    text.step(rank, 0.001);
    text.end(rank);
  }
  return text.text();
}

double one_step(const std::string& text) {
  const Ran ran = run(text);
  REQUIRE(ran.ends.size() == 1);
  return ran.ends.front();
}

/// What all ranks send where each calls `call` once in group 0.
std::int64_t payload(int world, const std::vector<std::string>& calls,
                     RecordedGraph::Backend backend = RecordedGraph::Backend::kNccl) {
  RecordedText text(world);
  for (int rank = 0; rank < world; ++rank) {
    const std::string& own = calls[calls.size() == 1 ? 0 : static_cast<std::size_t>(rank)];
    text.wait(rank, 0, text.call(rank, 0, own));
    text.end(rank);
  }
  const Ran ran = run(text.text(), "flow", backend);
  CHECK(ran.ends.back() > 0);
  return ran.payloads.front().count();
}

}  // namespace

TEST_CASE("recorded graph: compute between a call and its wait hides communication", "[unit]") {
  const double alone = one_step(reduces(0.010, 0)) - 0.011;  // the all-reduce's own time
  // 100,000 x 4 B round a ring of two: 400 kB each, 3.2 ms at 1 Gbps, headers and start-up on top.
  CHECK(alone > 3.2e-3);
  CHECK(alone < 6e-3);
  CHECK(one_step(reduces(0.010, 0.001)) == Approx(0.010 + alone + 0.001).epsilon(1e-9));
  CHECK(one_step(reduces(0.010, 0.020)) == Approx(0.010 + 0.020 + 0.001).epsilon(1e-9));
  // A late rank holds up both; what has come to it meanwhile goes on at once.
  CHECK(one_step(reduces(0.010, 0, 0.050)) == Approx(0.060 + alone + 0.001).margin(2e-4));
}

TEST_CASE("recorded graph: what is waited for at once does not overlap", "[unit]") {
  // Negative control of the case above: the same compute, before the call.
  const double alone = one_step(reduces(0.010, 0)) - 0.011;
  CHECK(one_step(reduces(0.030, 0)) == Approx(0.030 + alone + 0.001).epsilon(1e-9));
}

TEST_CASE("recorded graph: what each collective sends", "[unit]") {
  constexpr int n = 4, e = 1000;
  const std::string root = ",\"p\":2", sum = ",\"o\":\"sum\"";
  CHECK(payload(n, {members("all-reduce", e, sum)}) == 2 * (n - 1) * e * 4);
  CHECK(payload(n, {members("reduce-scatter", e, sum)}) == (n - 1) * e * 4);
  CHECK(payload(n, {members("all-gather", e)}) == n * (n - 1) * e * 4);
  // PyTorch's gloo: a reduce-scatter is an all-reduce, the others as before.
  constexpr auto gloo = RecordedGraph::Backend::kGloo;
  CHECK(payload(n, {members("reduce-scatter", e, sum)}, gloo) == 2 * (n - 1) * e * 4);
  CHECK(payload(n, {members("all-gather", e)}, gloo) == n * (n - 1) * e * 4);
  CHECK(payload(n, {members("broadcast", e, root)}) == (n - 1) * e * 4);
  CHECK(payload(n, {members("reduce", e, root + sum)}) == (n - 1) * e * 4);
  CHECK(payload(n, {members("gather", e, root)}) == (n - 1) * e * 4);
  CHECK(payload(n, {members("scatter", e, root)}) == (n - 1) * e * 4);
  CHECK(payload(n, {",\"k\":\"barrier\""}) == 2 * (n - 1));
  const std::string even = ",\"parts\":[250,250,250,250]", odd = ",\"parts\":[1,2,3,4]";
  CHECK(payload(n, {members("all-to-all", 0, even)}) == n * 750 * 4);
  // Uneven: rank r keeps r + 1 of the 10 elements.
  CHECK(payload(n, {members("all-to-all", 0, odd)}) == (4 * 10 - (1 + 2 + 3 + 4)) * 4);
}

TEST_CASE("recorded graph: a reduction goes along a tree, a gather at once", "[unit]") {
  // Seven messages to one root fill its link; along a tree of eight it receives three.
  const auto time_of = [](const std::string& call) {
    RecordedText text(8);
    for (int rank = 0; rank < 8; ++rank) {
      text.wait(rank, 0, text.call(rank, 0, call));
      text.end(rank);
    }
    return one_step(text.text());
  };
  const double tree = time_of(members("reduce", 250'000, ",\"p\":5,\"o\":\"sum\""));
  const double direct = time_of(members("gather", 250'000, ",\"p\":5"));
  CHECK(direct / tree > 7.0 / 3 * 0.8);  // 1 MB takes 8 ms on a link
  CHECK(direct > 7 * 8e-3);
  CHECK(tree > 3 * 8e-3);
}

TEST_CASE("recorded graph: a receive waits for its send, in the sender's time", "[unit]") {
  RecordedText text(2);
  text.wait(0, 0, text.call(0, 0.010, members("send", 1000, ",\"p\":1")));
  text.wait(1, 0, text.call(1, 0, members("receive", 1000, ",\"p\":0")));
  for (int rank = 0; rank < 2; ++rank) text.step(rank, 0.001);
  for (int rank = 0; rank < 2; ++rank) text.end(rank);
  const Ran ran = run(text.text());
  CHECK(ran.payloads.front() == Bytes(4000));
  CHECK(ran.ends.front() > 0.011);
  CHECK(ran.ends.front() < 0.012);
}

TEST_CASE("recorded graph: collectives of one group follow each other, of two groups not",
          "[unit]") {
  const auto both = [](const std::string& second) {
    RecordedText text(4);
    for (int rank = 0; rank < 4; ++rank) {
      text.add_group(rank, "all too", "0,1,2,3");
      const std::string call = members("all-gather", 1'000);
      const int first = text.call(rank, 0, call), other = text.call(rank, 0, call, second);
      text.wait(rank, 0, first);
      text.wait(rank, 0, other);
      text.end(rank);
    }
    return one_step(text.text());
  };
  // 4 kB hops take little of a link: two at a time end sooner than one after the other.
  CHECK(both("all too") < 0.8 * both("0"));
}

TEST_CASE("recorded graph: sub-groups work beside each other", "[unit]") {
  const auto time_of = [](bool pairs) {
    RecordedText text(4);
    for (int rank = 0; rank < 4; ++rank) {
      const bool low = rank < 2;
      const std::string name = low ? "low" : "high";
      text.add_group(rank, name, low ? "0,1" : "2,3");
      const std::string call = members("all-reduce", 100'000, ",\"o\":\"sum\"");
      if (pairs || low) text.wait(rank, 0, text.call(rank, 0, call, name));
      text.end(rank);
    }
    return one_step(text.text());
  };
  CHECK(time_of(true) == Approx(time_of(false)).epsilon(1e-9));
}

TEST_CASE("recorded steps: cut at the optimiser's steps; what is left open goes on in the next",
          "[unit]") {
  RecordedText text(2);
  for (int rank = 0; rank < 2; ++rank) {
    const int open = text.call(rank, 0.010, members("all-reduce", 100'000, ",\"o\":\"sum\""));
    text.step(rank);
    text.wait(rank, 0.001, open);
    text.call(rank, 0.002, ",\"k\":\"barrier\"");
    text.step(rank);
    text.end(rank);
  }
  const Ran ran = run(text.text());
  REQUIRE(ran.ends.size() == 2);  // nothing follows the second
  CHECK(ran.ends[0] > 0.010);
  CHECK(ran.ends[1] > ran.ends[0] + 0.002);
  // What the second step computes after its wait begins when the first one's all-reduce has ended.
  CHECK(ran.ends[1] == Approx(ran.ends[0] + 0.002).margin(1e-3));
}

TEST_CASE("recorded steps: ranks that are out of step are joined", "[unit]") {
  // Rank 1 makes its call in its second step, and rank 0 waits for it in its first.
  RecordedText text(2);
  const std::string call = members("all-reduce", 1'000, ",\"o\":\"sum\"");
  text.wait(0, 0, text.call(0, 0.001, call));
  text.step(0);
  text.step(0);
  text.step(1);
  text.wait(1, 0, text.call(1, 0.002, call));
  text.step(1);
  for (int rank = 0; rank < 2; ++rank) text.end(rank);
  CHECK(run(text.text()).ends.size() == 1);
}

TEST_CASE("recorded steps: of a script that was cut off its whole steps count", "[unit]") {
  const auto script = [](bool last_call) {
    RecordedText text(2);
    for (int step = 0; step < 3; ++step)
      for (int rank = 0; rank < 2; ++rank) {
        if (step == 2 && rank == 1 && !last_call) continue;
        text.wait(rank, 0, text.call(rank, 0.001, members("all-reduce", 10, ",\"o\":\"sum\"")));
        text.step(rank);
      }
    return text.text();
  };
  CHECK(run(script(true)).ends.size() == 3);
  CHECK(run(script(false)).ends.size() == 2);
  RecordedText nothing(2);
  nothing.call(0, 0, members("all-reduce", 10, ",\"o\":\"sum\""));
  CHECK_THROWS_WITH(run(nothing.text()), Contains("no whole step"));
  RecordedText silent(2);
  for (int rank = 0; rank < 2; ++rank) silent.end(rank);
  CHECK_THROWS_WITH(run(silent.text()), Contains("call no collective"));
}

TEST_CASE("recorded steps: ranks that do not call alike are refused", "[unit]") {
  RecordedText text(2);
  text.call(0, 0, members("all-reduce", 10, ",\"o\":\"sum\""));
  text.call(1, 0, members("broadcast", 10, ",\"p\":0"));
  for (int rank = 0; rank < 2; ++rank) text.end(rank);
  CHECK_THROWS_WITH(run(text.text()), Contains("a.jsonl") && Contains("broadcast of 10 float32"));
}

TEST_CASE("recorded steps: steps before the first call in another order count", "[unit]") {
  const auto script = [](int apart_in) {
    RecordedText text(2);
    for (int step = 0; step < 4; ++step)
      for (int rank = 0; rank < 2; ++rank) {
        const bool apart = rank == 1 && step >= apart_in;
        text.wait(rank, 0,
                  text.call(rank, 0.001,
                            apart ? members("broadcast", 10, ",\"p\":0")
                                  : members("all-reduce", 10, ",\"o\":\"sum\"")));
        text.step(rank);
      }
    return text.text();
  };
  CHECK(run(script(4)).ends.size() == 4);
  CHECK(run(script(2)).ends.size() == 2);
  CHECK(run(script(1)).ends.size() == 1);
  CHECK_THROWS_WITH(run(script(0)), Contains("broadcast of 10 float32"));
}

TEST_CASE("recorded graph: the order in which ranks told changes nothing", "[unit]") {
  const auto script = [](bool by_rank) {
    RecordedText text(3);
    const auto act = [&](int rank, int step) {
      const double compute = 0.001 * (1 + rank + step);
      text.wait(rank, compute,
                text.call(rank, compute, members("all-reduce", 20'000, ",\"o\":\"sum\"")));
      text.step(rank, 0.0005);
    };
    for (int outer = 0; outer < 3; ++outer)
      for (int inner = 0; inner < 3; ++inner) by_rank ? act(outer, inner) : act(2 - inner, outer);
    for (int rank = 0; rank < 3; ++rank) text.end(rank);
    return text.text();
  };
  for (const std::string executor : {"flow", "model"}) {
    CAPTURE(executor);
    const Ran once = run(script(true), executor);
    CHECK(once.ends.size() == 3);
    CHECK(run(script(false), executor).hashes == once.hashes);
  }
}

TEST_CASE("recorded graph: a wait for each other in a circle is refused", "[unit]") {
  // Each receives before it sends: a script that does so hangs, and nobody can have recorded it.
  RecordedText text(2);
  for (int rank = 0; rank < 2; ++rank) {
    const std::string peer = ",\"p\":" + std::to_string(1 - rank);
    text.wait(rank, 0, text.call(rank, 0, members("receive", 10, peer)));
    text.call(rank, 0, members("send", 10, peer));
    text.end(rank);
  }
  CHECK_THROWS_WITH(run(text.text()), Contains("in a circle"));
}

namespace {

/// How long ranks with these traces of Chakra take.
double of_traces(const std::vector<std::string>& ranks) {
  const TemporaryFolder folder;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank)
    write_file(folder.file("a." + std::to_string(rank) + ".et"),
               gradwire::testing::chakra_head() + ranks[rank]);
  return run(bridge::read_recording(folder.path())).ends.back();
}

}  // namespace

TEST_CASE("recorded graph: lanes of a rank run side by side, as Chakra's nodes depend", "[unit]") {
  using namespace gradwire::testing;
  const auto on = [](bool processor, std::uint64_t ms) {
    return truth("is_cpu_op", processor) + lasts(1000 * ms);
  };
  const auto both = [](const std::string& trace) { return std::vector(2, trace); };
  const double call = of_traces(both(reduces(1, 8, "")));
  CHECK(call < 0.002);
  // Side by side, and one after the other where one launches the other or all is the device's.
  CHECK(of_traces(both(computes(1, on(true, 100)) + computes(2, on(false, 100)) +
                       reduces(3, 8, after({1, 2})))) == Approx(0.100 + call).epsilon(1e-6));
  CHECK(of_traces(both(computes(1, on(true, 100)) + computes(2, on(false, 100) + after({1})) +
                       reduces(3, 8, after({2})))) == Approx(0.200 + call).epsilon(1e-6));
  CHECK(of_traces(both(computes(1, on(false, 100)) + computes(2, on(false, 100)) +
                       reduces(3, 8, after({1, 2})))) == Approx(0.200 + call).epsilon(1e-6));
  // A call begins with what it depends on, whatever is computed beside: 50 + call, then 70 more.
  CHECK(of_traces(both(computes(1, on(true, 50)) + computes(2, on(false, 60)) +
                       reduces(3, 8, after({1})) + computes(4, on(true, 70) + after({3})))) ==
        Approx(0.120 + call).epsilon(1e-6));
}

TEST_CASE("recorded graph: a lane that waits holds no other back", "[unit]") {
  using namespace gradwire::testing;
  const auto a = words("pg_name", "a"), b = words("pg_name", "b");
  // Node 2 waits for the call in group a. Rank 1 comes to that when group b's, which rank 0 calls
  // behind node 3, is over: 30 ms + b's call, 40 ms, then a's call and node 2.
  const std::string first =
      reduces(1, 8, a) + computes(2, truth("is_cpu_op", false) + lasts(10'000) + after({1})) +
      computes(3, truth("is_cpu_op", true) + lasts(30'000)) + reduces(4, 8, b + after({3}));
  const std::string second =
      reduces(1, 8, b) + computes(2, lasts(40'000) + after({1})) + reduces(3, 8, a + after({2}));
  const double call = of_traces(std::vector(2, reduces(1, 8, "")));
  CHECK(of_traces({first, second}) == Approx(0.080 + 2 * call).epsilon(0.01));
}
