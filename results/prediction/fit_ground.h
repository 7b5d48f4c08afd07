#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/prediction/step_summary.h"

/// What a fit rests on, so that an answer says against what its error was taken, and how far from
/// the points it lies.
namespace gradwire::results {

struct StepPoint;

struct FitGround {
  /// The points' least and greatest value of a quantity.
  struct Range {
    std::string quantity;  ///< "workers", "bandwidth", "delay", "message", "loss"
    double low = 0, high = 0;
  };
  std::map<std::string, int> points;  ///< by provenance: "simulated", "measured", ...
  std::vector<Range> ranges;

  bool empty() const { return points.empty(); }
};

FitGround ground_of(std::span<const StepPoint> points);

/// "3 simulated points of 2 to 8 workers"; without points, that constants are usual ones.
std::string data_of(const FitGround& ground);

/// What errors at the points are against: "Gradwire's own simulator", "measured steps",
/// "published figures"; several are listed. Empty without points.
std::string against(const FitGround& ground);

/// "errors are against measured steps": the clause that goes with every error of a fit. Empty
/// without points.
std::string error_words(const FitGround& ground);

/// How far the step lies beyond the points: "workers 64 times the most, loss above all of them
/// (0)"; empty within them, and without points.
std::string beyond_data(const FitGround& ground, const StepSummary& step);

}  // namespace gradwire::results
