#include "runner/run_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/available_memory.h"
#include "base/folder.h"
#include "runner/checkpoints/checkpoint.h"
#include "runner/checkpoints/counted_schedule.h"
#include "runner/checkpoints/run_state.h"
#include "runner/checkpoints/submission_log.h"
#include "runner/cost/packet_forecast.h"
#include "runner/cost/run_cost.h"
#include "runner/interrupt.h"
#include "runner/record/link_sampler.h"
#include "runner/record/provenance.h"
#include "runner/record/run_description.h"
#include "runner/record/run_record.h"
#include "runner/record/step_summary.h"
#include "runner/run_session.h"
#include "runner/training/lockstep.h"
#include "runner/training/model_files.h"
#include "runner/training/schedule_driver.h"
#include "runner/training/trainer_module.h"
#include "scenarios/diverged.h"
#include "scenarios/methods.h"
#include "sim/executors.h"

namespace gradwire::runner {
namespace {

using scenarios::Scenario;
using scenarios::StepPlan;

using Clock = std::chrono::steady_clock;

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
    open_checkpoint();
    find_trainer();
    progress_.steps = trainer_->steps_total();
    progress_.phase = "measuring";
    observer_.on_progress(progress_);
    const scenarios::ComputeProfile& profile = prepare();
    profile_ = &profile;
    const auto training =
        options_.profiles ? options_.profiles->training() : std::shared_lock<std::shared_mutex>();
    cluster_.emplace(scenarios::build_cluster(scenario_));
    executor_ = make();
    results::Predecessor predecessor;
    if (options_.resume) predecessor = store_.discard_unfinished(scenario_.hash, scenario_.seed);
    if (predecessor.uid.empty()) predecessor.uid = options_.uid;
    record_.emplace(scenario_, profile, store_, *trainer_, *executor_, predecessor, options_.rank);
    id = record_->id();
    if (trained_by_) record_->set_trained_by(*trained_by_);
    try {
      const RunOutcome outcome = loop();
      if (outcome == RunOutcome::kFinished) keep_model();
      finish(status_of(outcome), outcome == RunOutcome::kDiverged ? how_it_diverged() : "");
      if (outcome != RunOutcome::kInterrupted) remove_checkpoint();
      if (outcome == RunOutcome::kFinished) share();
      return outcome;
    } catch (const scenarios::Diverged& diverged) {
      record_->append();
      finish(results::RunStatus::kDiverged, diverged.what());
      remove_checkpoint();
      share();
      return RunOutcome::kDiverged;
    } catch (const results::StoreError& error) {
      finish(results::RunStatus::kFailed, error.what());
      throw;
    } catch (const std::exception& error) {
      if (interrupted_by() != 0) return stopped();  // in the middle of a step
      record_->append();
      finish(results::RunStatus::kFailed, error.what());
      throw;
    }
  }

 private:
  /// Reads what the run knew, where it goes on.
  void open_checkpoint() {
    if (options_.checkpoint_folder.empty() || options_.executor_factory || !trains()) return;
    const CheckpointKey key{scenario_.hash, scenario_.seed, scenario_.executor, program_version()};
    checkpoint_ = std::make_unique<Checkpoint>(options_.checkpoint_folder, key);
    resumes_ = options_.resume && checkpoint_->open();
    if (resumes_) state_ = load_state(checkpoint_->state());
  }

  /// One that trains, unless a run that learns alike has.
  void find_trainer() {
    SharedTraining* const shared =
        options_.executor_factory || resumes_ ? nullptr : options_.shared;
    const auto trained = shared ? shared->find(scenario_) : nullptr;
    if (trained) {
      trained_by_ = trained->run;
      checkpoint_.reset();
      trainer_ = std::make_unique<TrainedAlready>(trained);
      return;
    }
    trainer_ = make_trainer(scenario_, {.threads = options_.threads,
                                        .memory = options_.memory,
                                        .states_folder = options_.states_folder,
                                        .keeps_payloads = options_.keeps_payloads,
                                        .trains_ahead = options_.train_first});
    if (!shared || !shared->is_wanted(scenario_)) return;
    auto recording = std::make_unique<RecordingTrainer>(std::move(trainer_));
    recording_ = recording.get();
    trainer_ = std::move(recording);
  }

