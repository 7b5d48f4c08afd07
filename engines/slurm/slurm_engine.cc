#include "engines/slurm/slurm_engine.h"

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/child_process.h"
#include "engines/report_lines.h"
#include "engines/shared_sweep.h"
#include "engines/slurm/batch_script.h"
#include "engines/slurm/queue.h"
#include "engines/task.h"
#include "runner/interrupt.h"

namespace gradwire::engines {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(300);  ///< between looks into the folder
constexpr auto kAsk = std::chrono::seconds(2);          ///< between questions to Slurm
constexpr int kMostTasks = 16;                          ///< where nobody says how many
constexpr int kMostSilence = 60;                        ///< questions without an answer

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  fs::remove(path, ignored);
}

/// One job, from its submission until it has left the queue.
class Job {
 public:
  Job(SharedSweep& sweep, const std::string& script)
      : sweep_(sweep), number_(submit(script, sweep.folder().path())) {
    write_file(sweep.folder().file("job"), number_);
    sweep.say("submitted as Slurm job " + number_ + "; its script is " + script);
  }

  void follow() {
    while (is_queued()) {
      take_reports();
      if (sweep_.wants_stop() && !cancelled_) end();
      std::this_thread::sleep_for(kLook);
    }
    take_reports();
    note_given();
    sweep_.end_of_processes("Slurm job " + number_ + " ended; its tasks' words are in " +
                            sweep_.folder().path() + "/slurm-" + number_ + "_*.log");
    remove_quietly(sweep_.folder().file("job"));
  }

 private:
  bool is_queued() {
    if (Clock::now() < next_) return true;
    next_ = Clock::now() + kAsk;
    const std::optional<std::string> states = states_of(number_);
    silence_ = states ? 0 : silence_ + 1;
    if (silence_ > kMostSilence)
      throw Error(ErrorKind::kFailure, "ask squeue for job", number_,
                  "it has failed " + std::to_string(kMostSilence) + " times in a row",
                  "the job goes on; what it brings is stored by the same command with --resume");
    if (!states) return true;
    if (!states->empty() && *states != said_) sweep_.say("job " + number_ + ": " + *states);
    said_ = *states;
    return !states->empty();
  }

  void end() {
    cancelled_ = true;
    sweep_.stop();
    cancel(number_);
  }

  void take_reports() {
    for (const std::string& file : report_files(sweep_.folder().path())) {
      const nlohmann::json line = nlohmann::json::parse(read_file(file));
      if (line.at("type") == "part") sweep_.take(rank_of(line), part_of(line));
      if (line.at("type") == "error") sweep_.give_up(error_of(line));
      remove_quietly(file);
    }
  }

  /// What tasks had under way when they ended.
  void note_given() {
    for (const std::string& file : given_files(sweep_.folder().path())) {
      const nlohmann::json line = nlohmann::json::parse(read_file(file));
      sweep_.note_given(rank_of(line), places_of(line));
      remove_quietly(file);
    }
  }

  SharedSweep& sweep_;
  std::string number_, said_;
  bool cancelled_ = false;
  int silence_ = 0;
  Clock::time_point next_{};
};

/// What tasks have said, an earlier command's as well.
void remove_logs(const PartsFolder& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
    if (entry.path().filename().string().starts_with("slurm-")) remove_quietly(entry.path());
}

/// Of an earlier command's job: what it brought is stored by then.
void remove_stale(const PartsFolder& folder) {
  for (const std::string& file : report_files(folder.path())) remove_quietly(file);
  for (const std::string& file : given_files(folder.path())) remove_quietly(file);
}

/// An earlier command's job would run what this one submits a second time.
void refuse_while_queued(const PartsFolder& folder) {
  const std::string file = folder.file("job");
  if (!fs::exists(file)) return;
  const std::string job = read_file(file);
  const std::optional<std::string> states = states_of(job);
  if (!states || !states->empty())
    throw Error(ErrorKind::kFailure, "submit a job for", folder.path(),
                "job " + job + " of an earlier command is still in the queue" +
                    (states ? " (" + *states + ")" : ""),
                "wait until it has ended, or end it with: scancel " + job);
  remove_quietly(file);
}

}  // namespace

runner::SweepResult run_with_slurm(const scenarios::ScenarioFile& file,
                                   const EngineOptions& options, const SlurmOptions& slurm,
                                   results::Store& store, runner::RunObserver& observer) {
  require_slurm();
  const runner::InterruptGuard guard;
  SharedSweep sweep(file, options, store, observer);
  refuse_while_queued(sweep.folder());
  sweep.begin();
  remove_stale(sweep.folder());
  while (sweep.goes_on()) {
    const std::size_t runs = sweep.write_work();
    BatchJob job;
    job.sweep = file.name;
    job.program = executable_path();
    job.folder = sweep.folder().path();
    job.tasks = sweep.processes(runs, kMostTasks);
    job.threads = options.sweep.threads;
    write_file(slurm.script, batch_script(job));
    Job(sweep, slurm.script).follow();
  }
  remove_logs(sweep.folder());
  return sweep.finish();
}

}  // namespace gradwire::engines
