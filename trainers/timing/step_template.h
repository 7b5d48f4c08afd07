#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "scenarios/trainer.h"
#include "sim/graph/step_graph.h"

/// The step graph of synchronous data parallelism, built once for a layout and an exchange.
///
///   forward(w) -> backward b0(w) -> backward b1(w) -> ...          compute lane of worker w
///   backward b(w) -> [worker stage | collective | server stage]*   codec lane, network
///   last stage of every bucket -> update(w)                        compute lane
///
/// Without overlap a bucket's first stage waits for the worker's whole backward pass. The
/// collectives of all buckets follow one another in bucket order on each worker, as on one
/// communication stream.
///
/// Where the host's memory holds the optimiser's state, each bucket's gradients go there after its
/// last stage, the update follows on the host, and weights come back in forward order, all on the
/// host's lane; then the next step, or gathers, follow.
///
/// With ZeRO (trainers/timing/sharded_steps.cc) weights are gathered after the update, in forward
/// order, and the next step waits for the last of them; or, of stage 3, before each bucket's part
/// of the forward and of the backward pass.
namespace gradwire::trainers {

enum class StageKind {
  kWorker,
  kServer,
  kCollective,
  kScatter,  ///< every worker sends to every other: a push to each, all at once
};

/// Which of the profile's times an operation takes. N = workers.
enum class StageCost {
  kNone,
  kScale,         ///< Bucket::scale
  kEncode,        ///< Bucket::encode less Bucket::scale
  kEncodeOthers,  ///< (N - 1) / N Bucket::encode: all chunks but the worker's own
  kRequantize,    ///< of its own chunk: N - 1 added, the sum encoded
  kDecode,        ///< Bucket::decode
  kDecodeAll,     ///< N Bucket::decode: every worker decodes every message
  kAggregateAll,  ///< N Bucket::aggregate: the server adds every message
  kAnswer,        ///< the same, and Bucket::encode: of the sum
};

/// One stage of a bucket's exchange, in order: an operation of every worker, one of the server, or
/// a collective.
struct Stage {
  StageKind kind = StageKind::kWorker;
  sim::OpKind op = sim::OpKind::kEncode;
  std::string label;
  StageCost cost = StageCost::kNone;
  sim::CollectiveSpec collective = {};
};

class StepTemplate {
 public:
  /// `stages[b]`: those of bucket b. The server, where a stage needs one, is host `workers`; its
  /// shards are that host and the next ones: each has pushes, operations and pulls of its own, of a
  /// shard's part of the cost. `zero`: the stage of ZeRO. `offload`: the update is the host's.
  StepTemplate(int workers, const std::vector<std::vector<Stage>>& stages, bool overlap,
               int shards = 1, int zero = 0, bool offload = false);

  const sim::GraphPtr& graph() const { return graph_; }
  sim::OpIndex forward(int worker) const { return forward_[static_cast<std::size_t>(worker)]; }
  sim::OpIndex update(int worker) const { return update_[static_cast<std::size_t>(worker)]; }
  /// The collective that stage `stage` of `bucket` is, or its operations.
  /// `owner`: which push of a scatter, which shard, or which worker.
  sim::OpIndex collective(std::size_t bucket, std::size_t stage, std::size_t owner = 0) const {
    return collective_[bucket][stage] + static_cast<sim::OpIndex>(owner);
  }
  /// That gather of the bucket's weights.
  sim::OpIndex gather(std::size_t pass, std::size_t bucket) const { return gathers_[pass][bucket]; }
  /// seconds[graph()->size()]: the profile's times, compute and codec operations multiplied by the
  /// worker's slowdown. A server has none; nor have a collective's hops, which are paced as one.
  std::vector<Seconds> seconds(const scenarios::ComputeProfile& profile,
                               std::span<const double> slowdown) const;
  /// What each worker's next step waits for: its update, or the last gather of weights after it.
  std::span<const sim::OpIndex> ends() const { return ends_; }
  /// A worker starts the next step when operation `ends[w]` of graph `last`, which may be another
  /// template's, is done. None at first.
  std::vector<sim::CrossEdge> edges_from(std::optional<sim::GraphId> last,
                                         std::span<const sim::OpIndex> ends) const;

 private:
  struct Costing {
    sim::OpIndex op = 0;
    std::size_t bucket = 0;
    StageCost cost = StageCost::kNone;
    int shards = 1;   ///< which share it
    int worker = -1;  ///< whose slowdown it has; -1: the server's, none
  };
  void add_whole_passes(sim::GraphBuilder& builder, const std::vector<std::vector<Stage>>& stages,
                        bool overlap);
  void add_backward(sim::GraphBuilder& builder, std::size_t bucket, bool waits = false);
  void add_updates(sim::GraphBuilder& builder);
  void add_host_updates(sim::GraphBuilder& builder);
  // With ZeRO (sharded_steps.cc).
  void add_sharded_passes(sim::GraphBuilder& builder, const std::vector<std::vector<Stage>>& stages,
                          bool overlap);
  void add_gathered_forward(sim::GraphBuilder& builder, std::size_t buckets);
  sim::OpIndex add_gather(sim::GraphBuilder& builder, std::size_t bucket,
                          std::span<const sim::OpIndex> after);
  void add_gathers_after_update(sim::GraphBuilder& builder, std::size_t buckets);
  void take_forward_seconds(const scenarios::ComputeProfile& profile,
                            std::span<const double> slowdown, std::vector<Seconds>& seconds) const;
  using Ends = std::vector<std::vector<sim::OpIndex>>;  ///< [worker]: what its next stage awaits
  void add_stages(sim::GraphBuilder& builder, std::size_t bucket, const std::vector<Stage>& stages,
                  const std::vector<sim::OpIndex>& ready);
  sim::OpIndex add_scatter(sim::GraphBuilder& builder, const Stage& stage, const std::string& label,
                           Ends& previous);
  sim::OpIndex add_server(sim::GraphBuilder& builder, const Stage& stage, const std::string& label,
                          std::size_t bucket);
  sim::OpIndex add_to_shards(sim::GraphBuilder& builder, const Stage& stage,
                             const std::string& label, Ends& previous);

  int workers_;
  int shards_;
  int zero_;
  sim::GraphPtr graph_;
  std::vector<sim::OpIndex> forward_, update_, ends_;
  std::vector<std::vector<sim::OpIndex>> forward_parts_;        ///< stage 3: [bucket][worker]
  std::vector<std::vector<sim::OpIndex>> to_host_, from_host_;  ///< [bucket][worker]
  std::vector<std::vector<sim::OpIndex>> gathers_;              ///< [pass][bucket]
  std::vector<std::vector<sim::OpIndex>> backward_;             ///< [bucket][worker]
  std::vector<std::vector<sim::OpIndex>> collective_;           ///< [bucket][stage]
  std::vector<Ends> last_;                     ///< [bucket]: what the update awaits
  std::vector<sim::OpIndex> last_collective_;  ///< of the bucket before; empty at first
  /// By shard: its last push and operation of this bucket.
  std::vector<std::vector<sim::OpIndex>> at_shard_;
  std::vector<Costing> costs_;
};

}  // namespace gradwire::trainers
