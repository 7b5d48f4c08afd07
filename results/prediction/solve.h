#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "results/prediction/step_fit.h"

/// The inverse question: what a quantity must be for a step to meet a target.
namespace gradwire::results {

enum class SolveFor { kBandwidth, kRatio, kWorkers, kLatency };
/// "bandwidth", "ratio", "workers", "latency".
std::string_view name_of(SolveFor quantity);
/// False where it is none of these names.
bool solve_for(std::string_view name, SolveFor& quantity);

/// What is asked for, and whether more or less of it is better.
struct Target {
  enum class Kind { kEfficiency, kStepTime, kThroughput } kind = Kind::kEfficiency;
  double value = 0;  ///< a share, s, or samples/s
};
/// "efficiency>=0.8", "step_time<=50ms", "throughput>=10000". Throws Error.
Target parse_target(std::string_view text);

struct Solution {
  /// The least bandwidth of a worker's link (B/s; the server's in proportion), the greatest share
  /// of the message's bytes that may be left (ratio), the most workers (for a throughput: the
  /// fewest), or the longest one-way delay (s) that meets the target.
  std::optional<double> value;
  double low = 0, high = 0;  ///< where the 90 % band meets it
  std::string limit;         ///< where nothing meets it: what then limits
};

/// Scaling efficiency: throughput on n workers over n times one worker's, that sends nothing.
double efficiency(const StepFit& fit, const StepSummary& step);

/// The step with another bandwidth of every link (the server's in proportion), ratio, number of
/// workers, or one-way delay.
StepSummary with(const StepSummary& step, SolveFor quantity, double value);
/// Seconds that a step may take to meet the target.
double allowed_seconds(const StepFit& fit, const StepSummary& step, const Target& target,
                       double samples);

/// What the quantity can be at best: where the search begins. Of workers for a throughput, that
/// number of which the model says the most.
double best_value(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                  const Target& target, double samples);

/// What the model's time is multiplied by where the quantity has this value.
using TimeFactor = std::function<double(double value)>;

/// Bisection: how well a target is met is monotone in each quantity, but a throughput in the
/// number of workers, of which more and more are tried. `samples`: a worker's in a step. `factor`:
/// none = 1.
Solution solve_step(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                    const Target& target, double samples, const TimeFactor& factor = {});

}  // namespace gradwire::results
