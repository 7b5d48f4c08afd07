#include "runner/sweep.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

#include "base/available_memory.h"
#include "runner/cost/sweep_details.h"
#include "runner/interrupt.h"

namespace gradwire::runner {
namespace {

/// Lets observers be written for one thread.
class SerialObserver : public RunObserver {
 public:
  explicit SerialObserver(RunObserver& inner) : inner_(inner) {}
  void on_progress(const RunProgress& progress) override {
    const std::lock_guard lock(mutex_);
    inner_.on_progress(progress);
  }
  void on_forecast(const RunProgress& progress, const PacketForecast& forecast) override {
    const std::lock_guard lock(mutex_);
    inner_.on_forecast(progress, forecast);
  }
  void on_run_ended(const RunProgress& progress, const results::RunSummary& summary,
                    bool skipped) override {
    const std::lock_guard lock(mutex_);
    inner_.on_run_ended(progress, summary, skipped);
  }
  void on_run_failed(const RunProgress& progress, const std::string& message) override {
    const std::lock_guard lock(mutex_);
    inner_.on_run_failed(progress, message);
  }

 private:
  RunObserver& inner_;
  std::mutex mutex_;
};

class Sweep {
 public:
  Sweep(const scenarios::ScenarioFile& file, const SweepOptions& options, results::Store& store,
        RunObserver& observer)
      : file_(file),
        options_(options),
        store_(store),
        observer_(observer),
        shared_(file.runs),
        ids_(file.runs.size()) {
    options_.profiles = &profiles_;
    options_.shared = &shared_;
    details_.resize(file.runs.size());  // one run chooses for itself
    if (file.runs.size() > 1) details_ = sweep_details(file.runs, profiles_);
    for (std::size_t place = 0; place < file.runs.size(); ++place) open_.push_back(place);
    if (!options_.memory && available_memory() > Bytes(0))
      options_.memory = Bytes(available_memory().count() / 2);
    if (options_.memory)
      options_.memory = Bytes(options_.memory->count() / std::max(options_.jobs, 1));
  }

  SweepResult run() {
    const auto jobs = std::min<std::size_t>(static_cast<std::size_t>(std::max(options_.jobs, 1)),
                                            file_.runs.size());
    std::vector<std::thread> helpers;
    for (std::size_t job = 1; job < jobs; ++job) helpers.emplace_back([this] { work(); });
    work();
    for (std::thread& helper : helpers) helper.join();
    if (fatal_) std::rethrow_exception(fatal_);
    SweepResult result;
    for (const results::RunId id : ids_)
      if (id > 0) result.runs.push_back(id);
    result.failed = failed_;
    result.why_failed = why_failed_;
    result.diverged = diverged_;
    result.skipped = skipped_;
    result.interrupted = interrupted_by() != 0;
    return result;
  }

 private:
  void work() {
    while (const auto place = take_next()) {
      try {
        run_one(*place);
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!fatal_) fatal_ = std::current_exception();
        stop_ = true;
      }
      shared_.end(file_.runs[*place]);
      ended_.notify_all();
    }
  }

  /// The first run that waits for no other's training; none: all are taken, or the sweep stops.
  std::optional<std::size_t> take_next() {
    std::unique_lock lock(mutex_);
    while (!open_.empty() && interrupted_by() == 0 && !stop_) {
      const auto found = std::ranges::find_if(
          open_, [this](std::size_t place) { return shared_.begin(file_.runs[place]); });
      if (found != open_.end()) {
        const std::size_t place = *found;
        open_.erase(found);
        return place;
      }
      ended_.wait_for(lock, std::chrono::milliseconds(100));  // an interrupt notifies nobody
    }
    return std::nullopt;
  }

  /// Throws only what makes the rest of the sweep useless.
  void run_one(std::size_t place) {
    const scenarios::Scenario& scenario = file_.runs[place];
    RunProgress progress;
    progress.run = static_cast<int>(place) + 1;
    progress.runs = static_cast<int>(file_.runs.size());
    progress.name = scenario.name;
    progress.seed = scenario.seed;
    try {
      if (const auto found = resumed(place)) {
        ++skipped_;
        ids_[place] = *found;
        if (store_.run(*found)->status == results::RunStatus::kDiverged) ++diverged_;
        return observer_.on_run_ended(progress, *store_.run(*found), true);
      }
      results::RunId id = 0;
      RunOptions options = options_;
      options.detail = details_[place];
      const RunOutcome outcome = run_scenario(scenario, options, store_, observer_, progress, id);
      observer_.on_run_ended(progress, *store_.run(id), false);
      if (outcome == RunOutcome::kDiverged) ++diverged_;
      if (outcome != RunOutcome::kInterrupted) ids_[place] = id;
    } catch (const results::StoreError&) {
      throw;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kCapability) throw;  // whoever catches it tells it
      note_failure(error.what());
      observer_.on_run_failed(progress, error.what());
    }
  }

  void note_failure(const std::string& why) {
    const std::lock_guard lock(mutex_);
    if (failed_++ == 0) why_failed_ = why;
  }

  /// A run that has ended, which --resume finds instead of running.
  std::optional<results::RunId> resumed(std::size_t place) {
    if (!options_.resume) return std::nullopt;
    return find_ended(store_, file_.runs[place], details_[place]);
  }

  const scenarios::ScenarioFile& file_;
  SweepOptions options_;
  results::Store& store_;
  SerialObserver observer_;
  ProfileCache profiles_;
  std::vector<std::optional<sim::Detail>> details_;  ///< by place
  SharedTraining shared_;
  std::deque<std::size_t> open_;  ///< places of runs that nobody has taken
  std::condition_variable ended_;
  std::vector<results::RunId> ids_;
  std::atomic<int> failed_{0}, diverged_{0}, skipped_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::exception_ptr fatal_;
  std::string why_failed_;
};

}  // namespace

SweepResult run_sweep(const scenarios::ScenarioFile& file, const SweepOptions& options,
                      results::Store& store, RunObserver& observer) {
  const InterruptGuard guard;
  return Sweep(file, options, store, observer).run();
}

}  // namespace gradwire::runner
