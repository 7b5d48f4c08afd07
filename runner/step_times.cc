#include "runner/step_times.h"

#include "runner/step_summary.h"
#include "runner/trainer_module.h"
#include "sim/executor.h"
#include "sim/sim_error.h"

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
  std::vector<sim::Event> events;
  for (scenarios::StepPlan plan; trainer->next(plan);) {
    if (times.ends.empty()) times.summary = summarize(scenario, cluster, profile, plan);
    const sim::GraphId graph = executor->submit({.graph = plan.graph,
                                                 .bytes = plan.bytes,
                                                 .seconds = plan.seconds,
                                                 .not_before = Seconds(0),
                                                 .after = plan.after});
    trainer->on_submitted(plan, graph);
    bool ended = false;
    while (executor->advance(sim::kForever, events)) {
      for (const sim::Event& event : events)
        ended = ended || (event.kind == sim::EventKind::kGraphEnded && event.op.graph == graph);
      events.clear();
    }
    if (!ended)
      throw sim::SimError("finish a step of", scenario.name, "nothing is left to happen",
                          "check the links' rates");
    times.ends.push_back(executor->timeline(graph).end.value());
    plan = {};
  }
  return times;
}

}  // namespace gradwire::runner
