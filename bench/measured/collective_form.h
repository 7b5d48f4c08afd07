#pragma once
#include <span>
#include <string>
#include <vector>

#include "bench/measured/table.h"
#include "results/prediction/least_squares.h"

/// Seconds of an all-reduce inside a node, as NCCL runs it.
///
/// Model. n GPUs reduce b bytes over rings of bus bandwidth B:
///
///   t = a + p (1 - exp(-b / 2 MiB)) + 2 (n - 1) / n b / B
///
/// a the floor of small messages (s), p what the protocol for large ones costs more (s): NCCL
/// changes from one that carries flags with the data to one that waits for whole chunks. B is
/// what the node's links give: rings that share no link of a DGX-1 for v100, the switch's for
/// others, times a factor near 1.
///
/// Limits. Smooth between protocols; steps of a few tens of per cent at the changes are not in it.
namespace gradwire::bench {

/// Bus bandwidth of the node's rings among `workers` GPUs, bytes/s; 0 = not known. v100: 22.5 GB/s
/// for each of the rings that share no NVLink among the first n GPUs of a DGX-1 (n = 2..8: 1, 2, 4,
/// 1.65, 2, 4, 6; among five GPUs no ring is whole: the figure is what NCCL reached).
double node_bytes_per_second(const std::string& device, int workers);

/// What a worker of a ring all-reduce sends, in payloads: 2 (n - 1) / n.
inline double ring_share(int workers) {
  return 2.0 * (workers - 1) / workers;
}

/// Why the row has no time in this form; empty if it has.
std::string why_no_collective_form(const MeasuredCollective& one);

/// Logarithms of a, p and the factor of B.
std::vector<results::Unknown> collective_unknowns();
Seconds collective_time(const MeasuredCollective& one, std::span<const double> logarithms);

}  // namespace gradwire::bench
