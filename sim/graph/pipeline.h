#pragma once
#include <optional>
#include <vector>

#include "sim/graph/step_graph.h"
#include "sim/graph/timeline.h"

/// A model cut into stages, one a host, through which micro-batches pass: forwards from stage 0 to
/// the last, backwards back. Before an update every micro-batch has passed both ways (a flush).
///
/// Order of a stage's work, p stages, m micro-batches:
/// - GPipe (Huang et al., arXiv 1811.06965): all forwards, then all backwards, the last micro-batch
///   first; a stage keeps the activations of m micro-batches.
/// - 1F1B (Narayanan et al., PipeDream, SOSP 2019, with a flush): stage s runs min(p - 1 - s, m)
///   forwards, then a forward and a backward in turn, then the backwards that are left; it keeps
///   the activations of p - s micro-batches at most.
///
/// With equal stages, f + b a micro-batch, and a network that takes no time, both take (m + p - 1)
/// (f + b), of which a stage idles (p - 1) / (m + p - 1), the bubble.
///
/// Messages may be encoded before they are sent and decoded when they have arrived, on the codec
/// lanes of both hosts: a stage's passes go on meanwhile, but for the one that waits for a message.
namespace gradwire::sim {

enum class PipelineSchedule { kGpipe, kOneForwardOneBackward };

/// What a message takes on the codec lanes of its two ends.
struct PipelineCoding {
  Seconds encode{0}, decode{0};
};

/// Times and sizes by stage, of one micro-batch.
struct PipelinePlan {
  PipelineSchedule schedule = PipelineSchedule::kGpipe;
  int micro_batches = 1;
  std::vector<Seconds> forward, backward;  ///< [stages]
  std::vector<Seconds> update;             ///< [stages], once, after the last backward
  /// [stages - 1]: activations from stage s to s + 1, and their gradients, which come back; none
  /// of the latter: in as many bytes.
  std::vector<Bytes> boundary, gradients = {};
  /// [stages - 1]; empty: messages are sent as they are, without operations of a codec.
  std::vector<std::optional<PipelineCoding>> coding = {}, gradient_coding = {};
};

/// A message of a micro-batch.
struct PipelineMessage {
  OpIndex transfer = 0;
  std::optional<OpIndex> encode = {}, decode = {};
};

/// The passes of a pipeline in a graph.
struct PipelinePasses {
  std::vector<OpIndex> first, last;  ///< [stages], operations of a stage
  /// [stages - 1][micro-batch]
  std::vector<std::vector<PipelineMessage>> activations, gradients;
};

struct PipelineStep : PipelinePasses {
  GraphPtr graph;
  std::vector<Bytes> bytes;  ///< as Submission takes them
  std::vector<Seconds> seconds;
  std::vector<OpIndex> update;  ///< [stages], last operation of a stage
};

/// Stage s is host s. Throws SimError for a plan without stages or micro-batches, or whose sizes do
/// not agree.
PipelineStep build_pipeline(const PipelinePlan& plan);

/// Adds all but the updates to a graph that may have others; stage s is host first_host + s.
/// `bytes` and `seconds` are of the whole graph and grow with it.
PipelinePasses add_pipeline(GraphBuilder& builder, const PipelinePlan& plan, int first_host,
                            std::vector<Bytes>& bytes, std::vector<Seconds>& seconds);

/// An operation of a stage: the forward or the backward pass of one micro-batch.
struct PipelineTask {
  int micro_batch = 0;
  bool backward = false;
};
/// What a stage does, in order.
std::vector<PipelineTask> pipeline_order(PipelineSchedule schedule, int stages, int stage,
                                         int micro_batches);

/// Most micro-batches whose activations a host held at once: from the start of a forward to the end
/// of its backward. `graph` has a pipeline that the timeline is of; all its operations have ended.
int most_kept(const GraphTemplate& graph, const Timeline& timeline, int host);

/// How long that host's passes waited for messages that were on their way.
Seconds exposed_transfer(const GraphTemplate& graph, const Timeline& timeline, int host);

}  // namespace gradwire::sim
