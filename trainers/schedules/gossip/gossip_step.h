#pragma once
#include <optional>
#include <span>
#include <vector>

#include "scenarios/trainer.h"
#include "sim/graph/mixing.h"
#include "sim/graph/step_graph.h"
#include "trainers/layout.h"

namespace gradwire::trainers {

/// The graph of a step of workers that gossip. Each computes its passes and its update, encodes its
/// buckets one after the other, and sends each of them to its receivers, which decode and mix what
/// has come. A worker waits for those that send to it, and for nobody else: its next step starts
/// when its last bucket is mixed. `overlap`: a bucket leaves when it is encoded, else when all are.
class GossipStep {
 public:
  GossipStep(const sim::Mixing& mixing, const Layout& layout, bool encodes, bool overlap);

  const sim::GraphPtr& graph() const { return graph_; }
  /// The gossip of that bucket; its sizes are by worker. None where nobody sends anything.
  bool sends() const { return !gossips_.empty(); }
  sim::OpIndex gossip(std::size_t bucket) const { return gossips_[bucket]; }
  std::vector<Seconds> seconds(const scenarios::ComputeProfile& profile,
                               std::span<const double> slowdown, bool learns) const;
  /// What each worker's step waits for of the step before.
  std::vector<sim::CrossEdge> edges_from(std::optional<sim::GraphId> last) const;

 private:
  void add_computation(sim::GraphBuilder& builder, const Layout& layout);
  void add_messages(sim::GraphBuilder& builder, const sim::Mixing& mixing, std::size_t buckets,
                    bool overlap);

  using Ops = std::vector<sim::OpIndex>;
  bool encodes_;
  std::vector<double> messages_of_;  ///< [worker]: how many it decodes or adds for each bucket
  sim::GraphPtr graph_;
  Ops forward_, update_;                      ///< [worker]
  std::vector<Ops> backward_, encode_, mix_;  ///< [bucket][worker]
  Ops gossips_;                               ///< [bucket]
};

}  // namespace gradwire::trainers
