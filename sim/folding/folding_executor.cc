#include "sim/folding/folding_executor.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace gradwire::sim {
namespace {

constexpr std::size_t kMostLogged = std::size_t{256} << 20;  // bytes
constexpr std::size_t kCachedGraphs = 16;

}  // namespace

FoldingExecutor::FoldingExecutor(std::unique_ptr<const Cluster> cluster,
                                 const TransportSettings& transport, Make make)
    : cluster_(std::move(cluster)), transport_(transport), make_(std::move(make)) {}

GraphId FoldingExecutor::submit(const Submission& submission) {
  GRADWIRE_ASSERT(submission.graph != nullptr);
  GRADWIRE_ASSERT(submission.bytes.size() == submission.graph->bytes_begin.back());
  GRADWIRE_ASSERT(submission.seconds.size() == submission.graph->size());
  if (!inner_) begin(submission);
  if (found_) {
    const std::optional<GraphId> id = submit_folded(submission);
    if (id && log_.bytes() > kMostLogged) unfold();
    if (id) return *id;
    unfold();
  }
  return inner_->submit(submission);
}

void FoldingExecutor::begin(const Submission& first) {
  if (first.graph->hosts <= cluster_->host_count())
    found_ = find_columns(*cluster_, first, transport_);
  if (found_ && !folded(first.graph)) found_.reset();
  inner_ = make_(found_ ? std::make_unique<const Cluster>(found_->cluster.cluster())
                        : std::move(cluster_));
  std::vector<Event> none;
  if (now_ > Seconds(0)) inner_->advance(now_, none);
}

std::shared_ptr<const FoldedGraph> FoldingExecutor::folded(const GraphPtr& graph) {
  for (const auto& each : graphs_)
    if (&each->whole() == graph.get()) return each;
  auto folded = FoldedGraph::fold(graph, found_->columns);
  if (!folded) return nullptr;
  if (graphs_.size() == kCachedGraphs) graphs_.erase(graphs_.begin());
  return graphs_.emplace_back(std::move(folded));
}

std::optional<GraphId> FoldingExecutor::submit_folded(const Submission& submission) {
  const auto graph = folded(submission.graph);
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::vector<CrossEdge> after;
  if (!graph || !graph->fold_values(submission, bytes, seconds) ||
      !fold_after(submission, *graph, after))
    return std::nullopt;
  const GraphId id = inner_->submit({graph->graph(), bytes, seconds, submission.not_before, after});
  log_.submitted(now_, submission);
  runs_[id].graph = graph;
  return id;
}

/// Edges from graphs that are forgotten are satisfied.
bool FoldingExecutor::fold_after(const Submission& submission, const FoldedGraph& graph,
                                 std::vector<CrossEdge>& after) const {
  std::map<GraphId, std::vector<CrossEdge>> edges;
  for (const CrossEdge& edge : submission.after) edges[edge.from.graph].push_back(edge);
  for (const auto& [from, list] : edges) {
    const auto run = runs_.find(from);
    if (run != runs_.end() && !FoldedGraph::fold_edges(*run->second.graph, graph, list, after))
      return false;
  }
  return true;
}

bool FoldingExecutor::advance(Seconds until, std::vector<Event>& events) {
  if (!inner_) {
    if (until < kForever) now_ = std::max(now_, until);
    return false;
  }
  return found_ ? advance_folded(until, events) : advance_whole(until, events);
}

bool FoldingExecutor::advance_folded(Seconds until, std::vector<Event>& events) {
  folded_events_.clear();
  const bool more = inner_->advance(until, folded_events_);
  log_.advanced();
  ++version_;
  if (!are_even(folded_events_) || (more && !carry_the_same())) {
    unfold(folded_events_);
    return advance_whole(until, events);
  }
  now_ = inner_->now();
  for (const Event& event : folded_events_)
    if (is_first(event)) append_images(event, events);
  return more;
}

/// Whether all columns' images of an event are there, and no transfer has failed.
bool FoldingExecutor::are_even(const std::vector<Event>& events) const {
  std::vector<Key> seen;
  for (const Event& event : events) {
    if (event.kind == EventKind::kTransferFailed) return false;
    const FoldedGraph& graph = *runs_.at(event.op.graph).graph;
    if (event.kind == EventKind::kRankDone) {
      const std::int32_t row = event.host % found_->columns.rows;
      seen.emplace_back(event.op.graph, event.kind, event.op.op, row);
    } else if (event.kind == EventKind::kOperationEnded && !graph.is_collective(event.op.op)) {
      seen.emplace_back(event.op.graph, event.kind, graph.orbit_of(event.op.op), -1);
    }
  }
  std::ranges::sort(seen);
  constexpr auto kEach = static_cast<std::size_t>(kKeptColumns);
  for (std::size_t i = 0; i < seen.size(); i += kEach)
    if (i + kEach > seen.size() || seen[i] != seen[i + kEach - 1]) return false;
  return true;
}

/// Whether links that are images of each other have been busy for as long: their transfers' times
/// then are the same, too, not just those at which all is over.
bool FoldingExecutor::carry_the_same() const {
  constexpr double kRounding = 1e-12;
  const std::vector<ChannelRecord> channels = inner_->channels();
  constexpr std::size_t kAGroup = 2 * kKeptColumns;  // channels
  for (std::size_t id = 0; id < channels.size(); ++id) {
    const ChannelRecord& first = channels[id - id % kAGroup + id % 2];
    const double busy = channels[id].busy.value(), expected = first.busy.value();
    if (channels[id].wire != first.wire || std::abs(busy - expected) > kRounding * expected)
      return false;
  }
  return true;
}

