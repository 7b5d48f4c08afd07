#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/fidelity/comparison.h"
#include "bench/fidelity/random_case.h"

/// Which run of the reference is made next, so that a limit of time serves all cases.
namespace gradwire::bench {

/// One case of one regime.
struct Job {
  enum class Kind { kClean, kPooled, kByChain, kByRun };

  Kind kind = Kind::kClean;
  std::string regime;
  FidelityCase c;
  double events = 0;  ///< of one run of the reference
  Comparison* result = nullptr;
  int number = 1;  ///< of the case in its regime
};

/// Runs all, two at a time: clean cases first, the longest before the others; then of the random
/// ones, until each has two runs, the longest; from there on the one whose mean has the largest
/// standard error, until every one is small enough (RandomCase::known()) or `limit_s` is over. A
/// case that is left alone has both cores. `done`: called in turn, as cases end. A case that
/// the reference cannot run says so (Comparison::not_compared); what else a case throws is
/// rethrown.
void run_jobs(const std::vector<Job>& jobs, const std::string& reference, double limit_s,
              const std::function<void(const Job&)>& done);

}  // namespace gradwire::bench
