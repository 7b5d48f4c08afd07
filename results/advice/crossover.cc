#include "results/advice/crossover.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "base/error.h"
#include "results/figures/plot_geometry.h"
#include "results/prediction/solve.h"

namespace gradwire::results {
namespace {

constexpr int kHalvings = 40;

/// Candidates that compete as one: the fastest of them counts.
using Group = std::vector<const Candidate*>;

struct Fastest {
  const Candidate* candidate = nullptr;
  double seconds = std::numeric_limits<double>::infinity();
};

Fastest fastest_at(const Group& group, double rate, const StepConstants& constants) {
  Fastest best;
  for (const Candidate* candidate : group) {
    const double seconds = seconds_at_rate(*candidate, rate, constants);
    if (seconds < best.seconds) best = {candidate, seconds};
  }
  return best;
}

struct Contest {
  const Group& method;
  const Group& baselines;
  const StepConstants& constants;
  double margin;
  bool won(double rate) const {
    return (1 + margin) * fastest_at(method, rate, constants).seconds <
           fastest_at(baselines, rate, constants).seconds;
  }
  /// Won at `inside`, not at `outside`.
  double crossing(double inside, double outside) const {
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = std::sqrt(inside * outside);
      (won(middle) ? inside : outside) = middle;
    }
    return inside;
  }
};

double grid_rate(const RateRange& range, int i) {
  return range.low * std::pow(range.high / range.low, static_cast<double>(i) / (range.points - 1));
}

/// Stretches of grid points that are won, their ends bisected.
std::vector<RateStretch> stretches_of(const Contest& contest, const RateRange& range) {
  std::vector<RateStretch> pays;
  bool before = false;
  for (int i = 0; i < range.points; ++i) {
    const double rate = grid_rate(range, i);
    const bool won = contest.won(rate);
    if (won && !before) pays.emplace_back();
    if (won && !before && i > 0) pays.back().from = contest.crossing(rate, grid_rate(range, i - 1));
    if (!won && before) pays.back().to = contest.crossing(grid_rate(range, i - 1), rate);
    before = won;
  }
  return pays;
}

Crossover crossover_of(const Contest& contest, const RateRange& range) {
  Crossover found;
  found.pays = stretches_of(contest, range);
  if (!found.pays.empty() && found.pays.front().from == 0) {
    found.wins_always = std::isinf(found.pays.front().to);
    if (!found.wins_always) found.rate = found.pays.front().to;
  }
  const double where = found.pays.empty() ? range.low : std::min(range.high, found.pays.back().to);
  found.collective = fastest_at(contest.method, where, contest.constants).candidate->collective;
  return found;
}

/// The methods of these workers, in the candidates' order, and their baselines.
struct Rivals {
  std::vector<std::pair<std::string, Group>> methods;
  Group baselines;
};

Rivals rivals_of(std::span<const Candidate> candidates, int workers) {
  Rivals rivals;
  for (const Candidate& candidate : candidates) {
    if (candidate.step.workers != workers) continue;
    if (candidate.baseline != Baseline::kNone) {
      rivals.baselines.push_back(&candidate);
      continue;
    }
    const auto found = std::find_if(rivals.methods.begin(), rivals.methods.end(),
                                    [&](const auto& m) { return m.first == candidate.method; });
    Group& group = found != rivals.methods.end()
                       ? found->second
                       : rivals.methods.emplace_back(candidate.method, Group{}).second;
    group.push_back(&candidate);
  }
  return rivals;
}

std::vector<int> worker_counts(std::span<const Candidate> candidates) {
  std::vector<int> counts;
  for (const Candidate& candidate : candidates)
    if (std::find(counts.begin(), counts.end(), candidate.step.workers) == counts.end())
      counts.push_back(candidate.step.workers);
  return counts;
}

}  // namespace

std::string pays_words(const Crossover& crossover) {
  if (crossover.pays.empty()) return "never";
  if (crossover.wins_always) return "at any rate";
  const auto text = [](double rate) { return format_value(8 * rate, Quantity::kBitRate); };
  std::string words;
  for (const RateStretch& stretch : crossover.pays) {
    words += (words.empty() ? "" : " and ") +
             (stretch.from == 0        ? "< " + text(stretch.to)
              : std::isinf(stretch.to) ? "> " + text(stretch.from)
                                       : text(stretch.from) + " to " + text(stretch.to));
  }
  return words;
}

double seconds_at_rate(const Candidate& candidate, double rate, const StepConstants& constants) {
  return step_time(with(candidate.step, SolveFor::kBandwidth, rate), constants).total_s;
}

std::vector<Crossover> crossovers(std::span<const Candidate> candidates,
                                  const StepConstants& constants, const RateRange& range) {
  std::vector<Crossover> found;
  for (const int workers : worker_counts(candidates)) {
    const Rivals rivals = rivals_of(candidates, workers);
    if (rivals.baselines.empty())
      throw Error(ErrorKind::kFailure, "find where compression no longer pays among",
                  std::to_string(workers) + " workers", "no candidate is uncompressed or fp16",
                  "add methods none and fp16");
    for (const auto& [method, group] : rivals.methods) {
      Crossover crossover = crossover_of({group, rivals.baselines, constants, range.margin}, range);
      crossover.method = method;
      crossover.workers = workers;
      found.push_back(std::move(crossover));
    }
  }
  return found;
}

std::vector<std::string> winners_by_rate(std::span<const Candidate> candidates, int workers,
                                         std::span<const double> rates,
                                         const StepConstants& constants) {
  Group all;
  for (const Candidate& candidate : candidates)
    if (candidate.step.workers == workers) all.push_back(&candidate);
  std::vector<std::string> winners;
  for (const double rate : rates) {
    const Fastest best = fastest_at(all, rate, constants);
    winners.push_back(best.candidate ? best.candidate->method : "");
  }
  return winners;
}

}  // namespace gradwire::results
