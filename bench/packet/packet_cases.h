#pragma once
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/step_graph.h"

/// What `bench packet` simulates.
namespace gradwire::sim {
struct PacketWork;
}

namespace gradwire::bench {

struct PacketCase {
  std::string name;
  sim::Cluster cluster;
  sim::GraphPtr graph;
  std::vector<Bytes> bytes;
};

struct PacketRun {
  double events = 0;
  double wall_s = 0;       ///< from the program's start to its end
  double simulated_s = 0;  ///< what it took in virtual time
};

/// On the cluster and the graph of bench/flow/flow_cases.h's run_ring().
PacketRun run_packet_ring(int workers, std::int64_t elements);
/// Virtual seconds of the second of two such all-reduces in one session.
double warm_ring_s(const std::string& executor, int workers, std::int64_t elements);

/// Rings, one path, many senders, losses, a fat tree, a trace, radio cells.
std::vector<PacketCase> forecast_cases();
sim::PacketWork work_of(const PacketCase& c);
/// The graph `steps` times, one after the other.
PacketRun run_packet(const PacketCase& c, int steps);

}  // namespace gradwire::bench
