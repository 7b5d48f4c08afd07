#pragma once
#include <functional>
#include <string>

#include "runner/sweep.h"

/// Engines share a sweep out to processes, on one machine or many. Each process runs some of the
/// runs into databases of its own; what they bring is merged into the sweep's, in its order.
namespace gradwire::engines {

struct EngineOptions {
  runner::SweepOptions sweep;  ///< `jobs` is not read
  int processes = 0;           ///< 0 = as many as the engine has room for
  std::string parts_folder;    ///< beside the database, on a file system that all machines share
  /// For messages that are no progress: processes lost, runs given out again.
  std::function<void(const std::string&)> say;
};

}  // namespace gradwire::engines
