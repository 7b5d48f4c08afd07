#pragma once
#include <span>
#include <string>

#include "engines/part_report.h"
#include "engines/settings.h"
#include "runner/run_observer.h"

namespace gradwire::engines {

/// Runs batches of a sweep in this process, one run at a time, each batch into a database of its
/// own in this machine's memory, which is then written to `folder` as one file, whole or not at
/// all: the folder may be on a network's file system, where SQLite must not be written.
class PartRunner {
 public:
  /// `name`: begins the parts' names, and nobody else's. `rank`: stored with each run.
  PartRunner(Settings settings, int neighbours, std::string folder, std::string name, int rank,
             runner::RunObserver& observer);

  /// Of lines of a work list. A run that fails does not stop the others; an interruption
  /// (runner/interrupt.h) does, after a step. Throws Error: a missing capability, a part that
  /// cannot be written, a line that is none.
  PartReport run(std::span<const std::string> lines);

 private:
  RunReport run_one(const std::string& line, results::Store& store);

  Settings settings_;
  runner::RunOptions options_;
  std::string folder_, name_;
  runner::RunObserver& observer_;
  runner::ProfileCache profiles_;
  int parts_ = 0;
};

}  // namespace gradwire::engines
