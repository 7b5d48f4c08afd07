#include "runner/run_loop.h"

#include <algorithm>
#include <deque>
#include <set>
#include <utility>

#include "base/folder.h"
#include "runner/interrupt.h"
#include "runner/link_sampler.h"
#include "runner/packet_forecast.h"
#include "runner/run_description.h"
#include "runner/run_record.h"
#include "runner/step_summary.h"
#include "runner/trainer_module.h"
#include "scenarios/methods.h"

namespace gradwire::runner {
namespace {

using scenarios::Scenario;
using scenarios::StepPlan;

/// The state of one run; run() is the loop, the rest its parts.
class Run {
 public:
  Run(const Scenario& scenario, const RunOptions& options, results::Store& store,
      RunObserver& observer, RunProgress progress)
      : scenario_(scenario),
        options_(options),
        store_(store),
        observer_(observer),
        progress_(std::move(progress)) {
    progress_.name = scenario.name;
    progress_.method = scenarios::method_label(scenario);
    progress_.seed = scenario.seed;
  }

  RunOutcome run(results::RunId& id) {
    trainer_ = make_trainer(scenario_, {.threads = options_.threads});
    progress_.steps = trainer_->steps_total();
    progress_.phase = "measuring";
    observer_.on_progress(progress_);
    const scenarios::ComputeProfile& profile = prepare();
    profile_ = &profile;
    const auto training =
        options_.profiles ? options_.profiles->training() : std::shared_lock<std::shared_mutex>();
    cluster_.emplace(scenarios::build_cluster(scenario_));
    executor_ = make();
    record_.emplace(scenario_, profile, store_, *trainer_, *executor_);
    id = record_->id();
    try {
      const RunOutcome outcome = loop();
      finish(outcome == RunOutcome::kFinished ? results::RunStatus::kFinished
                                              : results::RunStatus::kPartial,
             "");
      return outcome;
    } catch (const std::exception& error) {
      if (interrupted_by() != 0) return stopped();  // in the middle of a step
      finish(results::RunStatus::kFailed, error.what());
      throw;
    }
  }

 private:
  const scenarios::ComputeProfile& prepare() {
    if (!options_.profiles) return trainer_->prepare();
    return options_.profiles->prepare(profile_key(scenario_, *trainer_), *trainer_);
  }

  std::unique_ptr<sim::Executor> make() {
    if (options_.executor_factory) return options_.executor_factory(scenario_);
    sim::ExecutorOptions executor_options;
    executor_options.transport = scenario_.network.transport;
    executor_options.seed = scenario_.seed;
    executor_options.packet_program = options_.packet_program;
    const std::string name = "run-" + std::to_string(progress_.run);
    if (!options_.pcap_folder.empty())
      executor_options.pcap_folder = options_.pcap_folder + "/" + name;
    if (!options_.flow_monitor_folder.empty()) {
      make_folder(options_.flow_monitor_folder);
      executor_options.flow_monitor = options_.flow_monitor_folder + "/" + name + ".xml";
    }
    executor_options.on_progress = [this](Seconds now, std::uint64_t) {
      progress_.simulated_s = now.value();
      if (record_) progress_.wall_s = record_->wall_s();
      observer_.on_progress(progress_);
      return interrupted_by() == 0;
    };
    sampler_.emplace(*cluster_);
    return sim::make_executor(scenario_.executor, *cluster_, executor_options);
  }

  /// Keeps what was done up to the step that was interrupted.
  RunOutcome stopped() {
    record_->append();
    finish(results::RunStatus::kPartial, "");
    return RunOutcome::kInterrupted;
  }

  RunOutcome loop() {
    progress_.phase = "training";
    if (trains_first()) train_all();
    bool more = submit_next();
    while (!in_flight_.empty()) {
      if (more && !in_flight_.back().plan.alone && interrupted_by() == 0) more = submit_next();
      complete_oldest();
      if (interrupted_by() != 0) break;
      if (more && in_flight_.empty()) more = submit_next();
    }
    record_->append();
    return interrupted_by() == 0 ? RunOutcome::kFinished : RunOutcome::kInterrupted;
  }

  /// A step in flight: its plan, its graph, and the evaluation after it where one was due.
  struct Flight {
    StepPlan plan;
    sim::GraphId graph = 0;
    std::optional<scenarios::Evaluation> evaluation;
  };

  std::optional<scenarios::Evaluation> evaluated(std::int64_t step) {
    return trains() && due(step) ? std::optional(trainer_->evaluate()) : std::nullopt;
  }

  /// What only replays may depend on how its steps end, such as rounds with a deadline.
  bool trains_first() const { return options_.train_first && trains(); }

  /// Trained steps name earlier graphs by place (1, 2, ...) until they are submitted.
  void train_all() {
    for (StepPlan plan; interrupted_by() == 0 && trainer_->next(plan);) {
      trainer_->on_submitted(plan, trained_.size() + 1);
      GRADWIRE_ASSERT(!plan.alone);  // how it ends would have to be known
      auto evaluation = evaluated(plan.step);
      trained_.push_back({std::move(plan), 0, std::move(evaluation)});
      plan = {};
    }
    submitted_.assign(1, 0);
  }

  bool submit_trained() {
    if (trained_.empty()) return false;
    Flight flight = std::move(trained_.front());
    trained_.pop_front();
    for (sim::CrossEdge& edge : flight.plan.after) edge.from.graph = submitted_[edge.from.graph];
    flight.graph = submit(flight.plan);
    submitted_.push_back(flight.graph);
    in_flight_.push_back(std::move(flight));
    return true;
  }

