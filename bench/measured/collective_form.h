#pragma once
#include <span>
#include <string>
#include <vector>

#include "bench/measured/table.h"
#include "results/prediction/least_squares.h"

/// Seconds of a measured collective: sim/transport/nccl.h says how NCCL runs it. In an all-to-all
/// each GPU sends to all others at once, (n - 1) / n of the bytes, in one step. B is 0.65 of the
/// link to the host where a GPU has no other, one figure whatever its switches.
namespace gradwire::bench {

/// Bus bandwidth of an all-reduce among `workers` GPUs of a node, bytes/s; 0 = not known.
double node_bytes_per_second(const std::string& device, int workers);

/// What nccl-tests' bus bandwidth has over bytes and time: 2 (n - 1) / n of an all-reduce,
/// (n - 1) / n of what is gathered, scattered or exchanged, 1 of a broadcast and a reduction.
double bus_share(const std::string& collective, int workers);

/// What a worker of a ring all-reduce sends, in payloads: 2 (n - 1) / n.
inline double ring_share(int workers) {
  return 2.0 * (workers - 1) / workers;
}

/// Why the row has no time in this form; empty if it has.
std::string why_no_collective_form(const MeasuredCollective& one);

/// Logarithms of a, l and the factors of B and of net.
std::vector<results::Unknown> collective_unknowns();
Seconds collective_time(const MeasuredCollective& one, std::span<const double> logarithms);

}  // namespace gradwire::bench
