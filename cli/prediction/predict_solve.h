#pragma once
#include <span>
#include <string>

#include "cli/context.h"
#include "results/prediction/solve.h"
#include "results/store/store.h"
#include "scenarios/scenario.h"

namespace gradwire::cli {

struct SolveArguments {
  std::string quantity;  ///< a name of results::SolveFor
  std::string target;
  bool check = true;  ///< by simulation, where that can be
};

/// Answers the inverse question for each run of the file, and prints a table of them. `store` may
/// be null.
void solve_runs(const SolveArguments& arguments, const scenarios::ScenarioFile& file,
                const results::StepFit& fit, const results::Store* store,
                std::span<const results::RunSummary> runs, Context& context);

}  // namespace gradwire::cli
