#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engines/part_report.h"
#include "runner/sweep.h"

namespace gradwire::engines {

/// Brings what other processes did of a sweep into the database, in the sweep's order: a run waits
/// in its part until those before it have come. Tells the observer of each as it is stored.
class Collector {
 public:
  /// All must outlive it.
  Collector(const scenarios::ScenarioFile& file, bool resume, results::Store& store,
            runner::RunObserver& observer);

  /// With --resume: runs that have ended in the database need not be run again.
  void skip_ended();
  /// A report of a batch; its part is removed when all of it is merged.
  void take(const PartReport& report);
  /// A part whose report was lost with its process: of its runs those that have ended.
  void take_unreported(const std::string& part);
  /// A run that shall not be tried again.
  void fail(std::size_t place, const std::string& why);
  /// Merges also what waits for runs that are missing.
  void finish();

  /// Places of runs that nothing has come of yet.
  std::vector<std::size_t> missing() const;
  /// The identity of the unfinished run in the database that this one takes the place of, or empty.
  std::string predecessor(std::size_t place) const;
  std::optional<sim::Detail> detail(std::size_t place) const { return details_[place]; }
  bool knows(const std::string& part) const { return left_in_.contains(part); }
  runner::SweepResult result() const;

 private:
  /// What is known of a run; `settled`: nothing more comes of it.
  struct Fate {
    bool settled = false;
    bool merged = false;
    bool interrupted = false;
    std::string part;        ///< where its rows are; empty: nowhere
    results::RunId run = 0;  ///< in the part, then in the database
    std::string error;
  };

  runner::RunProgress progress_of(std::size_t place) const;
  void settle(std::size_t place, Fate fate);
  /// Merges from the front what has come.
  void advance();
  void merge(std::size_t begin, std::size_t end);
  void after_merging(std::size_t place, results::RunId run);
  void forget_part(const std::string& part, std::size_t runs);

  const scenarios::ScenarioFile& file_;
  bool resume_;
  results::Store& store_;
  runner::RunObserver& observer_;
  std::vector<Fate> fates_;
  std::vector<std::optional<sim::Detail>> details_;  ///< in which runs are simulated
  std::size_t front_ = 0;  ///< all before it are merged or have nothing to merge
  std::map<std::string, std::size_t> left_in_;  ///< runs of a part that are not merged yet
  std::map<std::pair<std::string, std::uint64_t>, std::string> unfinished_;
  int skipped_ = 0, diverged_ = 0, failed_ = 0;
  std::string why_failed_;
};

}  // namespace gradwire::engines
