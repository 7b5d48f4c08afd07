#include "runner/step_times.h"

#include "runner/step_summary.h"
#include "runner/trainer_module.h"
#include "sim/executor.h"

namespace gradwire::runner {

std::vector<double> StepTimes::warm() const {
  std::vector<double> times;
  for (std::size_t i = 1; i < ends.size(); ++i) times.push_back(ends[i] - ends[i - 1]);
  return times;
}

StepTimes time_steps(const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {});
  const scenarios::ComputeProfile profile = trainer->prepare();
  const sim::Cluster cluster = scenarios::build_cluster(scenario);
  sim::ExecutorOptions options;
  options.transport = scenario.network.transport;
  options.seed = scenario.seed;
  const auto executor = sim::make_executor(scenario.executor, cluster, options);
  StepTimes times;
  for (scenarios::StepPlan plan; trainer->next(plan);) {
    if (times.ends.empty()) times.summary = summarize(scenario, cluster, profile, plan);
    const sim::GraphId graph = executor->submit(scenarios::submission_of(plan));
    trainer->on_submitted(plan, graph);
    times.ends.push_back(sim::run_to_end(*executor, graph).end.value());
    plan = {};
  }
  return times;
}

}  // namespace gradwire::runner
