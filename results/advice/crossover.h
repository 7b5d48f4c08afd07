#pragma once
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/advice/ranking.h"

/// The link rates on which a way of compressing pays.
namespace gradwire::results {

/// Rates from one to another, B/s.
struct RateStretch {
  double from = 0;                                      ///< 0: the slowest of the search
  double to = std::numeric_limits<double>::infinity();  ///< infinite: the fastest of the search
};

struct Crossover {
  std::string method;  ///< the candidates' label
  int workers = 0;
  /// Where the method's fastest step is faster than the faster of the baselines' by the margin, the
  /// lowest first. Fewer bytes pay below a rate, fewer hops above one: there may be several.
  std::vector<RateStretch> pays;
  /// B/s: it pays on all links slower than that, at it no longer. Empty where it does not pay on
  /// the slowest of the search, or pays on all (`wins_always`).
  std::optional<double> rate;
  bool wins_always = false;
  std::string collective;  ///< of its fastest step where it pays at last (or at the lowest rate)
};
/// "< 24.3 Gbps", "> 400 Gbps", "3.00 Gbps to 24.3 Gbps", several with "and", "at any rate",
/// "never".
std::string pays_words(const Crossover& crossover);

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
/// Throws Error where workers have no baseline.
std::vector<Crossover> crossovers(std::span<const Candidate> candidates,
                                  const StepConstants& constants, const RateRange& range = {});

/// By rate of `rates` (B/s): the method label of the fastest candidate of these workers.
std::vector<std::string> winners_by_rate(std::span<const Candidate> candidates, int workers,
                                         std::span<const double> rates,
                                         const StepConstants& constants);

}  // namespace gradwire::results
