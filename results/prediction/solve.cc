#include "results/prediction/solve.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/units.h"
#include "results/prediction/assumed_spread.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

constexpr int kHalvings = 60;
/// In the order of SolveFor.
constexpr std::array<std::string_view, 4> kSolveNames = {"bandwidth", "ratio", "workers",
                                                         "latency"};

struct Range {
  double worst, best;  ///< ends of the search: the target is met most easily at `best`
};

constexpr double kMostWorkers = 65536;  ///< of a scenario
constexpr double kBeyond = 4;

/// More workers make steps longer and less efficient, but a sum of throughputs larger, up to a
/// point: there the fewest are asked for that are enough.
bool asks_for_fewest(SolveFor quantity, const Target& target) {
  return quantity == SolveFor::kWorkers && target.kind == Target::Kind::kThroughput;
}

/// 1, 2, 3, ... and then in steps of a tenth.
double next_workers(double workers) {
  return std::min(kMostWorkers, std::max(workers + 1, std::floor(1.1 * workers)));
}

Range range_of(SolveFor quantity) {
  switch (quantity) {
    case SolveFor::kBandwidth:
      return {1e3, 1e14};  // 8 kbps .. 800 Tbps
    case SolveFor::kRatio:
      return {1, 1e-6};
    case SolveFor::kWorkers:
      return {kMostWorkers, 2};
    case SolveFor::kLatency:
      return {10, 1e-9};
  }
  return {};
}

/// with(), but empty for more or fewer workers than the network can have.
std::optional<StepSummary> if_possible(const StepSummary& step, SolveFor quantity, double value) {
  if (quantity == SolveFor::kWorkers && step.on_workers)
    return (*step.on_workers)(step, static_cast<int>(value));
  return with(step, quantity, value);
}

/// The fewest workers that send and that the network can have; of other quantities the best end.
double best_possible(const StepSummary& step, SolveFor quantity) {
  const Range range = range_of(quantity);
  if (quantity != SolveFor::kWorkers) return range.best;
  double workers = range.best;
  while (workers < range.worst && !if_possible(step, quantity, workers))
    workers = next_workers(workers);
  return workers;
}

enum class Edge { kMiddle, kLow, kHigh };

class Bisection {
 public:
  Bisection(const StepFit& fit, const StepSummary& step, SolveFor quantity, const Target& target,
            double samples, const TimeFactor& factor)
      : fit_(fit),
        step_(step),
        quantity_(quantity),
        target_(target),
        samples_(samples),
        factor_(factor) {}

  bool met(double value, Edge edge) const {
    const std::optional<StepSummary> there = if_possible(step_, quantity_, value);
    if (!there) return false;
    const StepSummary& changed = *there;
    const double corrected = (factor_ ? factor_(value) : 1) * over_allowed(changed);
    return corrected * std::exp(edge == Edge::kMiddle ? 0 : margin(changed, edge)) <= 1;
  }

  /// The value nearest `worst` that meets the target; empty where even `best` does not.
  std::optional<double> solve(Edge edge) const {
    if (asks_for_fewest(quantity_, target_)) return fewest(edge);
    const double worst = range_of(quantity_).worst, best = best_possible(step_, quantity_);
    if (!met(best, edge)) return std::nullopt;
    if (quantity_ == SolveFor::kWorkers) return most(best, edge);
    if (met(worst, edge)) return worst;
    double bad = std::log(worst), good = std::log(best);
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (bad + good) / 2;
      (met(std::exp(middle), edge) ? good : bad) = middle;
    }
    return std::exp(good);
  }

  /// Of workers, that with the most throughput.
  double most_throughput() const {
    double best = 1, least = std::numeric_limits<double>::infinity();
    if (const auto lone = if_possible(step_, quantity_, 1)) least = over_allowed(*lone);
    for (double n = 1; n < kMostWorkers;) {
      n = next_workers(n);
      const auto there = if_possible(step_, quantity_, n);
      const double over = there ? over_allowed(*there) : least;
      if (over < least) best = n, least = over;
    }
    return best;
  }

 private:
  /// From so many on. Where 6 and 7 workers are too slow 8 may not be, and 16: halving-doubling
  /// likes powers of two, racks that are full; beyond four times the last good one none is looked
  /// for.
  std::optional<double> most(double good, Edge edge) const {
    const auto next = [](double n) {
      return std::min(next_workers(n), std::exp2(std::floor(std::log2(n)) + 1));
    };
    for (double n = good; n < std::min(kMostWorkers, kBeyond * good);) {
      n = next(n);
      if (met(n, edge)) good = n;
    }
    for (double bad = next(good); good < kMostWorkers && bad - good > 1;) {
      const double middle = std::floor((good + bad) / 2);
      (met(middle, edge) ? good : bad) = middle;
    }
    return good;
  }

  /// Throughput may fall again beyond what is found.
  std::optional<double> fewest(Edge edge) const {
    double good = 1, bad = 0;
    while (!met(good, edge)) {
      if (good >= kMostWorkers) return std::nullopt;
      bad = good;
      good = next_workers(good);
    }
    while (good - bad > 1) {
      const double middle = std::floor((good + bad) / 2);
      (met(middle, edge) ? good : bad) = middle;
    }
    return good;
  }

  /// The step's time over what the target allows, which one worker's compute may decide, too.
  double over_allowed(const StepSummary& step) const {
    return step_time(step, fit_.constants).total_s / allowed_seconds(fit_, step, target_, samples_);
  }

  /// From the middle to an edge of the 90 % band of that, as a logarithm.
  double margin(const StepSummary& step, Edge edge) const {
    const StepPrediction prediction = predict_step(fit_, step);
    const AssumedSpread assumed = assumed_spread(
        step, [this](const StepSummary& moved) { return std::log(over_allowed(moved)); });
    const double model = std::log(prediction.model_high_s / prediction.time.total_s);
    return edge == Edge::kLow ? -std::hypot(model, assumed.down) : std::hypot(model, assumed.up);
  }

  const StepFit& fit_;
  const StepSummary& step_;
  SolveFor quantity_;
  Target target_;
  double samples_;
  const TimeFactor& factor_;
};

