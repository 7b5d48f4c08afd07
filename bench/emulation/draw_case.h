#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/step_graph.h"

namespace gradwire::bench {

struct EmulationCase {
  std::string name;
  sim::Cluster cluster;
  sim::GraphPtr graph;
  std::vector<Bytes> bytes;
  bool lossy = false;
};

/// Case `number` of a seed; odd ones lose packets. The bytes are such that a step takes `flow`
/// 1.5 s or less in the mean.
EmulationCase draw_emulation_case(std::uint64_t seed, int number);

/// `steps` of them, one after the other: s each, by `flow` with the calibration against Linux.
std::vector<double> flow_steps(const EmulationCase& c, const sim::Cluster& cluster, int steps,
                               std::uint64_t seed);

}  // namespace gradwire::bench
