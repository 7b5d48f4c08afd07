#include "runner/record/step_recorder.h"

#include <algorithm>
#include <iterator>

#include "results/runs/exposed.h"
#include "runner/record/message_sizes.h"
#include "sim/graph/timeline_hash.h"

namespace gradwire::runner {
namespace {

/// Whether something of the step was cut off.
bool is_cut_off(const sim::Timeline& timeline) {
  return std::ranges::any_of(timeline.ops,
                             [](const sim::OpRecord& op) { return op.end < Seconds(0); });
}

/// What a payload takes on the wire in so many messages of one size, each segment sent once.
double clean_wire_bytes(Bytes payload, std::int64_t messages,
                        const sim::TransportSettings& transport) {
  const auto bytes = static_cast<double>(payload.count());
  if (transport.protocol == sim::TransportSettings::Protocol::kIdeal || messages <= 0) return bytes;
  const std::int64_t each = payload.count() / messages, larger = payload.count() % messages;
  const auto wire = [&](std::int64_t size) {
    return size > 0 ? static_cast<double>(sim::wire_bytes(Bytes(size), transport).count()) : 0.0;
  };
  return static_cast<double>(messages - larger) * wire(each) +
         static_cast<double>(larger) * wire(each + 1);
}

std::int64_t messages_of(std::span<const RanWork> works) {
  std::int64_t sum = 0;
  for (const RanWork& ran : works)
    for (const sim::OpRecord& op : ran.timeline.ops) sum += op.transfers;
  return sum;
}

/// When its first operation started, if one did before `first`: graphs are submitted before their
/// turn, and one that was cut off has no end.
double first_start(const sim::Timeline& timeline, Seconds first) {
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
    Seconds ready = timeline.ops[op].start;  // not the graph's: it is submitted before its turn
    for (const sim::OpIndex before : graph.dependencies(op))
      ready = std::max(ready, timeline.ops[before].end);
    sum += (timeline.ops[op].end - ready).value();
  }
  return sum;
}

}  // namespace

results::StepRow StepRecorder::record(const scenarios::StepReport& report,
                                      std::span<const RanWork> works) {
  results::StepRow row;
  row.step = report.step;
  row.loss = report.loss;
  row.start_s = row.end_s = report.end.value();
  Bytes sent{0};
  bool cut_off = false;
  double exchange = 0;
  Segments segments;
  for (const RanWork& ran : works) {
    row.start_s = first_start(ran.timeline, Seconds(row.start_s));
    for (const sim::OpRecord& op : ran.timeline.ops) {
      sent += op.payload;
      row.wire_bytes += op.wire.count();
      row.retransmissions += op.retransmissions;
    }
    cut_off = cut_off || is_cut_off(ran.timeline);
    exchange += exchange_time(*ran.work.graph, ran.timeline);
    add_segments(report.step, ran, segments);
    hash_.add(sim::timeline_hash(ran.timeline));
  }
  row.payload_bytes = (cut_off ? sent : report.payload).count();
  const results::TimeSplit split = results::split_of(segments, workers_);
  row.compute_s = split.compute_s;
  row.codec_s = split.codec_s;
  row.exposed_codec_s = split.exposed_codec_s;
  row.exposed_s = split.exposed_s;
  step_times_.push_back(row.end_s - last_end_);
  exchange_times_.push_back(exchange);
  last_end_ = row.end_s;
  count_bytes(report, works, row);
  keep(report.step, works, std::move(segments));
  return row;
}

void StepRecorder::count_bytes(const scenarios::StepReport& report, std::span<const RanWork> works,
                               const results::StepRow& row) {
  payload_bytes_ += row.payload_bytes;
  wire_bytes_ += row.wire_bytes;
  Bytes own{0};
  for (const RanWork& ran : works) own += own_payload(ran.work);
  if (own == Bytes(0)) return;  // a step without an exchange compresses nothing
  own_bytes_ += own.count();
  gradient_bytes_ += report.encoded_values.value_or(gradients_).count();
  const std::int64_t messages =
      report.dense_messages > 0 ? report.dense_messages : messages_of(works);
  dense_wire_bytes_ += clean_wire_bytes(report.dense_payload, messages, transport_);
}

std::optional<double> StepRecorder::compression_ratio() const {
  if (gradient_bytes_ == 0) return std::nullopt;
  return static_cast<double>(own_bytes_) / static_cast<double>(gradient_bytes_);
}

std::optional<double> StepRecorder::traffic_ratio() const {
  if (gradient_bytes_ == 0 || dense_wire_bytes_ == 0) return std::nullopt;
  return static_cast<double>(wire_bytes_) / dense_wire_bytes_;
}

void StepRecorder::add_segments(std::int64_t step, const RanWork& ran, Segments& segments) {
  const sim::GraphTemplate& graph = *ran.work.graph;
  const sim::Timeline& timeline = ran.timeline;
  const auto starts = rank_starts_.add(ran.work.graph, timeline, ran.work.after);
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    const sim::OpRecord& record = timeline.ops[op];
    if (record.end < record.start || record.start < Seconds(0)) continue;
    results::TimelineSegment segment{step,
                                     graph.worker[op],
                                     static_cast<std::uint8_t>(graph.lane[op]),
                                     graph.labels[graph.label[op]],
                                     record.start.value(),
                                     record.end.value(),
                                     record.payload.count()};
    if (graph.kind[op] != sim::OpKind::kCollective) {
      if (record.end == record.start) continue;
      const bool transfer = graph.kind[op] == sim::OpKind::kTransfer;
      if (transfer) segment.lane = results::kTransferLane;
      segments.push_back(segment);
      if (!transfer) continue;
      segment.worker = graph.peer[op];
      segment.bytes = 0;
      segments.push_back(std::move(segment));
      continue;
    }
    const auto collective = static_cast<std::size_t>(graph.peer[op]);
    const auto& members = graph.collectives[collective].members;
    segment.lane = results::kTransferLane;
    segment.bytes /= static_cast<std::int64_t>(std::max<std::size_t>(members.size(), 1));
    for (std::size_t rank = 0; rank < members.size(); ++rank) {
      segment.worker = members[rank];
      segment.end_s = timeline.rank_done[collective][rank].value();
      // The reports of emulated workers come from several clocks.
      segment.start_s = std::min(starts[collective][rank].value(), segment.end_s);
      segments.push_back(segment);
    }
  }
}

void StepRecorder::keep(std::int64_t step, std::span<const RanWork> works, Segments segments) {
  std::size_t operations = 0;
  for (const RanWork& ran : works) operations += ran.work.graph->size();
  if (segments_.size() + operations > kMaxSegments) return;
  for (const RanWork& ran : works) {
    path_.add(ran.work.graph, ran.timeline, ran.work.after);
    path_steps_.push_back(step);
  }
  std::ranges::move(segments, std::back_inserter(segments_));
}

std::vector<results::TimelineSegment> StepRecorder::segments() const {
  std::vector<results::TimelineSegment> all = segments_;
  for (const sim::CriticalPath::Piece& piece : path_.find())
    all.push_back({path_steps_[piece.step], piece.host, results::kCriticalLane, piece.label,
                   piece.start, piece.end, 0});
  return all;
}

}  // namespace gradwire::runner
