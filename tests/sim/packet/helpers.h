#pragma once
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/packet/packet_executor.h"
#include "tests/sim/graphs.h"
#include "tests/skip.h"

namespace packet_test {

using namespace gradwire;
using namespace gradwire::sim;

using sim::testing::link;

/// Skips the case where gradwire-packet was not built; its tag is [needs-packet].
inline void require_packet_program() {
  const std::string program = packet_program(ExecutorOptions{});
  if (::access(program.c_str(), X_OK) != 0)
    gradwire::testing::skip(program + " was not built (ns-3 is absent)");
}

/// Stations 0, 1, ... in one cell, and behind its base the server, 1 Gbps and 1 ms away.
inline Cluster cell_of(Cell::Kind kind, const std::vector<std::pair<double, double>>& places) {
  Cluster cluster;
  Cell cell;
  cell.kind = kind;
  cell.width = kind == Cell::Kind::kWifi ? 80e6 : 10e6;
  for (std::size_t i = 0; i < places.size(); ++i)
    cell.stations.push_back(
        {cluster.add_host("station" + std::to_string(i)), places[i].first, places[i].second});
  cell.base = cluster.add_switch("base");
  const NodeId server = cluster.add_host("server");
  cluster.add_cell(cell);
  cluster.add_link(cell.base, server, link(1e9, 1e-3));
  cluster.finish(true);
  return cluster;
}

inline CollectiveSpec ring_spec(int workers, std::int64_t elements) {
  CollectiveSpec spec;
  for (int worker = 0; worker < workers; ++worker) spec.members.push_back(worker);
  spec.elements = elements;
  return spec;
}

inline GraphPtr ring_graph(int workers, std::int64_t elements) {
  GraphBuilder builder;
  builder.add_collective(ring_spec(workers, elements), "all-reduce");
  return builder.finish();
}

struct Pair {
  int source = 0;
  int destination = 0;
};

/// One transfer for each pair, all free to start at once.
inline GraphPtr transfer_graph(const std::vector<Pair>& pairs) {
  GraphBuilder builder;
  for (const Pair& pair : pairs)
    builder.add_transfer(pair.source, pair.destination, "transfer", TransferMeaning{});
  return builder.finish();
}

inline GraphId submit(Executor& executor, const GraphPtr& graph, const std::vector<Bytes>& bytes,
                      Seconds not_before = Seconds(0)) {
  const std::vector<Seconds> seconds(graph->size());
  Submission submission;
  submission.graph = graph;
  submission.bytes = bytes;
  submission.seconds = seconds;
  submission.not_before = not_before;
  return executor.submit(submission);
}

/// All events up to `until`.
inline std::vector<Event> events_until(Executor& executor, Seconds until = kForever) {
  std::vector<Event> events;
  while (executor.advance(until, events)) {
  }
  return events;
}

/// Runs one graph to its end and gives its timeline away.
inline Timeline run(Executor& executor, const GraphPtr& graph, const std::vector<Bytes>& bytes) {
  const GraphId id = submit(executor, graph, bytes, executor.now());
  events_until(executor);
  return executor.timeline(id);
}

}  // namespace packet_test