  /// What this run has trained is there for those that learn alike.
  void share() {
    if (recording_) options_.shared->keep(scenario_, recording_->take(record_->id()));
  }

  static results::RunStatus status_of(RunOutcome outcome) {
    switch (outcome) {
      case RunOutcome::kFinished:
        return results::RunStatus::kFinished;
      case RunOutcome::kDiverged:
        return results::RunStatus::kDiverged;
      case RunOutcome::kInterrupted:
        break;
    }
    return results::RunStatus::kPartial;
  }

  std::string how_it_diverged() const {
    return "the held-out loss is not finite after step " +
           std::to_string(*record_->diverged_at() + 1) + "; " +
           scenarios::diverged_remedy(scenario_);
  }

  void keep_model() {
    if (options_.models_folder.empty() || !trains()) return;
    make_folder(options_.models_folder);
    const std::string path =
        options_.models_folder + "/run-" + std::to_string(progress_.run) + ".grwm";
    const std::vector<std::byte> file = trainer_->model_file();
    GRADWIRE_ASSERT(!file.empty());
    write_model(path, file);
    record_->add_note("the model that it trained lies in " + path);
  }

  /// Tells the store where the run can go on from.
  void note_checkpoint() {
    store_.put_checkpoint(record_->id(),
                          {session_->rows(), checkpoint_->folder(), checkpoint_->bytes(), {}});
  }

  void remove_checkpoint() {
    if (!checkpoint_) return;
    checkpoint_->remove();
    store_.remove_checkpoint(record_->id());
  }

  const scenarios::ComputeProfile& prepare() {
    if (resumes_) {
      trainer_->use_profile(state_.profile);
      return trainer_->prepare();
    }
    if (!options_.profiles) return trainer_->prepare();
    return options_.profiles->prepare(profile_key(scenario_, *trainer_), *trainer_);
  }

  std::unique_ptr<sim::Executor> make() {
    if (options_.executor_factory) return options_.executor_factory(scenario_);
    sim::ExecutorOptions executor_options;
    executor_options.transport = scenario_.network.transport;
    executor_options.fold = scenario_.network.fold;
    executor_options.detail = options_.detail ? options_.detail : scenario_.network.detail;
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
      progress_.remaining_s = remaining_s();
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
    lockstep_.emplace(*trainer_, lockstep_options());
    session_.emplace(*executor_, [this](const scenarios::StepReport& report,
                                        std::span<const RanWork> works) { note(report, works); });
    driver_.emplace(scenario_, *executor_, *session_, sampler_ ? &*sampler_ : nullptr);
    if (resumes_) replay();
    progress_.phase = "training";
    std::optional<RecordedSession> recorded;
    if (checkpoint_) recorded.emplace(*session_, checkpoint_->log(), graphs_, state_.stimuli);
    scenarios::Session& session =
        recorded ? static_cast<scenarios::Session&>(*recorded) : *session_;
    scenarios::Schedule* own = trainer_->schedule();
    CountedSchedule schedule(own ? *own : *lockstep_, state_.stimuli);
    began_ = last_checkpoint_ = Clock::now();
    try {
      if (!resumes_) schedule.start(session);
      while (!ended() && interrupted_by() == 0) {
        driver_->advance(schedule, session, progress_.step);
        checkpoint_after(checkpoint_interval_s());
      }
    } catch (...) {
      stop(schedule, session);
      throw;
    }
    if (!ended()) stop(schedule, session);
    record_->append();
    if (record_->diverged_at()) return RunOutcome::kDiverged;
    if (interrupted_by() == 0) return RunOutcome::kFinished;
    checkpoint_after(0);
    return RunOutcome::kInterrupted;
  }

  /// What was over when the run ended before its time is kept.
  static void stop(scenarios::Schedule& schedule, scenarios::Session& session) {
    try {
      schedule.stop(session);
    } catch (const std::exception&) {  // why the run ends is known already
    }
  }

