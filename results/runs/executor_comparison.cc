#include "results/runs/executor_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "results/statistics/median.h"

namespace gradwire::results {
namespace {

double sum_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

std::vector<double> step_times(std::span<const StepRow> steps) {
  std::vector<double> times;
  double before = steps.empty() ? 0 : steps.front().start_s;
  for (const StepRow& step : steps) {
    times.push_back(step.end_s - before);
    before = step.end_s;
  }
  return times;
}

std::vector<ExecutorErrors> errors_against(const ExecutorTimes& reference,
                                           std::span<const ExecutorTimes> others) {
  std::vector<ExecutorErrors> all;
  for (const ExecutorTimes& other : others) {
    const std::size_t count = std::min(reference.step_s.size(), other.step_s.size());
    GRADWIRE_ASSERT(count > 0);
    ExecutorErrors errors;
    std::vector<double> sizes;
    errors.executor = other.executor;
    for (std::size_t i = 0; i < count; ++i) {
      GRADWIRE_ASSERT(reference.step_s[i] > 0);
      errors.errors.push_back(other.step_s[i] / reference.step_s[i] - 1);
      sizes.push_back(std::abs(errors.errors.back()));
    }
    errors.worst = std::ranges::max(sizes);
    errors.median = middle_of(std::move(sizes));
    errors.total = sum_of(std::span(other.step_s).first(count)) /
                       sum_of(std::span(reference.step_s).first(count)) -
                   1;
    all.push_back(std::move(errors));
  }
  return all;
}

Figure executor_figure(std::span<const ExecutorTimes> all, const std::string& scenario,
                       const std::vector<std::string>& scenario_hashes) {
  Figure figure;
  figure.title = "Step times by executor";
  figure.subtitle = scenario;
  figure.x = {.label = "step"};
  figure.y = {.label = "time of a step", .quantity = Quantity::kSeconds, .low = 0.0};
  figure.scenario_hashes = scenario_hashes;
  int index = 0;
  for (const ExecutorTimes& one : all) {
    Series series;
    series.name = one.executor;
    for (std::size_t i = 0; i < one.step_s.size(); ++i) {
      series.x.push_back(static_cast<double>(i));
      series.y.push_back(one.step_s[i]);
    }
    series.style = series_style(index++, one.step_s.size() < 60);
    figure.series.push_back(std::move(series));
    figure.provenance += (figure.provenance.empty() ? "" : ", ") + one.executor;
  }
  return figure;
}

}  // namespace gradwire::results
