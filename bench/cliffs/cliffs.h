#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

struct CliffsOptions {
  std::uint64_t seed = 1;
  double minutes = 20;  ///< of wall time, for all of it
  bool list = false;    ///< say every scenario
  /// Not empty: of the drawn ones only those of these numbers, by which they are named.
  std::vector<int> numbers = {};
  /// Not empty: compares stored scenarios in place of drawn ones (bench/cliffs/stored.h).
  std::string cases_file = {};
  std::string only = {};  ///< of them those whose names this regular expression finds
  /// Not empty: `packet` runs these anew, and this file gets them all with their new times.
  std::string record_file = {};
  std::string folder = {};  ///< paths in scenarios start there
};

struct CliffsResult {
  std::vector<BenchRow> rows;
  std::vector<std::string> scenarios;  ///< the worst, as small as they could be made: JSON
  bool interrupted = false;
};

/// `gradwire bench cliffs`: draws scenarios over what can be written in one and compares mean times
/// of `flow` and `packet` on each. What is off most is made smaller for as long as it shows.
CliffsResult bench_cliffs(const CliffsOptions& options, const Say& say);

}  // namespace gradwire::bench
