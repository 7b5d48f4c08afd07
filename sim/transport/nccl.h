#pragma once
#include <array>
#include <span>
#include <string_view>

#include "base/units.h"

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
/// to one GPU go along a chain, n - 1 steps and all bytes. B is what the node's links
/// give: rings that share no link of a DGX-1 for v100, the switch's for others, with an
/// all-reduce's sums inside it (NVLS) where h100 and h200 reach more by them; between nodes no more
/// than the network's. a, the start of a call on all GPUs (s), the factor l and one of B are
/// fitted to logs of nccl-tests.
///
/// Limits. Sums inside switches have no latency of their own, and those of networks (SHARP) are not
/// there.
namespace gradwire::sim {

/// What NCCL makes of the links between GPUs of a node.
struct NcclGpu {
  std::string_view name;
  std::array<double, 7> ring{};        ///< [GPUs - 2] bus bandwidth of an all-reduce, bytes/s
  bool sums_in_switch = false;         ///< which are an all-reduce's alone
  std::array<double, 3> most_of_ll{};  ///< that LL reaches on one, two and more nodes, bytes/s
  double bytes_per_second(int gpus, bool all_reduce) const;
};
std::span<const NcclGpu> nccl_gpus();
/// Null for one whose links are not known.
const NcclGpu* nccl_gpu(std::string_view name);
/// Volta's for a GPU that is not known.
const std::array<double, 3>& most_of_ll(const NcclGpu* gpu);

/// NCCL below the collectives of a simulated cluster.
struct NcclSettings {
  Seconds start{25e-6};          ///< a
  double latency = 1;            ///< l
  double bandwidth = 1;          ///< factor of B
  double network = 1;            ///< of net, over InfiniBand's
  int gpus_per_node = 1;         ///< hosts that follow one another, from host 0 on
  int adapters = 1;              ///< of a node, which NCCL uses all
  const NcclGpu* gpu = nullptr;  ///< null: the links of a node give their own rates
};

struct NcclCall {
  bool all_reduce = true;  ///< two passes round the ring, or a tree
  double share = 1;        ///< r of a ring
  int workers = 2, nodes = 1, gpus_per_node = 2;
  double bytes = 0;
};

struct NcclRates {
  double bandwidth = 0;  ///< B, its factor in it, bytes/s
  double most_ll = 0;    ///< bytes/s
  double latency = 1, network = 1;
};

/// What NCCL takes for a call.
struct NcclPlan {
  std::string_view algorithm, protocol;  ///< "ring", "tree"; "LL", "LL128", "Simple"
  double base = 0, steps = 0;            ///< s: l base, and l times the rest of L
  double moving = 0;                     ///< s: r b / (e B)
  double sent = 1;                       ///< bytes on the way for one of payload
  double seconds() const { return base + steps + moving; }
};
NcclPlan nccl_plan(const NcclCall& call, const NcclRates& rates);

/// Seconds before a message of Simple arrives, in a node or between nodes: L of one step.
double nccl_message_latency(bool between_nodes, double network);

}  // namespace gradwire::sim