/// Whether the event is column 0's, or everybody's: the one that stands for its images.
bool FoldingExecutor::is_first(const Event& event) const {
  if (event.kind == EventKind::kRankDone) return event.host < found_->columns.rows;
  return event.kind == EventKind::kGraphEnded ||
         runs_.at(event.op.graph).graph->column_of(event.op.op) <= 0;
}

void FoldingExecutor::append_images(const Event& event, std::vector<Event>& events) const {
  const GraphId id = event.op.graph;
  const FoldedGraph& graph = *runs_.at(id).graph;
  const Columns& columns = found_->columns;
  if (event.kind == EventKind::kGraphEnded) {
    events.push_back(event);
  } else if (event.kind == EventKind::kRankDone) {
    const OpIndex op = graph.images_of(event.op.op)[0];
    for (std::int32_t r = event.host % columns.rows; r < columns.ranks(); r += columns.rows)
      events.push_back(
          {event.time, event.kind, {id, op}, columns.hosts[static_cast<std::size_t>(r)]});
  } else {
    for (const OpIndex op : graph.images_of(event.op.op))
      events.push_back({event.time, event.kind, {id, op}, event.host});
  }
}

/// The whole cluster takes over. `unreported`: what has just happened in the folded one.
void FoldingExecutor::unfold(const std::vector<Event>& unreported) {
  for (const auto& [graph, run] : runs_) note_reported(graph, run);
  std::vector<Event> images;
  for (const Event& event : unreported)
    if (event.kind != EventKind::kTransferFailed) append_images(event, images);
  for (const Event& each : images)
    reported_.erase({each.op.graph, each.kind, each.op.op, each.host});
  inner_ = make_(std::move(cluster_));
  log_.repeat(*inner_, now_, pending_);
  std::erase_if(pending_, [this](const Event& event) { return !runs_.contains(event.op.graph); });
  drop_reported(pending_, 0);
  found_.reset();
  graphs_.clear();
  runs_.clear();
  log_ = {};
}

void FoldingExecutor::note_reported(GraphId graph, const Run& run) {
  const Timeline& timeline = this->timeline(graph);
  const GraphTemplate& whole = run.graph->whole();
  bool ended = true;
  for (OpIndex op = 0; op < whole.size(); ++op) {
    if (timeline.ops[op].end.value() >= 0)
      reported_.insert({graph, EventKind::kOperationEnded, op, -1});
    ended = ended && timeline.ops[op].end.value() >= 0;
    if (!whole.is_collective(op)) continue;
    const auto number = static_cast<std::size_t>(whole.peer[op]);
    const std::vector<std::int32_t>& members = whole.collectives[number].members;
    for (std::size_t r = 0; r < members.size(); ++r)
      if (timeline.rank_done[number][r].value() >= 0)
        reported_.insert({graph, EventKind::kRankDone, op, members[r]});
  }
  if (ended) reported_.insert({graph, EventKind::kGraphEnded, 0, -1});
}

void FoldingExecutor::drop_reported(std::vector<Event>& events, std::size_t first) {
  if (reported_.empty()) return;
  const auto is_known = [this](const Event& event) {
    return reported_.erase({event.op.graph, event.kind, event.op.op, event.host}) > 0;
  };
  events.erase(
      std::remove_if(events.begin() + static_cast<std::ptrdiff_t>(first), events.end(), is_known),
      events.end());
}

bool FoldingExecutor::advance_whole(Seconds until, std::vector<Event>& events) {
  const std::size_t before = events.size();
  if (!pending_.empty()) {
    events.insert(events.end(), pending_.begin(), pending_.end());
    pending_.clear();
    return true;
  }
  for (bool more = true; more && events.size() == before;) {
    more = inner_->advance(until, events);
    drop_reported(events, before);
  }
  now_ = inner_->now();
  return events.size() > before;
}

void FoldingExecutor::cancel(GraphId graph) {
  if (!inner_) return;
  if (found_) log_.cancelled(now_, graph);
  inner_->cancel(graph);
  ++version_;
}

void FoldingExecutor::forget(GraphId graph) {
  if (!inner_) return;
  if (found_) log_.forgotten(now_, graph);
  runs_.erase(graph);
  inner_->forget(graph);
  std::erase_if(reported_, [graph](const Key& key) { return std::get<0>(key) == graph; });
}

const Timeline& FoldingExecutor::timeline(GraphId graph) const {
  GRADWIRE_ASSERT(inner_ != nullptr);
  if (!found_) return inner_->timeline(graph);
  const Run& run = runs_.at(graph);
  if (std::exchange(run.version, version_) != version_)
    run.graph->expand(inner_->timeline(graph), run.timeline);
  return run.timeline;
}

std::span<const MissingData> FoldingExecutor::missing(GraphId graph) const {
  return inner_ && !found_ ? inner_->missing(graph) : std::span<const MissingData>{};
}

std::vector<ChannelRecord> FoldingExecutor::channels() const {
  if (inner_ && !found_) return inner_->channels();
  std::vector<ChannelRecord> whole(static_cast<std::size_t>(cluster_->channel_count()));
  if (!inner_) return whole;
  const std::vector<ChannelRecord> folded = inner_->channels();
  for (std::size_t id = 0; id < whole.size(); ++id) {
    const ChannelId image = found_->cluster.image(static_cast<ChannelId>(id));
    if (image >= 0) whole[id] = folded[static_cast<std::size_t>(image)];
  }
  return whole;
}

std::string FoldingExecutor::describe_unfinished(GraphId graph) const {
  return inner_ && !found_ ? inner_->describe_unfinished(graph)
                           : Executor::describe_unfinished(graph);
}

}  // namespace gradwire::sim
