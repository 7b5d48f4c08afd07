#include "bench/prediction/speed.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/philox.h"
#include "bench/rows/timing.h"
#include "results/prediction/step_fit.h"
#include "runner/prediction/prediction.h"
#include "scenarios/scenario.h"

namespace gradwire::bench {
namespace {

using results::ExchangeKind;
using results::StepSummary;

constexpr int kPoints = 10'000;
constexpr int kRepetitions = 5;
constexpr double kSecondsBar = 1, kPointBar = 5;  ///< of all points, s; of any point, ms

constexpr const char* kScenario = R"({"schema_version": 1, "name": "predict",
  "workload": {"profile": "resnet50", "batch_per_worker": 32},
  "cluster": {"workers": 512, "device": "v100"},
  "network": {"topology": "star", "link": {"bandwidth": "10Gbps", "delay": "10us"}},
  "executor": "flow", "seeds": [1]})";

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : stream_{seed, 0, 0, 0} {}
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(uniform(stream_, at_++));
  }
  double log_between(double low, double high) { return low * std::pow(high / low, between(0, 1)); }
  int whole(int low, int high) { return static_cast<int>(between(low, high + 0.999)); }

 private:
  RandomStream stream_;
  std::uint64_t at_ = 0;
};

StepSummary drawn_step(Draws& draws) {
  StepSummary step;
  step.exchange =
      static_cast<ExchangeKind>(draws.whole(0, static_cast<int>(ExchangeKind::kScatterReduce)));
  step.workers = 1 << draws.whole(1, 10);
  step.forward_s = draws.log_between(1e-3, 1);
  step.update_s = draws.log_between(1e-5, 1e-2);
  step.compute_spread = draws.between(0, 0.2);
  step.bandwidth = draws.log_between(1e8 / 8, 1e11 / 8);
  step.delay_s = draws.log_between(1e-6, 1e-2);
  step.loss = draws.between(0, 1) < 0.5 ? 0 : draws.log_between(1e-5, 1e-2);
  step.buckets.resize(static_cast<std::size_t>(draws.whole(1, 32)));
  for (results::BucketSummary& bucket : step.buckets) {
    bucket.backward_s = draws.log_between(1e-4, 1e-1);
    bucket.encode_s = draws.log_between(1e-5, 1e-3);
    bucket.decode_s = draws.log_between(1e-5, 1e-3);
    bucket.message_bytes = draws.log_between(1e4, 1e8);
  }
  return step;
}

/// A fit to points that the model itself makes: what it says is no matter here.
results::StepFit fit_of(Draws& draws) {
  std::vector<results::StepPoint> points;
  for (int i = 0; i < 12; ++i) {
    const StepSummary step = drawn_step(draws);
    points.push_back(
        {"point " + std::to_string(i), step,
         results::step_time(step, results::usual_constants()).total_s * draws.between(0.95, 1.05)});
  }
  return results::fit_steps(points);
}

/// Seconds of all predictions; `each` [points] keeps the least that a point took.
double predict_all(const results::StepFit& fit, const std::vector<StepSummary>& steps,
                   std::vector<double>& each) {
  double sum = 0, before = now_s();
  const double start = before;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    sum += results::predict_step(fit, steps[i]).high_s;
    const double after = now_s();
    each[i] = std::min(each[i], after - before);
    before = after;
  }
  GRADWIRE_ASSERT(std::isfinite(sum));  // and so nothing is left out
  return before - start;
}

/// From scenario to answer, milliseconds: the least of five.
double answer_ms(const results::StepFit& fit) {
  const auto file = scenarios::read_scenario_text(kScenario, "predict.json", {});
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = now_s();
    const auto step = runner::summary_of(file.runs.at(0), nullptr, {});
    GRADWIRE_ASSERT(results::predict_step(fit, step).time.total_s > 0);
    seconds.push_back(now_s() - start);
  }
  return 1e3 * *std::min_element(seconds.begin(), seconds.end());
}

}  // namespace

std::vector<BenchRow> bench_predict(std::uint64_t seed, const Say& say) {
  Draws draws(seed);
  const results::StepFit fit = fit_of(draws);
  std::vector<StepSummary> steps;
  for (int i = 0; i < kPoints; ++i) steps.push_back(drawn_step(draws));
  say("predicting " + std::to_string(kPoints) + " steps with " + std::to_string(fit.draws.size()) +
      " draws each, " + std::to_string(kRepetitions) + " times");
  std::vector<double> seconds, each(steps.size(), std::numeric_limits<double>::infinity());
  for (int i = 0; i < kRepetitions; ++i) seconds.push_back(predict_all(fit, steps, each));
  const double worst = *std::max_element(each.begin(), each.end());
  const std::string name = "predict.points" + std::to_string(kPoints);
  return labelled(
      {{.name = name + ".seconds", .value = median(seconds), .unit = "s", .bar = kSecondsBar},
       {.name = name + ".worst", .value = 1e3 * worst, .unit = "ms", .bar = kPointBar},
       {.name = "predict.scenario.resnet50.n512",
        .value = answer_ms(fit),
        .unit = "ms",
        .bar = kPointBar}},
      "measured");
}

}  // namespace gradwire::bench
