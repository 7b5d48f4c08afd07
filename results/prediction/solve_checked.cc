#include "results/prediction/solve_checked.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

/// After so many the quantity may not help at all.
constexpr int kSlowAnswers = 3;
/// Share of the workers that are added at once.
constexpr double kMostMore = 0.25;
/// Chance below this share of the tolerance is none.
constexpr double kExactShare = 0.1;

/// The mean over the steps of both.
StepPoint pooled(const StepPoint& one, const StepPoint& other) {
  const double n = std::max(one.steps, 1), m = std::max(other.steps, 1);
  StepPoint both = one;
  both.seconds = (n * one.seconds + m * other.seconds) / (n + m);
  both.relative_error =
      std::hypot(n * one.seconds * one.relative_error, m * other.seconds * other.relative_error) /
      (n + m) / both.seconds;
  both.steps = one.steps + other.steps;
  return both;
}

/// The search: what was simulated so far, and the best of it.
class AnswerSearch {
 public:
  AnswerSearch(const StepFit& fit, const StepSummary& step, SolveFor quantity, const Target& target,
               double samples, const SimulateAnswer& simulate, double tolerance, int most_samples)
      : fit_(fit),
        step_(step),
        quantity_(quantity),
        target_(target),
        samples_(samples),
        simulate_(simulate),
        tolerance_(tolerance),
        most_samples_(most_samples) {}

  Solution solve() const {
    return solve_step(fit_, step_, quantity_, target_, samples_,
                      [this](double value) { return correction_.at(value); });
  }

  /// Simulates the answer, or where there is none, or answers were too slow again and again, the
  /// best that the quantity can be. True where the search ends: with a value that is near enough,
  /// or that is known already.
  bool ends_with(Solution solution) {
    const bool met = solution.value.has_value() && slow_ < kSlowAnswers;
    if (!met) solution.value.reset();
    double value = solution.value.value_or(best_value(fit_, step_, quantity_, target_, samples_));
    const double more = met && correction_.knows(value) ? more_than(value) : value;
    const bool tries_more = more > value;
    if (tries_more) {
      value = more;
      solution.value = value;
      solution.high = std::max(solution.high, value);
    }
    if (correction_.knows(value)) return true;
    const StepSummary there = with(step_, quantity_, value);
    const double allowed = allowed_seconds(fit_, there, target_, samples_);
    const StepPoint point = sampled(value, allowed);
    const double predicted = step_time(there, fit_.constants).total_s;
    const double error = point.seconds / allowed - 1, chance = known_to(point);
    if (best_.simulations++ == 0) best_.unchecked_error = error;
    if (!met) solution.value = solution.low = solution.high = value;
    if (!best_.solution.value || is_better(error)) {
      best_.solution = solution;
      best_.error = error;
      best_.forward_error =
          met && !tries_more ? correction_.at(value) * predicted / allowed - 1 : 0;
      best_.chance = chance;
    }
    slow_ = met && error > 0 ? slow_ + 1 : 0;
    correction_.add(value, point.seconds / predicted);
    return std::abs(error) <= std::max(tolerance_, 2 * chance);
  }

  const CheckedSolution& best() const { return best_; }

 private:
  /// Nearer; but of whole workers, which seldom meet the target to a hair, one that meets it.
  bool is_better(double error) const {
    const bool meets = error <= tolerance_, best_meets = best_.error <= tolerance_;
    if (quantity_ == SolveFor::kWorkers && meets != best_meets) return meets;
    return std::abs(error) < std::abs(best_.error);
  }
  /// Of whole workers: the model says that more are too slow, where these have time to spare. As
  /// many more as that is for, a quarter at most; or the next number that the network can have.
  double more_than(double workers) const {
    if (quantity_ != SolveFor::kWorkers) return workers;
    const StepSummary there = with(step_, quantity_, workers);
    const double simulated = correction_.at(workers) * step_time(there, fit_.constants).total_s;
    const double spare = 1 - simulated / allowed_seconds(fit_, there, target_, samples_);
    if (spare <= tolerance_) return workers;
    const auto first = static_cast<int>(std::ceil((1 + std::min(spare, kMostMore)) * workers));
    for (int n = first; n < 2 * first; ++n)
      if (!step_.on_workers || (*step_.on_workers)(step_, n)) return n;
    return workers;
  }

  /// One sample is enough to go on from a value that misses; chance that stopped a sample when it
  /// looked near enough is undone by another.
  StepPoint sampled(double value, double allowed) const {
    StepPoint point = simulate_(value, 0);
    for (int sample = 1; sample < most_samples_; ++sample) {
      const double error = std::abs(point.seconds / allowed - 1), chance = known_to(point);
      const bool misses = error > std::max(tolerance_, 2 * chance);
      const bool confirmed = error <= tolerance_ && sample > 1;
      if (misses || confirmed || chance <= kExactShare * tolerance_) break;
      point = pooled(point, simulate_(value, sample));
    }
    return point;
  }

  const StepFit& fit_;
  const StepSummary& step_;
  SolveFor quantity_;
  const Target& target_;
  double samples_;
  const SimulateAnswer& simulate_;
  double tolerance_;
  int most_samples_;
  Correction correction_;  ///< simulated over predicted times, by the quantity
  CheckedSolution best_;
  int slow_ = 0;  ///< answers one after the other that took longer than is allowed
};

}  // namespace

CheckedSolution solve_checked(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                              const Target& target, double samples, const SimulateAnswer& simulate,
                              const CheckOptions& options) {
  const double tolerance = step.is_irregular() ? options.lossy_tolerance : options.tolerance;
  AnswerSearch search(fit, step, quantity, target, samples, simulate, tolerance,
                      options.most_samples);
  Solution solution = search.solve();
  for (int i = 0; i < options.most_simulations && !search.ends_with(solution); ++i)
    solution = search.solve();
  CheckedSolution checked = search.best();
  const double accepted = std::max(options.accepted * tolerance, 2 * checked.chance);
  if (!solution.value && std::abs(checked.error) > accepted) checked.solution = solution;
  return checked;
}

}  // namespace gradwire::results
