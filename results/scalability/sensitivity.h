#pragma once
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"

/// Which input moves a prediction most.
namespace gradwire::results {

/// What a share more and less of one input does to the throughput (of lone exchanges: to steps a
/// second), as shares of it.
struct SensitivityRow {
  std::string input;  ///< "bandwidth"
  std::string value;  ///< what it is now: "1.00 Gbps"
  double less = 0;    ///< throughput with (1 - change) of it, over that of today, - 1
  double more = 0;    ///< with (1 + change)
  double reach() const;
  std::string note;  ///< where the change is another one
};

inline constexpr double kSensitivityChange = 0.2;
/// Loss of links that lose nothing is raised to this instead.
inline constexpr double kSensitivityLoss = 1e-3;

/// One at a time, by fit.constants: link rate, one-way delay, loss, compute time (the batch stays),
/// codec time, message bytes, batch (compute in proportion, bytes the same). Inputs that are 0 and
/// stay 0 are left out. The farthest reaching first. `samples`: a worker's in a step, 0 = none.
std::vector<SensitivityRow> sensitivity_of(const StepFit& fit, const StepSummary& step,
                                           double samples);

}  // namespace gradwire::results
