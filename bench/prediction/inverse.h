#pragma once
#include <string>

#include "bench/prediction/prediction_cases.h"
#include "results/prediction/solve.h"

namespace gradwire::bench {

/// An answer to an inverse question, and what flow says of it.
struct Inverse {
  PredictionRegime regime{};
  double forward_error = 0;    ///< the corrected model's step at the answer / the target's - 1
  double unchecked_error = 0;  ///< flow's step where the model alone says / the target's - 1
  /// Flow's step at the checked answer / the target's - 1; where whole workers meet the target with
  /// something to spare, what of it one worker more would not make up for.
  double error = 0;
  std::string line;
};

/// Asks for one quantity of the case at so many workers (by turns: bandwidth, latency, workers,
/// ratio), with a target that flow meets at half to twice what the case has; then runs the case as
/// the checked answer (solve_checked) has it, with other seeds. `number`: of the case, for its
/// draws.
Inverse ask_inverse(const PredictionCase& given, const results::StepFit& fit,
                    const results::StepPoint& simulated, std::uint64_t seed, int number);

}  // namespace gradwire::bench
