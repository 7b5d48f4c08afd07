#pragma once
#include <string>
#include <vector>

#include "bench/cliffs/cliffs.h"
#include "bench/cliffs/verdict.h"

namespace gradwire::bench {

/// A scenario and what the reference takes for it.
struct StoredCase {
  std::string name;
  nlohmann::ordered_json scenario;
  Measure measure;
  MeanTime packet;
  int operations = 0;
  int seeds = 1;  ///< 1 to this
  nlohmann::ordered_json line;
};

/// Lines of JSON:
///     {"name": ..., "scenario": {...}, "packet": {"mean": s, "se": s, "n": count, "k": seeds},
///      "of": REGEX, "since": "start"}
/// `packet`: the mean time of `n` operations, and its standard error over the seeds 1 to k; 0 where
/// one seed was run. `of` takes only operations of such names; `since` is "start", "first" or "run"
/// (Measure::Since). Both may be absent. Throws Error for a line that is not one.
std::vector<StoredCase> read_stored_cases(const std::string& text, const std::string& file);

/// The measure where a case does not say of which operations it is and has fewer than there are:
/// those of one name, as many as the case says, that its name tells ("push"), or those of the name
/// that starts last (a probe). The measure as it was where neither fits.
Measure fitted_measure(const StoredCase& stored, const std::vector<Operation>& operations);

/// Of which scenarios `flow` agrees with their stored times, or with those that `packet` takes now
/// where the options name a file to record them in; a radio cell then runs with kFewSeeds seeds.
CliffsResult bench_stored_cliffs(const CliffsOptions& options, const Say& say);

}  // namespace gradwire::bench
