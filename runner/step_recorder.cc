#include "runner/step_recorder.h"

#include <algorithm>

#include "sim/timeline_hash.h"
#include "sim/timeline_summary.h"

namespace gradwire::runner {
namespace {

/// Means over the workers of the split of one step.
void add_split(const scenarios::StepPlan& plan, const sim::Timeline& timeline, int workers,
               results::StepRow& row) {
  for (int worker = 0; worker < workers; ++worker) {
    const sim::StepSplit split = sim::split_of(*plan.graph, timeline, worker);
    row.compute_s += split.compute.value() / workers;
    row.codec_s += split.codec.value() / workers;
    row.exposed_s += split.exposed.value() / workers;
  }
}

/// When the step's first operation started: graphs are submitted before their turn.
double first_start(const sim::Timeline& timeline) {
  Seconds first = timeline.end;
  for (const sim::OpRecord& op : timeline.ops)
    if (op.start >= Seconds(0)) first = std::min(first, op.start);
  return first.value();
}

double exchange_time(const sim::GraphTemplate& graph, const sim::Timeline& timeline) {
  double sum = 0;
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    if (graph.kind[op] != sim::OpKind::kCollective && graph.kind[op] != sim::OpKind::kTransfer)
      continue;
    if (timeline.ops[op].end < Seconds(0)) continue;  // cut off
    Seconds ready = timeline.start;
    for (const sim::OpIndex before : graph.dependencies(op))
      ready = std::max(ready, timeline.ops[before].end);
    sum += (timeline.ops[op].end - ready).value();
  }
  return sum;
}

}  // namespace

results::StepRow StepRecorder::record(const scenarios::StepPlan& plan,
                                      const sim::Timeline& timeline, Seconds end) {
  results::StepRow row;
  row.step = plan.step;
  row.loss = plan.loss;
  row.start_s = first_start(timeline);
  row.end_s = end.value();
  row.payload_bytes = plan.payload.count();
  for (const sim::OpRecord& op : timeline.ops) {
    row.wire_bytes += op.wire.count();
    row.retransmissions += op.retransmissions;
  }
  add_split(plan, timeline, workers_, row);
  step_times_.push_back(row.end_s - last_end_);
  exchange_times_.push_back(exchange_time(*plan.graph, timeline));
  last_end_ = row.end_s;
  payload_bytes_ += row.payload_bytes;
  dense_bytes_ += plan.dense_payload.count();
  wire_bytes_ += row.wire_bytes;
  hash_.add(sim::timeline_hash(timeline));
  add_segments(plan, timeline);
  return row;
}

void StepRecorder::add_segments(const scenarios::StepPlan& plan, const sim::Timeline& timeline) {
  const sim::GraphTemplate& graph = *plan.graph;
  if (segments_.size() + graph.size() > kMaxSegments) return;
  path_.add(plan.graph, timeline, plan.after);
  path_steps_.push_back(plan.step);
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    const sim::OpRecord& record = timeline.ops[op];
    if (record.end < record.start || record.start < Seconds(0)) continue;
    results::TimelineSegment segment{plan.step,
                                     graph.worker[op],
                                     static_cast<std::uint8_t>(graph.lane[op]),
                                     graph.labels[graph.label[op]],
                                     record.start.value(),
                                     record.end.value(),
                                     record.payload.count()};
    if (graph.kind[op] != sim::OpKind::kCollective) {
      if (graph.kind[op] == sim::OpKind::kTransfer) segment.lane = results::kTransferLane;
      if (record.end > record.start) segments_.push_back(std::move(segment));
      continue;
    }
    const auto collective = static_cast<std::size_t>(graph.peer[op]);
    const auto& members = graph.collectives[collective].members;
    segment.lane = results::kTransferLane;
    segment.bytes /= static_cast<std::int64_t>(std::max<std::size_t>(members.size(), 1));
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      segment.worker = members[rank];
      segment.end_s = timeline.rank_done[collective][rank].value();
      segments_.push_back(segment);
    }
  }
}

std::vector<results::TimelineSegment> StepRecorder::segments() const {
  std::vector<results::TimelineSegment> all = segments_;
  for (const sim::CriticalPath::Piece& piece : path_.find())
    all.push_back({path_steps_[piece.step], piece.host, results::kCriticalLane, piece.label,
                   piece.start, piece.end, 0});
  return all;
}

}  // namespace gradwire::runner
