#include "runner/run_loop.h"

#include <algorithm>
#include <utility>

#include "base/folder.h"
#include "runner/interrupt.h"
#include "runner/link_sampler.h"
#include "runner/lockstep.h"
#include "runner/packet_forecast.h"
#include "runner/run_description.h"
#include "runner/run_record.h"
#include "runner/run_session.h"
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
    Lockstep lockstep(*trainer_, lockstep_options());
    scenarios::Schedule* own = trainer_->schedule();
    scenarios::Schedule& schedule = own ? *own : lockstep;
    session_.emplace(*executor_, *record_, [this](const results::StepRow& row) { note_row(row); });
    schedule.start(*session_);
    while (session_->rows() < trainer_->steps_total() && interrupted_by() == 0) advance(schedule);
    record_->append();
    return interrupted_by() == 0 ? RunOutcome::kFinished : RunOutcome::kInterrupted;
  }

  Lockstep::Options lockstep_options() {
    return {.train_first = options_.train_first && trains(),
            .evaluates = [this](std::int64_t step) { return trains() && due(step); },
            .before_submit = [this](const StepPlan& plan) { forecast(plan), summarize_once(plan); },
            .interrupted = [] { return interrupted_by() != 0; }};
  }

  void summarize_once(const StepPlan& plan) {
    // Of one worker, who exchanges nothing, a fit learns nothing; and it would hold times of a
    // network without delays against the scenario's delays.
    const bool whole = executor_->provenance() != "partly emulated";
    if (plan.steady && !std::exchange(summarized_, true) && scenario_.cluster.workers > 1 && whole)
      record_->set_summary(summarize(scenario_, *cluster_, *profile_, plan));
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

  void note_row(const results::StepRow& row) {
    progress_.step = row.step + 1;
    progress_.simulated_s = row.end_s;
    progress_.wall_s = record_->wall_s();
    progress_.remaining_s = progress_.wall_s / static_cast<double>(progress_.step) *
                            static_cast<double>(progress_.steps - progress_.step);
    progress_.loss = row.loss;
    observer_.on_progress(progress_);
    record_->append_after(options_.append_every_s);
  }

  /// On to the next instant at which something happens, and what it does to the schedule.
  void advance(scenarios::Schedule& schedule) {
    events_.clear();
    const Seconds limit = session_->next_wake();
    const Seconds until = std::min(limit, next_sample());
    const bool more = executor_->advance(until, events_);
    for (const sim::Event& event : events_) react(event, schedule);
    if (sampler_) sampler_->observe(*executor_);
    quiet_ = more || !events_.empty() ? 0 : quiet_ + 1;
    if (quiet_ == 0 || until < limit) return;
    if (limit < sim::kForever && executor_->now() >= limit && session_->wake(schedule)) return;
    throw sim::SimError("finish step", std::to_string(progress_.step),
                        "nothing is left to happen, but " + session_->describe_unfinished());
  }

  /// Where `flow` stops for a look at its links, which changes nothing for it; not for ever where
  /// nothing happens. ns-3 would have to be asked, and is not.
  Seconds next_sample() const {
    constexpr int kMostQuiet = 512;
    const bool stops = sampler_ && executor_->name() == "flow" && quiet_ < kMostQuiet;
    return stops ? sampler_->next(*executor_) : sim::kForever;
  }

  void react(const sim::Event& event, scenarios::Schedule& schedule) {
    const bool failed = event.kind == sim::EventKind::kTransferFailed;
    if (failed && !schedule.survives_failures())
      throw sim::SimError("finish step", std::to_string(progress_.step),
                          "a transfer to host " + std::to_string(event.host) +
                              " failed: it met the time limit or can never finish" +
                              gone_workers(scenario_, event.time),
                          "check the links' rates and losses, and who is absent");
    schedule.on(event, *session_);
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
  std::optional<RunSession> session_;
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
