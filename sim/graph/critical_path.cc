#include "sim/graph/critical_path.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace gradwire::sim {
namespace {

constexpr double kNever = -1;

const CollectiveSpec& spec_of(const GraphTemplate& graph, OpIndex op) {
  return graph.collectives[static_cast<std::size_t>(graph.peer[op])];
}

}  // namespace

void CriticalPath::add(const GraphPtr& graph, const Timeline& timeline,
                       std::span<const CrossEdge> after) {
  Step step{graph, nullptr, timeline, sources_, {}};
  const bool same = !steps_.empty() && steps_.back().graph == graph;
  step.index = same ? steps_.back().index : std::make_shared<const GraphIndex>(*graph);
  step.blocker.assign(step.index->gate_count(), -1);
  number_of_[timeline.graph] = steps_.size();
  sources_ += step.index->source_count();
  steps_.push_back(std::move(step));
  Step& own = steps_.back();
  for (std::uint32_t source = 0; source < own.index->source_count(); ++source)
    for (const std::uint32_t gate : own.index->gates_after(source))
      wait_for(own, gate, own.first_source + source);
  std::vector<GateEdge> edges;
  for (const CrossEdge& edge : after) {
    const auto found = number_of_.find(edge.from.graph);
    if (found == number_of_.end()) continue;
    const Step& from = steps_[found->second];
    edges.clear();
    expand_edge(*from.graph, edge.from.op, *graph, edge.to, edges);
    for (const GateEdge& part : edges)
      wait_for(own, own.index->gate_begin[edge.to] + part.gate,
               from.first_source + from.index->source_begin[edge.from.op] + part.source);
  }
}

void CriticalPath::wait_for(Step& step, std::uint32_t gate, Source source) {
  Source& last = step.blocker[gate];
  if (last < 0 || end_of(source) > end_of(last)) last = source;
}

CriticalPath::Place CriticalPath::place_of(Source source) const {
  const auto step = std::prev(
      std::upper_bound(steps_.begin(), steps_.end(), source,
                       [](Source value, const Step& each) { return value < each.first_source; }));
  const auto own = static_cast<std::uint32_t>(source - step->first_source);
  const auto& begin = step->index->source_begin;
  const auto op = std::prev(std::upper_bound(begin.begin(), begin.end(), own));
  return {&*step, static_cast<std::size_t>(step - steps_.begin()),
          static_cast<OpIndex>(op - begin.begin()), own - *op};
}

double CriticalPath::end_of(const Step& step, OpIndex op, std::uint32_t part) const {
  const double all = step.timeline.ops[op].end.value();
  if (!step.graph->is_collective(op) || all < 0) return all;
  const auto& done = step.timeline.rank_done[static_cast<std::size_t>(step.graph->peer[op])];
  return part < done.size() ? done[part].value() : all;
}

double CriticalPath::end_of(Source source) const {
  const Place place = place_of(source);
  return end_of(*place.step, place.op, place.part);
}

/// Of the ranks that a rank may have waited for, the blocker of the one that was ready last.
CriticalPath::Source CriticalPath::blocker_of_rank(const Place& place) const {
  const Step& step = *place.step;
  const CollectiveSpec& spec = spec_of(*step.graph, place.op);
  const double end = end_of(step, place.op, place.part);
  const std::uint32_t first = step.index->gate_begin[place.op];
  const std::uint32_t gates = step.index->gate_begin[place.op + 1] - first;
  Source best = -1;
  const auto consider = [&](std::uint32_t gate) {
    const Source blocker = step.blocker[first + gate];
    if (blocker < 0 || end_of(blocker) > end) return;
    if (best < 0 || end_of(blocker) > end_of(best)) best = blocker;
  };
  if (spec.kind != CollectiveKind::kGossip || place.part >= spec.members.size()) {
    for (std::uint32_t gate = 0; gate < gates; ++gate) consider(gate);
    return best;
  }
  consider(place.part);
  for (std::size_t r = 0; r < spec.members.size(); ++r)
    for (std::int32_t n = spec.neighbour_begin[r]; n < spec.neighbour_begin[r + 1]; ++n)
      if (spec.neighbour[static_cast<std::size_t>(n)] == static_cast<std::int32_t>(place.part))
        consider(static_cast<std::uint32_t>(r));
  return best;
}

/// By source: the operation before it on its lane, if it is on one.
std::vector<CriticalPath::Source> CriticalPath::lane_predecessors() const {
  using Entry = std::tuple<std::int32_t, Lane, double, double, Source>;
  std::vector<Entry> entries;
  for (const Step& step : steps_) {
    for (OpIndex op = 0; op < step.graph->size(); ++op) {
      const OpRecord& record = step.timeline.ops[op];
      if (step.graph->lane[op] == Lane::kNone || record.end < Seconds(0)) continue;
      entries.emplace_back(step.graph->worker[op], step.graph->lane[op], record.start.value(),
                           record.end.value(), step.first_source + step.index->source_begin[op]);
    }
  }
  std::sort(entries.begin(), entries.end());
  std::vector<Source> before(static_cast<std::size_t>(sources_), -1);
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const auto& [host, lane, start, end, source] = entries[i];
    if (std::get<0>(entries[i - 1]) == host && std::get<1>(entries[i - 1]) == lane)
      before[static_cast<std::size_t>(source)] = std::get<4>(entries[i - 1]);
  }
  return before;
}

std::vector<CriticalPath::Piece> CriticalPath::find() const {
  const std::vector<Source> before = lane_predecessors();
  Source at = -1;
  double latest = kNever;
  for (Source source = 0; source < sources_; ++source)
    if (const double end = end_of(source); end > latest) latest = end, at = source;
  std::vector<Piece> path;
  for (Source left = sources_; at >= 0 && left > 0; --left) {
    const Place place = place_of(at);
    const Step& step = *place.step;
    const bool collective = step.graph->is_collective(place.op);
    Source blocker =
        collective ? blocker_of_rank(place) : step.blocker[step.index->gate_begin[place.op]];
    const Source lane = before[static_cast<std::size_t>(at)];
    if (lane >= 0 && (blocker < 0 || end_of(lane) > end_of(blocker))) blocker = lane;
    double start = step.timeline.ops[place.op].start.value();
    std::int32_t host = step.graph->worker[place.op];
    if (collective) {
      const CollectiveSpec& spec = spec_of(*step.graph, place.op);
      host = place.part < spec.members.size() ? spec.members[place.part] : spec.server;
      if (host < 0) host = spec.members.front();
      if (blocker >= 0) start = end_of(blocker);
    }
    const double end = end_of(at);
    if (end > start)
      path.push_back(
          {place.number, host, step.graph->labels[step.graph->label[place.op]], start, end});
    at = blocker;
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace gradwire::sim
