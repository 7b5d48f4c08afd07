#include "runner/training/lockstep.h"

#include <utility>

#include "base/error.h"
#include "base/serial.h"
#include "scenarios/diverged.h"
#include "sim/graph/payloads.h"

namespace gradwire::runner {

using scenarios::Session;
using scenarios::StepPlan;

std::optional<scenarios::Evaluation> Lockstep::evaluated(std::int64_t step) {
  return options_.evaluates(step) ? std::optional(trainer_.evaluate()) : std::nullopt;
}

/// Trained steps name earlier graphs by place (1, 2, ...) until they are submitted.
void Lockstep::train_all() {
  Bytes payloads{0};
  for (StepPlan plan; !options_.interrupted() && trainer_.next(plan); plan = {}) {
    trainer_.on_submitted(plan, trained_.size() + 1);
    GRADWIRE_ASSERT(!plan.alone);  // how it ends would have to be known
    require_room(plan, payloads);
    auto evaluation = evaluated(plan.step);
    trained_.push_back({std::move(plan), 0, std::move(evaluation)});
  }
  submitted_.assign(1, 0);
}

void Lockstep::require_room(const StepPlan& plan, Bytes& payloads) const {
  if (!plan.payloads) return;
  payloads += Bytes(static_cast<std::int64_t>(plan.payloads->bytes().size()));
  if (options_.most_payloads == Bytes(0) || payloads <= options_.most_payloads) return;
  throw Error(ErrorKind::kFailure, "keep", "what the messages of the run hold",
              "the first " + std::to_string(plan.step + 1) + " steps have " +
                  format_bytes(payloads) + " of them, and " + format_bytes(options_.most_payloads) +
                  " of memory are for that",
              "take fewer steps (--set /workload/steps=...), or a smaller model");
}

bool Lockstep::take_next(Flight& flight) {
  if (!options_.train_first) return trainer_.next(flight.plan);
  if (trained_.empty()) return false;
  flight = std::move(trained_.front());
  trained_.pop_front();
  for (sim::CrossEdge& edge : flight.plan.after) edge.from.graph = submitted_[edge.from.graph];
  return true;
}

bool Lockstep::submit_next(Session& session) {
  Flight flight;
  if (!take_next(flight)) return false;
  options_.before_submit(flight.plan);
  flight.graph = session.submit(flight.plan);
  options_.on_submitted(flight.plan, flight.graph);
  if (flight.plan.deadline)
    session.wake_at(session.timeline(flight.graph).start + *flight.plan.deadline, flight.graph);
  if (options_.train_first) {
    submitted_.push_back(flight.graph);
  } else {
    trainer_.on_submitted(flight.plan, flight.graph);
    if (!flight.plan.alone) flight.evaluation = evaluated(flight.plan.step);
  }
  in_flight_.push_back(std::move(flight));
  return true;
}

bool Lockstep::has_room() const {
  return in_flight_.empty() || (in_flight_.size() < 2 && !in_flight_.back().plan.alone);
}

/// Training that runs ahead of the network may diverge while steps are on their way: they end
/// first, so that the run has every step that was trained.
void Lockstep::fill(Session& session) {
  while (more_ && has_room()) {
    try {
      more_ = submit_next(session);
    } catch (const scenarios::Diverged&) {
      diverged_ = std::current_exception();
      more_ = false;
    }
  }
  if (diverged_ && in_flight_.empty()) std::rethrow_exception(diverged_);
}

void Lockstep::start(Session& session) {
  if (options_.train_first) train_all();
  fill(session);
}

void Lockstep::on(const sim::Event& event, Session& session) {
  if (event.kind != sim::EventKind::kGraphEnded) return;
  ended_.insert(event.op.graph);
  complete_ended(session);
}

void Lockstep::on_wake(std::uint64_t token, Session& session) {
  if (in_flight_.empty() || in_flight_.front().graph != token) return;  // it was in time
  const Seconds limit = session.now();
  session.cancel(token);
  complete_oldest(session, limit);
  complete_ended(session);
}

/// Those at the front that have ended, and what may follow them.
void Lockstep::complete_ended(Session& session) {
  while (!in_flight_.empty() && ended_.erase(in_flight_.front().graph) > 0)
    complete_oldest(session, session.timeline(in_flight_.front().graph).end);
}

void Lockstep::complete_oldest(Session& session, Seconds end) {
  Flight flight = std::move(in_flight_.front());
  in_flight_.pop_front();
  scenarios::StepReport report;
  report.step = flight.plan.step;
  report.graphs = {flight.graph};
  report.end = end;
  report.loss = flight.plan.loss;
  report.payload = flight.plan.payload;
  report.dense_payload = flight.plan.dense_payload;
  report.encoded_values = flight.plan.encoded_values;
  report.dense_messages = flight.plan.dense_messages;
  report.figures = trainer_.on_step_ended(
      flight.plan, {session.timeline(flight.graph), end, session.missing(flight.graph)});
  if (flight.plan.alone) flight.evaluation = evaluated(flight.plan.step);
  report.evaluation = flight.evaluation;
  session.close(std::move(report));
  fill(session);
}

void Lockstep::save(std::ostream& out) const {
  GRADWIRE_ASSERT(!options_.train_first && !has_diverged());
  put(out, more_);
  put<std::uint64_t>(out, in_flight_.size());
  for (const Flight& flight : in_flight_) {
    put(out, flight.graph);
    put(out, flight.plan.step);
    put(out, flight.plan.loss);
    put(out, flight.plan.payload);
    put(out, flight.plan.dense_payload);
    put_optional(out, flight.plan.encoded_values);
    put(out, flight.plan.dense_messages);
    put(out, flight.plan.alone);
    put(out, flight.plan.steady);
    put_optional(out, flight.evaluation);
    put(out, ended_.contains(flight.graph));
  }
}

void Lockstep::load(std::istream& in, const std::function<scenarios::Work(sim::GraphId)>& work_of) {
  more_ = get<bool>(in);
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    Flight flight;
    flight.graph = get<sim::GraphId>(in);
    static_cast<scenarios::Work&>(flight.plan) = work_of(flight.graph);
    flight.plan.step = get<std::int64_t>(in);
    flight.plan.loss = get<double>(in);
    flight.plan.payload = get<Bytes>(in);
    flight.plan.dense_payload = get<Bytes>(in);
    flight.plan.encoded_values = get_optional<Bytes>(in);
    flight.plan.dense_messages = get<std::int64_t>(in);
    flight.plan.alone = get<bool>(in);
    flight.plan.steady = get<bool>(in);
    flight.evaluation = get_optional<scenarios::Evaluation>(in);
    if (get<bool>(in)) ended_.insert(flight.graph);
    in_flight_.push_back(std::move(flight));
  }
}

}  // namespace gradwire::runner
