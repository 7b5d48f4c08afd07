#include "runner/prediction/recorded_remedies.h"

#include <algorithm>

#include "runner/prediction/step_times.h"

namespace gradwire::runner {
namespace {

constexpr double kLeastGain = 0.02;

double timed(scenarios::Scenario scenario, const StepChanges& changes) {
  scenario.executor = "flow";
  scenario.workload.most_recorded_steps = kRemedySteps;
  return time_steps(scenario, changes).usual_mean();
}

}  // namespace

Remedies remedies_of(const scenarios::Scenario& scenario) {
  Remedies found;
  found.now_s = timed(scenario, {});
  const auto consider = [&](const char* change, double step_s) {
    if (step_s < (1 - kLeastGain) * found.now_s) found.changes.push_back({change, step_s});
  };
  consider("links ten times as fast", timed(scenario, {.rates = 10}));
  consider("links twice as fast", timed(scenario, {.rates = 2}));
  consider("a tenth of the delay", timed(scenario, {.delays = 0.1}));
  consider("messages of half the bytes, as by fp16", timed(scenario, {.messages = 0.5}));
  consider("messages of a twentieth of the bytes", timed(scenario, {.messages = 0.05}));
  scenarios::Scenario faster = scenario;
  faster.workload.compute_scale /= 2;
  consider("devices twice as fast", timed(faster, {}));
  std::ranges::stable_sort(found.changes, {}, &Remedy::step_s);
  return found;
}

}  // namespace gradwire::runner
