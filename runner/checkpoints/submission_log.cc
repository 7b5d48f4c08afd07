#include "runner/checkpoints/submission_log.h"

#include <sstream>
#include <utility>

#include "base/hash.h"
#include "base/serial.h"
#include "runner/checkpoints/graph_bytes.h"

namespace gradwire::runner {
namespace {

using scenarios::StepReport;
using scenarios::Work;

enum Request : std::uint8_t { kNone, kGraph, kSubmit, kCancel, kDrop, kWakeAt, kClose };

/// A list, or that it is the same as the last one.
template <class T>
void put_or_repeat(std::ostream& out, const std::vector<T>& values, std::vector<T>& last) {
  const bool repeats = values == last;
  put(out, static_cast<std::uint8_t>(repeats));
  if (repeats) return;
  put_span(out, std::span<const T>(values));
  last = values;
}

template <class T>
std::vector<T> get_or_repeat(std::istream& in, std::vector<T>& last) {
  if (get<std::uint8_t>(in) == 0) last = get_vector<T>(in);
  return last;
}

void put_report(std::ostream& out, const StepReport& report) {
  put(out, report.step);
  put_span(out, std::span<const sim::GraphId>(report.graphs));
  put(out, report.end);
  put(out, report.loss);
  put(out, report.payload);
  put(out, report.dense_payload);
  put(out, report.dense_messages);
  put_optional(out, report.encoded_values);
  put<std::uint64_t>(out, report.figures.size());
  for (const scenarios::Figure& figure : report.figures) {
    put_text(out, figure.name);
    put(out, figure.value);
    put_text(out, figure.unit);
  }
  put_optional(out, report.evaluation);
}

StepReport get_report(std::istream& in) {
  StepReport report;
  report.step = get<std::int64_t>(in);
  report.graphs = get_vector<sim::GraphId>(in);
  report.end = get<Seconds>(in);
  report.loss = get<double>(in);
  report.payload = get<Bytes>(in);
  report.dense_payload = get<Bytes>(in);
  report.dense_messages = get<std::int64_t>(in);
  report.encoded_values = get_optional<Bytes>(in);
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    scenarios::Figure figure;
    figure.name = get_text(in);
    figure.value = get<double>(in);
    figure.unit = get_text(in);
    report.figures.push_back(std::move(figure));
  }
  report.evaluation = get_optional<scenarios::Evaluation>(in);
  return report;
}

std::uint64_t hash_of(const std::string& content) {
  Hasher hasher;
  hasher.add_text(content);
  return hasher.value();
}

}  // namespace

std::uint32_t GraphBook::number_of(const sim::GraphPtr& graph,
                                   const std::function<void(const std::string&)>& add) {
  Seen& seen = by_address_[graph.get()];
  if (seen.graph.lock() == graph) return seen.number;
  std::ostringstream out;
  save_graph(*graph, out);
  const std::string content = out.str();
  const auto [known, is_new] =
      by_content_.emplace(hash_of(content), static_cast<std::uint32_t>(graphs_.size()));
  if (is_new) {
    add(content);
    graphs_.emplace_back();
    uses_.emplace_back();
  }
  seen = {graph, known->second};
  return known->second;
}

void GraphBook::add(sim::GraphPtr graph, const std::string& content) {
  by_content_.emplace(hash_of(content), static_cast<std::uint32_t>(graphs_.size()));
  graphs_.push_back(std::move(graph));
  uses_.emplace_back();
}

const sim::GraphPtr& GraphBook::at(std::uint32_t number) const {
  if (number >= graphs_.size() || !graphs_[number])
    refuse_checkpoint("it names a graph that is not in it");
  return graphs_[number];
}

void RecordedSession::write_work(const Work& work) {
  const std::uint32_t number = graphs_.number_of(work.graph, [&](const std::string& content) {
    put(log_, kGraph);
    put(log_, stimuli_);
    put_text(log_, content);
  });
  put(log_, kSubmit);
  put(log_, stimuli_);
  put(log_, number);
  GraphBook::Use& last = graphs_.last_use(number);
  put_or_repeat(log_, work.bytes, last.bytes);
  put_or_repeat(log_, work.seconds, last.seconds);
  put_span(log_, std::span<const sim::CrossEdge>(work.after));
}

sim::GraphId RecordedSession::submit(Work work) {
  write_work(work);
  return inner_.submit(std::move(work));
}

void RecordedSession::cancel(sim::GraphId graph) {
  put(log_, kCancel);
  put(log_, stimuli_);
  put(log_, graph);
  inner_.cancel(graph);
}

void RecordedSession::drop(sim::GraphId graph) {
  put(log_, kDrop);
  put(log_, stimuli_);
  put(log_, graph);
  inner_.drop(graph);
}

void RecordedSession::wake_at(Seconds time, std::uint64_t token) {
  put(log_, kWakeAt);
  put(log_, stimuli_);
  put(log_, time);
  put(log_, token);
  inner_.wake_at(time, token);
}

void RecordedSession::close(StepReport report) {
  put(log_, kClose);
  put(log_, stimuli_);
  put_report(log_, report);
  inner_.close(std::move(report));
}

ReplayedSchedule::ReplayedSchedule(std::istream& log, GraphBook& graphs, std::uint64_t stimuli)
    : log_(log), graphs_(graphs), stimuli_(stimuli) {
  read_next();
}

/// Kind and place of the next request; graphs are taken in on the way.
void ReplayedSchedule::read_next() {
  for (;;) {
    kind_ = log_.peek() == std::istream::traits_type::eof() ? kNone : get<std::uint8_t>(log_);
    if (kind_ == kNone) return;
    at_ = get<std::uint64_t>(log_);
    if (kind_ != kGraph) return;
    const std::string content = get_text(log_);
    std::istringstream bytes(content);
    graphs_.add(load_graph(bytes), content);
  }
}

Work ReplayedSchedule::read_work() {
  Work work;
  const auto number = get<std::uint32_t>(log_);
  work.graph = graphs_.at(number);
  GraphBook::Use& last = graphs_.last_use(number);
  work.bytes = get_or_repeat(log_, last.bytes);
  work.seconds = get_or_repeat(log_, last.seconds);
  work.after = get_vector<sim::CrossEdge>(log_);
  if (work.bytes.size() != work.graph->bytes_begin.back() ||
      work.seconds.size() != work.graph->size())
    refuse_checkpoint("a submission in it does not fit its graph");
  return work;
}

void ReplayedSchedule::make(scenarios::Session& session) {
  switch (kind_) {
    case kSubmit: {
      const sim::GraphId graph = session.submit(read_work());
      if (on_submitted) on_submitted(graph);
      return;
    }
    case kCancel:
      return session.cancel(get<sim::GraphId>(log_));
    case kDrop:
      return session.drop(get<sim::GraphId>(log_));
    case kWakeAt: {
      const auto time = get<Seconds>(log_);
      return session.wake_at(time, get<std::uint64_t>(log_));
    }
    case kClose:
      return session.close(get_report(log_));
    default:
      refuse_checkpoint("a request in it is of no known kind");
  }
}

void ReplayedSchedule::react(scenarios::Session& session) {
  for (; kind_ != kNone && at_ == seen_; read_next()) make(session);
  if (kind_ != kNone && at_ < seen_) refuse_checkpoint("its requests are not in order");
  ++seen_;
}

}  // namespace gradwire::runner