/// The largest part of a step whose quantity is as good as it can be.
std::string what_limits(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                        double best) {
  const StepTime time = step_time(with(step, quantity, best), fit.constants);
  const std::array<std::pair<double, const char*>, 4> parts = {
      {{time.exposed_s, "exposed communication"},
       {time.encode_s, "encoding"},
       {time.decode_s, "decoding and adding messages"},
       {time.compute_s, "compute"}}};
  const auto largest = std::max_element(parts.begin(), parts.end());
  return std::string(largest->second) + ": " + format_duration(Seconds(largest->first)) + " of " +
         format_duration(Seconds(time.total_s)) + " a step, whatever the value";
}

}  // namespace

namespace {

StepSummary on_workers(const StepSummary& step, int workers) {
  const auto there = (*step.on_workers)(step, workers);
  if (there) return *there;
  throw Error(ErrorKind::kFailure, "ask about", std::to_string(workers) + " workers",
              "the network cannot have that many",
              "its hosts, sites or places are counted in the scenario");
}

}  // namespace

StepSummary with(const StepSummary& step, SolveFor quantity, double value) {
  StepSummary changed = step;
  switch (quantity) {
    case SolveFor::kBandwidth:
      changed.bandwidth = value;
      changed.server_bandwidth *= value / step.bandwidth;
      break;
    case SolveFor::kRatio:
      for (BucketSummary& bucket : changed.buckets) {
        bucket.message_bytes *= value;
        bucket.pull_bytes *= value;
      }
      break;
    case SolveFor::kWorkers:
      if (step.on_workers) return on_workers(step, static_cast<int>(value));
      changed.workers = static_cast<int>(value);
      break;
    case SolveFor::kLatency:
      changed.delay_s = value;
      break;
  }
  return changed;
}

namespace {

double alone_seconds(const StepFit& fit, const StepSummary& step) {
  return step_time(alone(step), fit.constants).total_s;
}

}  // namespace

double allowed_seconds(const StepFit& fit, const StepSummary& step, const Target& target,
                       double samples) {
  switch (target.kind) {
    case Target::Kind::kStepTime:
      return target.value;
    case Target::Kind::kThroughput:
      return step.workers * samples / target.value;
    case Target::Kind::kEfficiency:
      return alone_seconds(fit, step) / target.value;
  }
  return 0;
}

std::string_view name_of(SolveFor quantity) {
  return kSolveNames[static_cast<std::size_t>(quantity)];
}

bool solve_for(std::string_view name, SolveFor& quantity) {
  const auto found = std::find(kSolveNames.begin(), kSolveNames.end(), name);
  if (found == kSolveNames.end()) return false;
  quantity = static_cast<SolveFor>(found - kSolveNames.begin());
  return true;
}

Target parse_target(std::string_view text) {
  struct Form {
    std::string_view start;
    Target::Kind kind;
  };
  for (const Form& form : {Form{"efficiency>=", Target::Kind::kEfficiency},
                           Form{"step_time<=", Target::Kind::kStepTime},
                           Form{"throughput>=", Target::Kind::kThroughput}}) {
    double value = 0;
    if (!text.starts_with(form.start)) continue;
    const std::string_view given = text.substr(form.start.size());
    if (form.kind == Target::Kind::kStepTime &&
        (given.empty() || std::isalpha(static_cast<unsigned char>(given.back())) == 0))
      throw Error(ErrorKind::kUsage, "read the target", text, "a duration needs a unit",
                  "say step_time<=50ms");
    if (!number_from(given, value) || value <= 0) break;
    if (form.kind == Target::Kind::kEfficiency && value > 1)
      throw Error(ErrorKind::kUsage, "read the target", text, "no efficiency is above 1",
                  "say efficiency>=0.8 for 80 %");
    return {form.kind, value};
  }
  throw Error(ErrorKind::kUsage, "read the target", text, "it is none",
              "say efficiency>=0.8, step_time<=50ms or throughput>=10000 (samples/s)");
}

double best_value(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                  const Target& target, double samples) {
  if (!asks_for_fewest(quantity, target)) return best_possible(step, quantity);
  return Bisection(fit, step, quantity, target, samples, {}).most_throughput();
}

double efficiency(const StepFit& fit, const StepSummary& step) {
  return alone_seconds(fit, step) / step_time(step, fit.constants).total_s;
}

Solution solve_step(const StepFit& fit, const StepSummary& step, SolveFor quantity,
                    const Target& target, double samples, const TimeFactor& factor) {
  const Bisection bisection(fit, step, quantity, target, samples, factor);
  Solution solution;
  solution.value = bisection.solve(Edge::kMiddle);
  if (!solution.value) {
    solution.limit =
        what_limits(fit, step, quantity, best_value(fit, step, quantity, target, samples));
    return solution;
  }
  const double worst = bisection.solve(Edge::kLow).value_or(*solution.value);
  const double best =
      bisection.solve(Edge::kHigh).value_or(best_value(fit, step, quantity, target, samples));
  solution.low = std::min(worst, best);
  solution.high = std::max(worst, best);
  return solution;
}

}  // namespace gradwire::results
