#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/fidelity/experiment.h"

/// The designed grid of `gradwire calibrate`: each factor at its levels, points drawn so that every
/// level of every factor appears about equally often (a Latin hypercube over the levels).
namespace gradwire::bench {

/// One point. A dumb-bell: `flows` senders, as many receivers, one link between two switches.
struct GridPoint {
  double rate = 0;        ///< bits/s of that link
  double round_trip = 0;  ///< s, without queues
  double loss = 0;        ///< of a packet on that link, each way
  double bytes = 0;       ///< a transfer
  int flows = 1;
  bool warm = true;  ///< transfers after the first of each connection; else only the first
  std::string control = "cubic";
};

/// What a reference can do.
struct Reach {
  std::string reference;  ///< "packet" or "linux"
  double rate = 0;        ///< bits/s that it holds; 0: any
  double least_round_trip = 0;
  double most_packets = 0;  ///< of all transfers of a point
  double most_seconds = 0;  ///< of real time or, in ns-3, of virtual time
};

std::vector<GridPoint> calibration_grid(std::uint64_t seed, int points);
/// "10 Mbps, 50 ms, 1 % loss, 1 MB, 4 flows, warm, cubic"
std::string name_of(const GridPoint& point);
/// Why the reference cannot measure a point or flow not follow it: it is extrapolated. Empty: they
/// can.
std::string extrapolated_because(const GridPoint& point, const Reach& reach);
Experiment experiment_of(const GridPoint& point);
/// Seconds that a transfer takes at least: its share of the link, windows, losses (a rough guess).
double expected_seconds(const GridPoint& point);

}  // namespace gradwire::bench
