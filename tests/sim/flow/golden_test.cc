// Golden runs: every operation's virtual time, in tests/sim/golden/. A change of any prediction
// shows there; GRADWIRE_UPDATE_GOLDEN=1 writes the files anew, and the difference belongs in the
// commit.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "base/file_descriptor.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// Nanoseconds to three decimals: finer than any model here, coarser than rounding.
std::string nanoseconds(Seconds t) {
  char text[64];
  std::snprintf(text, sizeof text, "%.3f", t.value() * 1e9);
  return text;
}

std::string text_of(const GraphTemplate& graph, const Timeline& timeline) {
  std::string text = "# operation start_ns end_ns payload_B wire_B transfers retransmissions\n";
  for (OpIndex op = 0; op < graph.size(); ++op) {
    const OpRecord& r = timeline.ops[op];
    text += graph.labels[graph.label[op]] + "@" + std::to_string(graph.worker[op]) + " " +
            nanoseconds(r.start) + " " + nanoseconds(r.end) + " " +
            std::to_string(r.payload.count()) + " " + std::to_string(r.wire.count()) + " " +
            std::to_string(r.transfers) + " " + std::to_string(r.retransmissions) + "\n";
  }
  for (const auto& ranks : timeline.rank_done) {
    text += "ranks";
    for (const Seconds done : ranks) text += " " + nanoseconds(done);
    text += "\n";
  }
  return text;
}

void check_golden(const std::string& name, const GraphTemplate& graph, const Timeline& timeline) {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  REQUIRE(source != nullptr);
  const std::string path = std::string(source) + "/tests/sim/golden/" + name;
  const std::string text = text_of(graph, timeline);
  const char* update = std::getenv("GRADWIRE_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") write_file(path, text);
  CHECK(read_file(path) == text);
}

/// A step of data-parallel training on four workers: forward, backward in two buckets, each
/// reduced while the next is computed, then the update.
Step training_step() {
  GraphBuilder builder;
  std::vector<double> seconds;
  const auto add = [&](OpKind kind, Lane lane, int w, const char* label, double s,
                       std::vector<OpIndex> after) {
    seconds.push_back(s);
    return builder.add_operation(kind, lane, w, label, after);
  };
  std::vector<std::vector<OpIndex>> encoded(2), reduced(1);
  for (int w = 0; w < 4; ++w) {
    OpIndex last = add(OpKind::kCompute, Lane::kCompute, w, "forward", 1e-3, {});
    for (std::size_t b = 0; b < 2; ++b) {
      last = add(OpKind::kCompute, Lane::kCompute, w, "backward", 1e-3 * (w + 1), {last});
      encoded[b].push_back(add(OpKind::kEncode, Lane::kCodec, w, "encode", 2e-4, {last}));
    }
  }
  std::vector<OpIndex> buckets;
  for (std::size_t b = 0; b < 2; ++b) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllReduce, 4, 100001);
    spec.width_bits = {2, 3, 4, 4};
    spec.hop_per_element = Seconds(1e-9);
    buckets.push_back(builder.add_collective(spec, "all-reduce", encoded[b]));
    seconds.push_back(0);
  }
  for (int w = 0; w < 4; ++w) add(OpKind::kCompute, Lane::kCompute, w, "update", 1e-4, buckets);
  return Step(builder.finish(), {}, seconds);
}

/// Five clients push to a server over lossy links and pull the answer.
Step lossy_star() {
  GraphBuilder builder;
  CollectiveSpec spec = ring_spec(CollectiveKind::kPush, 5, 0);
  spec.server = 5;
  const OpIndex push = builder.add_collective(spec, "push");
  const OpIndex aggregate = builder.add_operation(OpKind::kAggregate, Lane::kHost, 5, "aggregate",
                                                  std::vector<OpIndex>{push});
  spec.kind = CollectiveKind::kPull;
  builder.add_collective(spec, "pull", std::vector<OpIndex>{aggregate});
  return Step(builder.finish(),
              {200000, 400000, 100, 800000, 1600000, 300000, 300000, 300000, 300000, 300000},
              {0, 5e-3, 0});
}

}  // namespace

TEST_CASE("golden: overlapped training on a small ring") {
  const Step step = training_step();
  const Cluster cluster = Cluster::star(4, link(1e8, 50e-6));
  check_golden("ring-flow.txt", *step.graph, run(*make("flow", cluster), step));
  check_golden("ring-model.txt", *step.graph, run(*make("model", cluster), step));
}

TEST_CASE("golden: a lossy star") {
  const Step step = lossy_star();
  const Cluster cluster = Cluster::star(5, link(2e7, 10e-3, 0.01), true, link(1e8, 5e-3));
  check_golden("star-flow.txt", *step.graph, run(*make("flow", cluster), step));
}

TEST_CASE("golden: the same star with BBR") {
  const Step step = lossy_star();
  const Cluster cluster = Cluster::star(5, link(2e7, 10e-3, 0.01), true, link(1e8, 5e-3));
  ExecutorOptions options;
  options.transport.congestion_control = TransportSettings::CongestionControl::kBbr;
  check_golden("star-bbr-flow.txt", *step.graph, run(*make("flow", cluster, options), step));
}
