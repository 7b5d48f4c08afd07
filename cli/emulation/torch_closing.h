#pragma once
#include <optional>
#include <string>

#include "cli/environment.h"
#include "results/store/store.h"
#include "scenarios/scenario.h"

/// What is said of a recording's run: one step time in table, sentence and remedies.
namespace gradwire::cli {

/// A run of a recording, as its figures have it.
struct UsualSteps {
  double step_s = 0;         ///< mean
  double exposed_share = 0;  ///< of those steps together
  std::size_t steps = 0;     ///< optimiser's steps recorded, the first one too
  std::optional<double> start_up_s, after_steps_s;
};
UsualSteps usual_steps(const results::Store& store, results::RunId run);

/// "a step takes 26.1 ms on this network, 12 % of it exposed communication (flow, the mean of 7
/// steps; ...)": what of the recording is in that figure, and what is not.
std::string sentence_of(const UsualSteps& usual, const std::string& executor);

/// What would help. `step_s`: as the run has it, which may be another executor's or of more steps
/// than are tried.
void print_remedies(const scenarios::Scenario& scenario, double step_s, const Context& context);

}  // namespace gradwire::cli
