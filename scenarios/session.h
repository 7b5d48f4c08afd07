#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "scenarios/trainer.h"
#include "sim/session/executor.h"

/// Learning that obeys virtual time: a schedule submits graphs, hears of what happens on the
/// executor's clock, and decides what comes next. The runner drives it and keeps what it reports.
namespace gradwire::scenarios {

/// A row of the store: a step, a round, or an update of an asynchronous server.
struct StepReport {
  std::int64_t step = 0;  ///< 0, 1, 2, ... in the order of the reports
  /// Work whose times and bytes belong to this row, in order of submission. Each was submitted to
  /// the session, has ended or was cancelled, and is named in one report.
  std::vector<sim::GraphId> graphs;
  Seconds end{0};                   ///< when it was over
  double loss = 0;                  ///< training loss
  Bytes payload{0};                 ///< as StepPlan::payload
  Bytes dense_payload{0};           ///< as StepPlan::dense_payload
  std::int64_t dense_messages = 0;  ///< as StepPlan::dense_messages
  /// Of the fp32 values that encoders turned into this row's messages; absent: what all workers'
  /// encoders are given in a step.
  std::optional<Bytes> encoded_values = {};
  std::vector<Figure> figures = {};
  std::optional<Evaluation> evaluation = {};
};

/// What drives a schedule hands it. Valid for as long as the run lasts.
class Session {
 public:
  virtual ~Session() = default;
  /// Takes the work over; it starts now at the earliest. The graph is known (timeline, missing)
  /// until a report that names it has been closed, or it is dropped.
  virtual sim::GraphId submit(Work work) = 0;
  /// Stops what of it has not ended: no more events of it.
  virtual void cancel(sim::GraphId graph) = 0;
  /// Forgets a graph that no report will name.
  virtual void drop(sim::GraphId graph) = 0;
  /// Schedule::on_wake is called with `token` at that time, after all that ends then.
  virtual void wake_at(Seconds time, std::uint64_t token) = 0;
  virtual Seconds now() const = 0;
  virtual const sim::Timeline& timeline(sim::GraphId graph) const = 0;
  virtual std::span<const sim::MissingData> missing(sim::GraphId graph) const = 0;
  /// Hands a row over, and forgets its graphs.
  virtual void close(StepReport report) = 0;
};

/// All calls come from one thread, in order of virtual time; events of one instant in the
/// executor's order (graph, operation). The run is over when steps_total() reports are closed.
class Schedule {
 public:
  virtual ~Schedule() = default;
  /// Submits the first work. After Trainer::load: what was under way is so again, with the same
  /// graphs' numbers, and this is not called.
  virtual void start(Session& session) = 0;
  /// Failed transfers (EventKind::kTransferFailed) end the run unless fails() says otherwise.
  virtual void on(const sim::Event& event, Session& session) = 0;
  virtual void on_wake(std::uint64_t /*token*/, Session&) {}
  /// The run ends before its time: closes what is over and was still held back. Nothing follows.
  virtual void stop(Session&) {}
  /// Whether a transfer that can never end is the schedule's to deal with (it gets the event).
  virtual bool survives_failures() const { return false; }
};

}  // namespace gradwire::scenarios