  sim::GraphId submit(const StepPlan& plan) {
    // Of one worker, who exchanges nothing, a fit learns nothing; and it would hold times of a
    // network without delays against the scenario's delays.
    const bool whole = executor_->provenance() != "partly emulated";
    if (plan.steady && !std::exchange(summarized_, true) && scenario_.cluster.workers > 1 && whole)
      record_->set_summary(summarize(scenario_, *cluster_, *profile_, plan));
    return executor_->submit(scenarios::submission_of(plan));
  }

  bool submit_next() {
    if (trains_first()) return submit_trained();
    Flight flight;
    if (!trainer_->next(flight.plan)) return false;
    forecast(flight.plan);
    flight.graph = submit(flight.plan);
    trainer_->on_submitted(flight.plan, flight.graph);
    if (!flight.plan.alone) flight.evaluation = evaluated(flight.plan.step);
    in_flight_.push_back(std::move(flight));
    return true;
  }

  /// Says what a run on the packet executor will cost, once its first step is known.
  void forecast(const StepPlan& plan) {
    if (forecast_made_ || scenario_.executor != "packet" || options_.executor_factory) return;
    forecast_made_ = true;
    observer_.on_forecast(
        progress_, forecast_packet_run(scenario_, plan, progress_.steps, options_.packet_program));
  }

  bool trains() const { return scenario_.workload.kind == scenarios::WorkloadKind::kTraining; }

  bool due(std::int64_t step) const {
    return (step + 1) % scenario_.workload.evaluate_every == 0 || step + 1 == progress_.steps;
  }

  void complete_oldest() {
    Flight flight = std::move(in_flight_.front());
    in_flight_.pop_front();
    const Seconds end = wait_for(flight);
    const results::StepRow row = record_->add_step(flight.plan, flight.graph, end);
    executor_->forget(flight.graph);
    if (flight.plan.alone) flight.evaluation = evaluated(flight.plan.step);
    if (flight.evaluation) record_->add_evaluation(row, *flight.evaluation);
    progress_.step = row.step + 1;
    progress_.simulated_s = row.end_s;
    progress_.wall_s = record_->wall_s();
    progress_.remaining_s = progress_.wall_s / static_cast<double>(progress_.step) *
                            static_cast<double>(progress_.steps - progress_.step);
    progress_.loss = row.loss;
    observer_.on_progress(progress_);
    record_->append_after(options_.append_every_s);
  }

  /// The step's end: its graph's, or its deadline, at which it is cut off.
  Seconds wait_for(const Flight& flight) {
    const Seconds limit = flight.plan.deadline
                              ? executor_->timeline(flight.graph).start + *flight.plan.deadline
                              : sim::kForever;
    for (bool ended = ended_.erase(flight.graph) > 0; !ended;
         ended = ended_.erase(flight.graph) > 0) {
      events_.clear();
      const Seconds until = std::min(limit, next_sample());
      const bool more = executor_->advance(until, events_);
      for (const sim::Event& event : events_) react(event);
      if (sampler_) sampler_->observe(*executor_);
      quiet_ = more || !events_.empty() ? 0 : quiet_ + 1;
      if (quiet_ == 0 || until < limit) continue;
      if (limit < sim::kForever && executor_->now() >= limit) {
        executor_->cancel(flight.graph);
        return limit;
      }
      throw sim::SimError(
          "finish step", std::to_string(progress_.step),
          "nothing is left to happen, but " + executor_->describe_unfinished(flight.graph));
    }
    return executor_->timeline(flight.graph).end;
  }

  /// Where `flow` stops for a look at its links, which changes nothing for it; not for ever where
  /// nothing happens. ns-3 would have to be asked, and is not.
  Seconds next_sample() const {
    constexpr int kMostQuiet = 512;
    const bool stops = sampler_ && executor_->name() == "flow" && quiet_ < kMostQuiet;
    return stops ? sampler_->next(*executor_) : sim::kForever;
  }

  void react(const sim::Event& event) {
    trainer_->on_event(event);
    if (event.kind == sim::EventKind::kGraphEnded) ended_.insert(event.op.graph);
    if (event.kind == sim::EventKind::kTransferFailed)
      throw sim::SimError("finish step", std::to_string(progress_.step),
                          "a transfer to host " + std::to_string(event.host) +
                              " failed: it met the time limit or can never finish" +
                              gone_workers(scenario_, event.time),
                          "check the links' rates and losses, and who is absent");
  }

  void finish(results::RunStatus status, const std::string& error) {
    if (sampler_ && status == results::RunStatus::kFinished) sampler_->finish(*executor_);
    if (sampler_) store_.put_links(record_->id(), sampler_->series());
    if (options_.executor_facts) record_->set_facts(options_.executor_facts());
    record_->finish(status, error);
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  results::Store& store_;
  RunObserver& observer_;
  RunProgress progress_;
  std::optional<LinkSampler> sampler_;  ///< not of executors from outside, on a real clock
  std::unique_ptr<scenarios::Trainer> trainer_;
  std::optional<sim::Cluster> cluster_;
  const scenarios::ComputeProfile* profile_ = nullptr;  ///< the trainer's
  std::unique_ptr<sim::Executor> executor_;
  std::optional<RunRecord> record_;
  std::deque<Flight> in_flight_, trained_;
  std::vector<sim::GraphId> submitted_;
  std::set<sim::GraphId> ended_;
  std::vector<sim::Event> events_;
  int quiet_ = 0;  ///< stops in a row at which nothing happened
  bool forecast_made_ = false, summarized_ = false;
};

}  // namespace

RunOutcome run_scenario(const Scenario& scenario, const RunOptions& options, results::Store& store,
                        RunObserver& observer, RunProgress progress, results::RunId& run) {
  return Run(scenario, options, store, observer, std::move(progress)).run(run);
}

}  // namespace gradwire::runner
