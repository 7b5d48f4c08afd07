#pragma once
#include <memory>
#include <vector>

#include "sim/executors.h"
#include "tests/quantities.h"

/// Small graphs and runs for the tests of sim/.
namespace gradwire::sim::testing {

/// A graph with the bytes and seconds of one step.
struct Step {
  GraphPtr graph;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;

  /// `bytes` by slot, `seconds` by operation (missing ones are 0).
  Step(GraphPtr g, std::vector<std::int64_t> sizes, std::vector<double> durations = {})
      : graph(std::move(g)) {
    for (const std::int64_t size : sizes) bytes.emplace_back(size);
    for (const double duration : durations) seconds.emplace_back(duration);
    seconds.resize(graph->size());
  }
  Submission submission(Seconds not_before = Seconds(0),
                        std::span<const CrossEdge> after = {}) const {
    return {graph, bytes, seconds, not_before, after};
  }
};

inline GraphId submit(Executor& executor, const Step& step, Seconds not_before = Seconds(0),
                      std::span<const CrossEdge> after = {}) {
  return executor.submit(step.submission(not_before, after));
}

inline Timeline run(Executor& executor, const Step& step) {
  return run_to_end(executor, submit(executor, step));
}

inline std::vector<Event> drain(Executor& executor, Seconds until = kForever) {
  std::vector<Event> events;
  while (executor.advance(until, events)) {
  }
  return events;
}

inline LinkSpec link(double bits_per_second, double delay, double loss = 0) {
  return {BitsPerSecond(bits_per_second), Seconds(delay), loss, Bytes(0)};
}

/// Transfers from host to host, all free to start at once.
struct Route {
  int source = 0;
  int destination = 0;
  std::int64_t bytes = 0;
};
inline Step transfers(const std::vector<Route>& routes) {
  GraphBuilder builder;
  std::vector<std::int64_t> sizes;
  for (const Route& r : routes) {
    builder.add_transfer(r.source, r.destination, "transfer", {});
    sizes.push_back(r.bytes);
  }
  return Step(builder.finish(), sizes);
}

inline CollectiveSpec ring_spec(CollectiveKind kind, int ranks, std::int64_t elements) {
  CollectiveSpec spec;
  spec.kind = kind;
  for (int r = 0; r < ranks; ++r) spec.members.push_back(r);
  spec.elements = elements;
  return spec;
}

inline Step ring(int ranks, std::int64_t elements, int repetitions = 1) {
  GraphBuilder builder;
  std::vector<OpIndex> after;
  for (int i = 0; i < repetitions; ++i) {
    after = {builder.add_collective(ring_spec(CollectiveKind::kRingAllReduce, ranks, elements),
                                    "all-reduce", after)};
  }
  return Step(builder.finish(), {});
}

inline std::unique_ptr<Executor> make(std::string_view name, const Cluster& cluster,
                                      const ExecutorOptions& options = {}) {
  return make_executor(name, cluster, options);
}

}  // namespace gradwire::sim::testing