  bool ended() const {
    return session_->rows() >= trainer_->steps_total() || record_->diverged_at();
  }

  /// Brings executor, rows and trainer to where the checkpoint has them.
  void replay() {
    progress_.phase = "resuming";
    record_->add_wall(state_.wall_s);
    ReplayedSchedule replayed(checkpoint_->old_log(), graphs_, state_.stimuli);
    replayed.on_submitted = [this](sim::GraphId graph) {
      if (graph != state_.summarized) return;
      StepPlan plan;
      static_cast<scenarios::Work&>(plan) = session_->work_of(graph);
      record_->set_summary(summarize(scenario_, *cluster_, *profile_, plan));
    };
    replayed.start(*session_);
    while (!replayed.finished()) {
      if (interrupted_by() != 0) throw Error(interruption(), "interrupted");
      driver_->advance(replayed, *session_, progress_.step);
    }
    const auto work_of = [this](sim::GraphId graph) { return session_->work_of(graph); };
    if (!trainer_->schedule()) lockstep_->load(checkpoint_->state(), work_of);
    trainer_->load(checkpoint_->state());
    note_checkpoint();
  }

  /// The first checkpoint comes after a second, the others when as much has been done again, up to
  /// the usual interval: what is killed young goes on from half of its way at least.
  double checkpoint_interval_s() const {
    constexpr double kFirst = 1;
    const double done = std::chrono::duration<double>(last_checkpoint_ - began_).count();
    return std::min(options_.checkpoint_every_s, std::max(kFirst, done));
  }

  /// Writes a checkpoint where the last one is so old, and writing takes a fiftieth of the time at
  /// most. A run goes on without where it cannot be written.
  void checkpoint_after(double seconds) {
    const auto age = std::chrono::duration<double>(Clock::now() - last_checkpoint_).count();
    const bool due = age >= seconds && (seconds <= 0 || age >= 50 * checkpoint_took_s_);
    if (!checkpoint_ || !due || lockstep_->has_diverged()) return;
    const Clock::time_point before = Clock::now();
    state_.wall_s = record_->wall_s();
    state_.profile = *profile_;
    const bool saved = checkpoint_->save([this](std::ostream& out) {
      save_state(state_, out);
      if (!trainer_->schedule()) lockstep_->save(out);
      trainer_->save(out);
    });
    if (saved) note_checkpoint();
    if (!saved && !std::exchange(said_unsaved_, true))
      record_->add_note("no checkpoint could be written: " + checkpoint_->why_not());
    last_checkpoint_ = Clock::now();
    checkpoint_took_s_ = std::chrono::duration<double>(last_checkpoint_ - before).count();
  }

  Lockstep::Options lockstep_options() {
    return {.train_first = options_.train_first && trains(),
            .most_payloads = Bytes(available_memory().count() / 2),
            .evaluates = [this](std::int64_t step) { return trains() && due(step); },
            .before_submit = [this](const StepPlan& plan) { look_ahead(plan); },
            .on_submitted = [this](const StepPlan& plan,
                                   sim::GraphId graph) { summarize_once(plan, graph); },
            .interrupted = [] { return interrupted_by() != 0; }};
  }

  void summarize_once(const StepPlan& plan, sim::GraphId graph) {
    // Of one worker, who exchanges nothing, a fit learns nothing; and it would hold times of a
    // network without delays against the scenario's delays.
    const bool whole = executor_->provenance() != "partly emulated";
    if (!plan.steady || state_.summarized || scenario_.cluster.workers < 2 || !whole) return;
    record_->set_summary(summarize(scenario_, *cluster_, *profile_, plan));
    state_.summarized = graph;
  }

