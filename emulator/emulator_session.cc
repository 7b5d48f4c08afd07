#include "emulator/emulator_session.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/hub/frame.h"
#include "emulator/hub/graph_json.h"
#include "sim/graph/payloads.h"

namespace gradwire::emulator {

using nlohmann::json;
using sim::CollectiveKind;
using sim::Event;
using sim::EventKind;
using sim::GraphId;
using sim::OpKind;
using sim::SimError;

namespace {

/// Reports by which an operation's end is known: one for each source that some host observes, one
/// for each host that sends (a ring's members report both in one).
std::uint32_t reports_of(const HostView& view, OpIndex op) {
  if (view.graph->kind[op] == OpKind::kTransfer) return 2;
  if (!view.is_collective(op)) return 1;
  const auto ranks = static_cast<std::uint32_t>(view.spec(op).members.size());
  if (view.spec(op).kind == CollectiveKind::kPush) return 2 * ranks + 1;
  return view.spec(op).kind == CollectiveKind::kPull ? ranks + 1 : ranks;
}

}  // namespace

EmulatorSession::Run& EmulatorSession::get(GraphId graph) const {
  const auto found = runs_.find(graph);
  GRADWIRE_ASSERT(found != runs_.end());
  return *found->second;
}

/// Nothing is under way, and all is told.
bool EmulatorSession::stands_still() const {
  return is_idle() && events_.empty();
}

Seconds EmulatorSession::now() const {
  latest_ = std::max(latest_, stands_still() ? last_event_ : monotonic_now() - epoch_);
  return latest_;
}

void EmulatorSession::check(const sim::Submission& submission) const {
  GRADWIRE_ASSERT(submission.graph != nullptr);
  const sim::GraphTemplate& graph = *submission.graph;
  GRADWIRE_ASSERT(submission.bytes.size() == graph.bytes_begin.back());
  GRADWIRE_ASSERT(submission.seconds.size() == graph.size());
  if (graph.hosts > choice_.hosts)
    throw SimError("submit", "a graph over " + std::to_string(graph.hosts) + " hosts",
                   "the cluster has " + std::to_string(choice_.hosts));
  for (const Seconds seconds : submission.seconds)
    if (!(seconds >= Seconds(0)) || !std::isfinite(seconds.value()))
      throw SimError("submit", "a graph", "a duration is negative or not finite");
  for (const Bytes bytes : submission.bytes)
    if (bytes < Bytes(0)) throw SimError("submit", "a graph", "a size is negative");
}

bool EmulatorSession::is_idle() const {
  return std::all_of(runs_.begin(), runs_.end(), [](const auto& item) {
    return item.second->unfinished == 0 || item.second->cancelled;
  });
}

void EmulatorSession::calm_links() {
  if (!live_ || !is_idle()) return;
  live_ = false;
  hub_->send(kLinks, {{"kind", "calm"}});
}

/// The clock goes on where it stood.
void EmulatorSession::start_clock() {
  if (options_.raise_priority && !on_machines()) urgency_.raise();
  if (stands_still()) {
    epoch_ = monotonic_now() - now();
    plan_.clock_started();
  }
  if (!by_process() || live_) return;
  live_ = true;
  hub_->send(kLinks, {{"kind", "live"}, {"epoch", epoch_.value()}});
  await("live");  // before anything is sent over them
}

/// Where all has ended.
void EmulatorSession::stop_clock() {
  calm_links();
  if (!stands_still()) return;
  urgency_.lower();
  plan_.clock_stopped();
}

Seconds EmulatorSession::fire_incidents() {
  if (stands_still()) return sim::kForever;
  plan_.fire(monotonic_now() - epoch_);
  return epoch_ + plan_.next();
}

GraphId EmulatorSession::submit(const sim::Submission& submission) {
  check(submission);
  last_news_ = monotonic_now();  // the caller may have been away for long
  const Template& known = template_of(submission.graph);
  const GraphId id = next_id_++;
  auto run = std::make_unique<Run>();
  run->view = known.view;
  note_exchanged(*submission.graph);
  run->own.resize(submission.graph->size());
  if (submission.payloads) {  // before the clock goes on
    tell_payloads(id, *submission.payloads, *known.view);
    for (const auto& message : submission.payloads->messages()) run->own.at(message.op) = true;
  }
  note_reaction();
  start_clock();
  run->unfinished = submission.graph->size();
  run->timeline.graph = id;
  run->timeline.start = std::max(now(), submission.not_before);
  run->timeline.ops.resize(submission.graph->size());
  for (const sim::CollectiveSpec& spec : submission.graph->collectives)
    run->timeline.rank_done.emplace_back(spec.members.size(), Seconds(-1));
  for (OpIndex op = 0; op < submission.graph->size(); ++op) {
    run->missing.push_back(reports_of(*run->view, op));
    run->longest = std::max(run->longest, submission.seconds[op].value());
  }
  run->longest += (run->timeline.start - now()).value();
  json after = json::array();
  for (const sim::CrossEdge& edge : submission.after)
    after.push_back({edge.from.graph, edge.from.op, edge.to});
  hub_->send(kAllHosts, {{"kind", "submit"},
                         {"graph", id},
                         {"template", known.id},
                         {"bytes", to_blob(submission.bytes)},
                         {"seconds", to_blob(submission.seconds)},
                         {"not_before", (epoch_ + run->timeline.start).value()},
                         {"after", std::move(after)}});
  runs_[id] = std::move(run);
  last_news_ = monotonic_now();
  return id;
}

void EmulatorSession::take(const json& message) {
  if (kind_of(message) == "report") take_report(operation_report_from_json(message));
}

void EmulatorSession::take_report(const OperationReport& report) {
  const auto found = runs_.find(report.graph);
  if (found == runs_.end() || found->second->cancelled) return;
  Run& run = *found->second;
  const OpIndex op = report.op;
  if (op >= run.missing.size() || run.missing[op] == 0)
    throw Error(ErrorKind::kFailure, "read", "a worker's report",
                "nothing is missing of operation " + std::to_string(op) + " of graph " +
                    std::to_string(report.graph),
                "the process that sent it is broken");
  sim::OpRecord& record = run.timeline.ops[op];
  if (report.start >= 0) {
    const Seconds time = Seconds(report.start) - epoch_;
    record.start = record.start < Seconds(0) ? time : std::min(record.start, time);
  }
  record.payload += Bytes(report.sent[0]);
  record.wire += Bytes(report.sent[1]);
  record.transfers += report.sent[2];
  record.retransmissions += report.sent[3];
  if (report.source >= 0)
    source_ended(run, op, static_cast<std::uint32_t>(report.source), Seconds(report.end) - epoch_);
  if (--run.missing[op] == 0) end_operation(run, op);
}

void EmulatorSession::source_ended(Run& run, OpIndex op, std::uint32_t source, Seconds time) {
  sim::OpRecord& record = run.timeline.ops[op];
  record.end = std::max(record.end, time);
  if (!run.view->is_collective(op) || source >= run.view->spec(op).members.size()) return;
  const auto collective = static_cast<std::size_t>(run.view->graph->peer[op]);
  run.timeline.rank_done[collective][source] = time;
  emit(EventKind::kRankDone, run.timeline.graph, op, run.view->spec(op).members[source], time);
}

void EmulatorSession::end_operation(Run& run, OpIndex op) {
  const sim::OpRecord& record = run.timeline.ops[op];
  const Seconds end = record.end;
  sent_payloads_.messages += record.transfers;
  (run.own[op] ? sent_payloads_.own : sent_payloads_.pattern) += record.payload;
  const std::int32_t host = run.view->graph->kind[op] == OpKind::kTransfer
                                ? run.view->graph->peer[op]
                                : run.view->graph->worker[op];
  emit(EventKind::kOperationEnded, run.timeline.graph, op, host, end);
  run.timeline.end = std::max(run.timeline.end, end);
  if (--run.unfinished == 0)
    emit(EventKind::kGraphEnded, run.timeline.graph, 0, -1, run.timeline.end);
}

void EmulatorSession::emit(EventKind kind, GraphId graph, OpIndex op, int host, Seconds time) {
  events_.push_back({time, kind, {graph, op}, host});
}

bool EmulatorSession::deliver(std::vector<Event>& events, Seconds until) {
  if (events_.empty()) return false;
  // Reports of different workers may cross each other on their way by some tens of microseconds.
  std::stable_sort(events_.begin(), events_.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  const Seconds instant = std::max(events_.front().time, last_event_);
  if (instant > until) return false;
  std::size_t count = 0;
  while (count < events_.size() && events_[count].time <= instant) {
    events.push_back(events_[count++]);
    events.back().time = instant;
  }
  events_.erase(events_.begin(), events_.begin() + static_cast<std::ptrdiff_t>(count));
  last_event_ = instant;
  stop_clock();
  return true;
}

Seconds EmulatorSession::patience() const {
  double longest = 0;
  for (const auto& [id, run] : runs_)
    if (run->unfinished > 0 && !run->cancelled) longest = std::max(longest, run->longest);
  // Nothing may be heard while a host is paused, or cut off.
  for (const Incident& incident : incidents_) longest += incident.lasts.value();
  return options_.wall_limit + Seconds(longest);
}

bool EmulatorSession::advance(Seconds until, std::vector<Event>& events) {
  const Seconds end = until < sim::kForever ? epoch_ + until : until;
  for (;;) {
    const Seconds incident = fire_incidents();
    while (const auto message = hub_->receive(Seconds(0))) take(*message);
    if (deliver(events, until)) return true;
    if (stands_still() || monotonic_now() >= end) break;
    const Seconds limit = last_news_ + patience();
    const auto message = hub_->receive(std::min({end, limit, incident}));
    if (message) {
      last_news_ = monotonic_now();
      take(*message);
    } else if (monotonic_now() >= limit) {
      give_up(patience());
    }
  }
  if (until < sim::kForever) last_event_ = std::max(last_event_, until);
  return false;
}

void EmulatorSession::give_up(Seconds waited) {
  std::string unfinished;
  for (const auto& [id, run] : runs_)
    if (run->unfinished > 0 && !run->cancelled && unfinished.empty())
      unfinished = "graph " + std::to_string(id) + ", " + describe_unfinished(id);
  hub_->kill();
  throw Error(ErrorKind::kFailure, "finish", "the emulated run",
              "nothing was heard from its workers for " + format_duration(waited) +
                  (unfinished.empty() ? "" : " (" + unfinished + ")"),
              "they were ended; a link that loses nearly everything never finishes");
}

void EmulatorSession::cancel(GraphId graph) {
  const auto found = runs_.find(graph);
  if (found == runs_.end() || found->second->cancelled || found->second->unfinished == 0) return;
  found->second->cancelled = true;
  std::erase_if(events_, [&](const Event& event) { return event.op.graph == graph; });
  hub_->send(kAllHosts, {{"kind", "cancel"}, {"graph", graph}});
  if (!stands_still()) return;
  last_event_ = std::max(last_event_, latest_);
  stop_clock();
}

const sim::Timeline& EmulatorSession::timeline(GraphId graph) const {
  return get(graph).timeline;
}

void EmulatorSession::forget(GraphId graph) {
  if (!runs_.contains(graph)) return;
  cancel(graph);
  // Of one that was cut off messages may be on their way still, to be compared when they arrive.
  const bool ended = !runs_.at(graph)->cancelled;
  if (ended) payloads_.remove(graph);
  runs_.erase(graph);
  hub_->send(kAllHosts, {{"kind", "forget"}, {"graph", graph}, {"ended", ended}});
}

std::string EmulatorSession::describe_unfinished(GraphId graph) const {
  const Run& run = get(graph);
  const sim::GraphTemplate& shape = *run.view->graph;
  std::string text = std::to_string(run.unfinished) + " of " + std::to_string(shape.size()) +
                     " operations have not ended";
  for (OpIndex op = 0; op < shape.size(); ++op) {
    if (run.missing[op] == 0) continue;
    text += ", the first of them " + std::string(name_of(shape.kind[op])) + " " +
            std::to_string(op) + " \"" + shape.labels[shape.label[op]] + "\"";
    return text + (run.timeline.ops[op].start < Seconds(0) ? " (never started)" : " (started)");
  }
  return text;
}

}  // namespace gradwire::emulator
