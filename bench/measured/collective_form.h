#pragma once
#include <span>
#include <string>
#include <vector>

#include "bench/measured/table.h"
#include "results/prediction/least_squares.h"

/// Seconds of a collective as NCCL runs it, in a node and between nodes.
///
/// Model. NCCL takes the fastest, by its own estimate, of two algorithms and three protocols. n
/// GPUs on N nodes that reduce b bytes over links of bus bandwidth B take
///
///   t = a + min over algorithms and protocols of  ( l L + r b / (e B) )
///
///   ring  L = base + (s - i) hop + i net,  s = 2 (n - 1), i = 2 (N - 1);        r = 2 (n - 1) / n
///   tree  L = base + 2 ((n / N - 1) hop + log2(N) net), between nodes alone;    r = 2, e times
///   0.92
///
/// base, hop (over NVLink) and net (over the network) by algorithm and protocol are the latencies
/// of NCCL's tuner (2.19 to 2.28), and so are the shares e: LL, which carries a flag with every
/// word, reaches a half and at most a rate that depends on the device; LL128 0.92; Simple, which
/// waits for whole chunks, all of it, and 1.4 times the latency between nodes. All-gather and
/// reduce-scatter have half of the ring's steps and bytes, and no tree; a broadcast and a reduction
/// to one GPU go along a chain, n - 1 steps and all bytes. In an all-to-all each GPU sends to all
/// others at once, (n - 1) / n of the bytes, in one step. B is what the node's links
/// give: rings that share no link of a DGX-1 for v100, the switch's for others, with an
/// all-reduce's sums inside it (NVLS) where h100 and h200 reach more by them, 0.65 of the link to
/// the host where a GPU has no other; between nodes no more than the network's. Unknown are a, the
/// start of a call on all GPUs (s), the factor l and one of B.
///
/// Limits. Sums inside switches have no latency of their own, those of networks (SHARP) are not
/// there, and PCIe is one figure whatever its switches.
namespace gradwire::bench {

/// Bus bandwidth of an all-reduce among `workers` GPUs of a node, bytes/s; 0 = not known.
/// v100: 22.5 GB/s for each of the rings that share no NVLink among the first n GPUs of a DGX-1 (n
/// = 2..8: 1, 2, 4, 1.65, 2, 4, 6; among five GPUs no ring is whole: the figure is what NCCL
/// reached).
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