  /// Says what a run on the packet executor will cost, and begins none that costs too much, once
  /// its first step is known.
  void look_ahead(const StepPlan& plan) {
    if (looked_ahead_ || options_.executor_factory) return;
    looked_ahead_ = true;
    const std::int64_t steps = progress_.steps - progress_.step;
    if (scenario_.executor != "packet")
      return require_affordable(scenario_, plan, steps, options_.most_hours);
    const PacketForecast forecast =
        forecast_packet_run(scenario_, plan, progress_.steps, options_.packet_program);
    forecast_wall_s_ = forecast.wall_s;
    observer_.on_forecast(progress_, forecast);
    require_affordable(scenario_, forecast.wall_s, options_.most_hours);
  }

  /// As the steps so far went; before the first one as it was forecast.
  double remaining_s() const {
    if (progress_.step > 0)
      return progress_.wall_s / static_cast<double>(progress_.step) *
             static_cast<double>(progress_.steps - progress_.step);
    return forecast_wall_s_ ? std::max(0.0, *forecast_wall_s_ - progress_.wall_s) : -1;
  }

  bool trains() const { return scenario_.workload.kind == scenarios::WorkloadKind::kTraining; }

  bool due(std::int64_t step) const {
    return (step + 1) % scenario_.workload.evaluate_every == 0 || step + 1 == progress_.steps;
  }

  void note(const scenarios::StepReport& report, std::span<const RanWork> works) {
    const results::StepRow row = record_->add_step(report, works);
    if (report.evaluation) record_->add_evaluation(row, *report.evaluation);
    progress_.step = row.step + 1;
    progress_.simulated_s = row.end_s;
    progress_.wall_s = record_->wall_s();
    progress_.remaining_s = remaining_s();
    progress_.loss = row.loss;
    observer_.on_progress(progress_);
    record_->append_after(options_.append_every_s);
  }

  void finish(results::RunStatus status, const std::string& error) {
    if (sampler_ && results::has_ended(status)) sampler_->finish(*executor_);
    if (sampler_) store_.put_links(record_->id(), sampler_->series());
    RunFacts facts;
    if (options_.executor_facts) facts = options_.executor_facts();
    const bool invalid = status == results::RunStatus::kFinished && !facts.invalid.empty();
    const std::string reason = invalid ? facts.invalid : error;
    record_->set_facts(std::move(facts));
    const bool trained_first = options_.train_first && !trainer_->schedule();
    if (trained_first && (!session_ || !ended())) record_->set_learnt_ahead();
    record_->finish(invalid ? results::RunStatus::kInvalid : status, reason);
  }

  const Scenario& scenario_;
  const RunOptions& options_;
  results::Store& store_;
  RunObserver& observer_;
  RunProgress progress_;
  std::optional<LinkSampler> sampler_;  ///< not of executors from outside, on a real clock
  std::unique_ptr<scenarios::Trainer> trainer_;
  RecordingTrainer* recording_ = nullptr;     ///< the trainer, where others want what it trains
  std::optional<results::RunId> trained_by_;  ///< the run that did
  std::optional<sim::Cluster> cluster_;
  const scenarios::ComputeProfile* profile_ = nullptr;  ///< the trainer's
  std::unique_ptr<sim::Executor> executor_;
  std::optional<RunRecord> record_;
  std::optional<RunSession> session_;
  std::optional<Lockstep> lockstep_;  ///< for trainers that have no schedule of their own
  std::unique_ptr<Checkpoint> checkpoint_;
  bool resumes_ = false, said_unsaved_ = false;
  RunState state_;
  GraphBook graphs_;  ///< of the checkpoint's log
  Clock::time_point began_, last_checkpoint_;
  double checkpoint_took_s_ = 0;
  std::optional<ScheduleDriver> driver_;
  bool looked_ahead_ = false;
  std::optional<double> forecast_wall_s_;  ///< on packet
};

}  // namespace

RunOutcome run_scenario(const Scenario& scenario, const RunOptions& options, results::Store& store,
                        RunObserver& observer, RunProgress progress, results::RunId& run) {
  try {
    return Run(scenario, options, store, observer, std::move(progress)).run(run);
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::kFailure, "run", scenario.name, "there is not enough memory",
                "ask for fewer workers or a smaller model, or run fewer at a time (-j)");
  }
}

}  // namespace gradwire::runner
