#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "results/store/store.h"

namespace gradwire::engines {

/// What came of one run in another process.
struct RunReport {
  std::size_t place = 0;   ///< in the sweep
  results::RunId run = 0;  ///< in the part; 0 = it did not get as far
  std::string error;       ///< why it failed; empty where it did not
  bool interrupted = false;
};

/// What came of a batch of runs: rows in a database of their own, the part.
struct PartReport {
  std::string part;  ///< path of the file; empty: no run has rows
  std::vector<RunReport> runs;
  double seconds = 0;  ///< that the batch took
};

}  // namespace gradwire::engines
