#pragma once
#include <map>
#include <set>
#include <string>

#include "engines/collector.h"
#include "engines/engine.h"
#include "engines/parts_folder.h"
#include "engines/settings.h"

namespace gradwire::engines {

/// A sweep that is shared out, whatever starts its processes: what is missing, what has come, and
/// which runs were under way when processes were lost.
class SharedSweep {
 public:
  /// All must outlive it. Takes the folder of parts. Throws Error where another command has it.
  SharedSweep(const scenarios::ScenarioFile& file, const EngineOptions& options,
              results::Store& store, runner::RunObserver& observer);

  /// Stores what earlier commands have left, and skips what has ended.
  void begin();
  /// Whether there are runs left to start processes for.
  bool goes_on() const;
  /// Writes what is missing for the processes to be started now: how many runs that is.
  std::size_t write_work();
  /// Not more processes than runs; `most` where nobody says how many.
  int processes(std::size_t runs, int most) const;

  /// `rank` has these runs now / has brought some.
  void note_given(int rank, const std::vector<std::size_t>& places) { under_way_[rank] = places; }
  void take(int rank, const PartReport& report);
  /// A process gives up for a reason that concerns all of them; asks for a stop.
  void give_up(std::exception_ptr why);
  /// Where the command is interrupted, or a process gave up.
  bool wants_stop() const;
  /// From now on runs that were interrupted are stored as they are.
  void stop() { stopping_ = true; }

  /// When all processes have ended: stores parts whose reports were lost. What is missing then
  /// counts as lost, unless a stop was asked for; a run that was under way in three losses has
  /// failed. `words`: what the processes' starter says. Throws Error: what a process gave up for.
  void end_of_processes(const std::string& words);
  /// Stores what waits for runs that are missing.
  runner::SweepResult finish();

  const PartsFolder& folder() const { return folder_; }
  const std::string& name() const { return file_.name; }
  int round() const { return settings_.round; }
  void say(const std::string& message) const { options_.say(message); }
  runner::RunObserver& observer() { return observer_; }

 private:
  void look_for_losses(const std::string& words);

  const scenarios::ScenarioFile& file_;
  const EngineOptions& options_;
  results::Store& store_;
  runner::RunObserver& observer_;
  PartsFolder folder_;
  Settings settings_;
  Collector collector_;
  bool stopping_ = false;
  std::size_t asked_ = 0;                              ///< runs of this start
  std::map<int, std::vector<std::size_t>> under_way_;  ///< places by rank
  std::map<std::size_t, int> losses_;                  ///< starts in which a run was lost
  std::exception_ptr why_given_up_;
};

}  // namespace gradwire::engines
