#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/trainer.h"
#include "sim/graph/pipeline.h"
#include "trainers/routes/exchange.h"
#include "trainers/schedules/pipeline/stage_cut.h"

namespace gradwire::trainers {

/// A message between neighbouring stages of a replica.
struct BoundaryMessage {
  std::size_t replica = 0, boundary = 0, micro_batch = 0;
  bool back = false;  ///< a gradient
  Bytes bytes{0};
  double encoded = 0;                   ///< share of its samples that went through a codec
  std::vector<std::byte> content = {};  ///< where payloads are kept
};

/// How long the codecs of boundaries take for a whole micro-batch, at both ends; of gradients at
/// index [1]. Absent: nothing is encoded.
using BoundaryTimes = std::array<std::vector<std::optional<sim::PipelineCoding>>, 2>;

/// The graph of a step of a pipeline's replicas: each its passes (sim/graph/pipeline.h), worker
/// replica * stages + s being stage s. Where there are several replicas, the gradients of each
/// stage are exchanged, bucket by bucket, among the workers that have it, once its last backward
/// pass is done; then they update.
class PipelineGraph {
 public:
  /// `among_replicas`: the graph of the same exchange among workers that are whole replicas.
  PipelineGraph(const scenarios::Scenario& scenario, const StageCut& cut, const Layout& layout,
                const Exchange& exchange, const StepTemplate& among_replicas,
                const scenarios::ComputeProfile& profile, const BoundaryTimes& times);

  const sim::GraphPtr& graph() const { return graph_; }
  /// The step's sizes and times. `exchanged`: sizes as `among_replicas` has them. `kept`: what was
  /// exchanged, where the step is to have what its messages hold; else null.
  void fill(std::span<const BoundaryMessage> messages, std::span<const Bytes> exchanged,
            const sim::Payloads* kept, scenarios::Work& work) const;
  /// A stage starts a step after its own update.
  std::vector<sim::CrossEdge> edges_from(std::optional<sim::GraphId> last) const;

 private:
  struct Copied {  ///< an operation of the exchange, and where its sizes are
    sim::OpIndex from = 0, to = 0;
  };
  sim::PipelinePlan plan_of(const scenarios::Scenario& scenario, int replica,
                            const scenarios::ComputeProfile& profile,
                            const BoundaryTimes& times) const;
  void add_exchange(sim::GraphBuilder& builder, const Exchange& exchange,
                    std::span<const Seconds> seconds);
  const sim::PipelineMessage& place_of(const BoundaryMessage& message) const;
  std::shared_ptr<const sim::Payloads> payloads(std::span<const BoundaryMessage> messages,
                                                const sim::Payloads& exchanged) const;
  using Ends = std::vector<std::vector<sim::OpIndex>>;  ///< [replica]: what its next one awaits
  void add_coding(sim::GraphBuilder& builder, sim::OpKind kind, const std::string& label, int stage,
                  sim::OpIndex from, std::span<const Seconds> seconds, Ends& previous);
  void add_collectives(sim::GraphBuilder& builder, StageKind kind, const std::string& label,
                       int stage, sim::OpIndex from, std::span<const Seconds> seconds,
                       Ends& previous, std::vector<sim::OpIndex>& last);
  void add_updates(sim::GraphBuilder& builder, const scenarios::ComputeProfile& profile);

  const StageCut& cut_;
  const Layout& layout_;
  const StepTemplate& among_replicas_;
  std::vector<double> slowdown_;  ///< [worker]
  std::vector<double> share_;     ///< [stage], of all elements
  std::vector<std::size_t> stage_of_bucket_;
  sim::GraphPtr graph_;
  std::vector<Bytes> bytes_;
  std::vector<Seconds> seconds_;
  std::vector<sim::PipelinePasses> passes_;       ///< [replica]
  std::vector<std::vector<sim::OpIndex>> ready_;  ///< [worker]: what its update awaits
  std::vector<sim::OpIndex> update_;              ///< [worker]
  std::vector<Copied> copied_;
};

/// Forward time of a stage, [stages]: that of the whole pass, by the stages' shares of its backward
/// time (of their elements where that is 0); and those backward times.
struct StageTimes {
  std::vector<Seconds> forward, backward;
};
StageTimes stage_times(const scenarios::ComputeProfile& profile, const StageCut& cut,
                       const Layout& layout);

}  // namespace gradwire::trainers
