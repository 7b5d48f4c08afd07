#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/advice/ranking.h"

/// The link rate at which a way of compressing stops to pay.
namespace gradwire::results {

struct Crossover {
  std::string method;  ///< the candidates' label
  int workers = 0;
  /// B/s: below it the method's fastest step is faster than the faster of the baselines' by the
  /// margin, at it no longer. Empty: at no rate of the search (`wins_always` false), or at all
  /// (true).
  std::optional<double> rate;
  bool wins_always = false;
  std::string collective;  ///< of its fastest step just below that rate (or at the lowest)
};

/// Rates that are searched, B/s.
struct RateRange {
  double low = 1.25e6;    ///< 10 Mbps
  double high = 1.25e11;  ///< 1 Tbps
  int points = 121;       ///< of a logarithmic grid, between which the crossing is bisected
  /// A method pays where the baseline takes longer by more than this share (kTie, for instance).
  double margin = 0;
};

/// The step's time at another rate of the workers' links (a server's link is scaled with them).
double seconds_at_rate(const Candidate& candidate, double rate, const StepConstants& constants);

/// One for each method that is no baseline and each number of workers, in the candidates' order.
/// Baseline: the fastest of all fp32 and fp16 candidates of that number of workers, at each rate.
/// The highest rate at which the method still wins counts. Throws Error where workers have no
/// baseline.
std::vector<Crossover> crossovers(std::span<const Candidate> candidates,
                                  const StepConstants& constants, const RateRange& range = {});

/// By rate of `rates` (B/s): the method label of the fastest candidate of these workers.
std::vector<std::string> winners_by_rate(std::span<const Candidate> candidates, int workers,
                                         std::span<const double> rates,
                                         const StepConstants& constants);

}  // namespace gradwire::results
