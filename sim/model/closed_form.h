#pragma once
#include "sim/cluster/cluster.h"
#include "sim/cluster/path_cost.h"
#include "sim/session/collective_pace.h"
#include "sim/session/session.h"

/// Times of whole collectives in closed form, so that 4,096 workers cost no more than a few.
///
/// N ranks, hop r from rank r to rank r + 1 with alpha_r, line rate R_r (sim/cluster/path_cost.h);
/// w(b) wire bytes of b payload bytes. A ring's time, from the moment at which all ranks are ready,
/// is the larger of
///   - the longest way of one block: H hops in turn, at the ring's mean alpha and mean 1 / R, each
///     alpha + w / R, plus the addition on each reducing hop;
///   - the slowest hop: all that crosses it one after the other, plus one propagation.
/// Reductions: H = 2 (N-1) or N - 1, block = the largest chunk at its width on each hop. Gathers:
/// H = N - 1, the largest block. Equal hops and blocks: exact. Otherwise a lower bound of what an
/// uncontended ring takes (a block may also wait behind others on several hops in turn).
///
/// Under a library of collectives (sim/session/collective_pace.h) its start comes before, its
/// latency is added to each hop, and every hop has the library's rate.
///
/// Push and pull: the larger of the slowest single message, and all messages one after the other
/// through the server's own link, plus one alpha.
///
/// Trees, halving-doubling, two levels: their hops one by one in order of time, each rank sending
/// one message at a time and receiving one at a time (sim/model/schedule_cost.h): N log N of them.
/// Direct all-gather, all-to-all, gossip: the larger of the slowest single message and of what the
/// busiest rank's own link carries in one direction, plus the least alpha of its messages.
///
/// Ranks that become ready at different times are treated as if all were ready with the last: exact
/// for an all-reduce, whose every result needs every rank; late for a push.
namespace gradwire::sim {

class ClosedForm final : public CollectiveCosts {
 public:
  ClosedForm(const Cluster& cluster, const TransportSettings& transport)
      : cluster_(cluster), transport_(transport) {}
  Cost cost(const CollectiveSpec& spec, std::span<const Bytes> bytes) override;

 private:
  struct Block {
    double wire = 0;
    double first = 0;   ///< wire bytes of its first segment
    double adding = 0;  ///< s, after the hop
  };

  PathCost path(int source, int destination) const;
  Block block(Bytes payload, double adding) const;
  std::vector<Block> hops_of_largest(const CollectiveSpec& spec,
                                     std::span<const Bytes> bytes) const;
  void add_totals(const CollectiveSpec& spec, std::span<const Bytes> bytes,
                  const CollectivePace* pace, Cost& cost) const;
  double ring_seconds(const CollectiveSpec& spec, std::span<const Bytes> bytes,
                      const CollectivePace* pace) const;
  double server_seconds(const CollectiveSpec& spec, std::span<const Bytes> bytes) const;

  const Cluster& cluster_;
  TransportSettings transport_;
};

}  // namespace gradwire::sim
