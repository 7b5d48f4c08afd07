#include "scenarios/checks/schedule_checks.h"

#include <algorithm>
#include <numeric>

#include "scenarios/checks/repeated_checks.h"
#include "scenarios/data_sets.h"
#include "sim/sim_error.h"

namespace gradwire::scenarios {

namespace {

void check_graph(const Rules& rules) {
  if (!rules.sound({"/schedule", "/cluster/workers"})) return;
  const ScheduleChoice& schedule = rules.scenario.schedule;
  try {
    gossip_mixing(rules.scenario);
  } catch (const sim::SimError& error) {
    rules.refuse(schedule.graph == "explicit" ? "/schedule/edges" : "/schedule/graph",
                 error.what());
  }
  if (rules.sound({"/workload/steps"}) && schedule.final_mixing >= rules.scenario.workload.steps)
    rules.refuse("/schedule/final_mixing", "no step would learn anything",
                 "less than /workload/steps");
}

void check_pipeline(const Rules& rules) {
  if (!rules.sound({"/schedule", "/cluster/workers", "/workload/model", "/workload/hidden"}))
    return;
  const Workload& workload = rules.scenario.workload;
  const ModelInfo& model = *find_model(workload.model);
  if (model.stages == 0)
    return rules.refuse("/workload/model", "a TorchScript file cannot be cut into stages",
                        "another model");
  const PipelineCut cut = pipeline_cut(rules.scenario, stages_of(model, workload.hidden));
  if (!cut.problem.empty()) rules.refuse(cut.where, cut.problem, cut.instead);
}

}  // namespace

PipelineCut pipeline_cut(const Scenario& scenario, int parts) {
  const ScheduleChoice& schedule = scenario.schedule;
  const int workers = scenario.cluster.workers;
  const int stages = schedule.stages > 0 ? schedule.stages : workers;
  const auto problem = [](std::string where, std::string what, std::string instead) {
    return PipelineCut{{}, 1, std::move(where), std::move(what), std::move(instead)};
  };
  const auto text = [](int number) { return std::to_string(number); };
  const char* const at = schedule.stages > 0 ? "/schedule/stages" : "/cluster/workers";
  if (workers % stages != 0)
    return problem(at,
                   text(workers) + " workers are no whole replicas of " + text(stages) + " stages",
                   "a divisor of /cluster/workers");
  if (stages > parts)
    return problem(at,
                   scenario.workload.model + " has " + text(parts) + " parts, so that one of " +
                       text(stages) + " stages would have no layer",
                   "at most " + text(parts) + " stages");
  PipelineCut cut{schedule.cut, workers / stages, {}, {}, {}};
  if (cut.parts.empty())
    for (int s = 0; s < stages; ++s)
      cut.parts.push_back((s + 1) * parts / stages - s * parts / stages);
  if (std::ssize(cut.parts) != stages)
    return problem("/schedule/cut",
                   "it says parts of " + text(static_cast<int>(cut.parts.size())) +
                       " stages, and there are " + text(stages),
                   "a number for each stage");
  if (const auto empty = std::ranges::find(cut.parts, 0); empty != cut.parts.end())
    return problem(
        "/schedule/cut",
        "stage " + text(static_cast<int>(empty - cut.parts.begin())) + " would have no layer",
        "1 or more for each stage");
  if (const int sum = std::accumulate(cut.parts.begin(), cut.parts.end(), 0); sum != parts)
    return problem("/schedule/cut",
                   "the stages have " + text(sum) + " parts, and " + scenario.workload.model +
                       " has " + text(parts),
                   "numbers that add up to " + text(parts));
  return cut;
}

void check_schedule(const Rules& rules) {
  const ScheduleChoice& schedule = rules.scenario.schedule;
  if (rules.scenario.workload.kind != WorkloadKind::kTraining) return;
  if (schedule.kind == "gossip") return check_graph(rules);
  if (schedule.kind == "pipeline") return check_pipeline(rules);
  if (schedule.kind != "rounds") return;
  if (!rules.sound({"/schedule", "/cluster/workers"})) return;
  check_clients(rules, "/schedule", schedule.sample, schedule.drop_out, schedule.deadline,
                "flow or packet");
  const int drawn = schedule.sample > 0 ? schedule.sample : rules.scenario.cluster.workers;
  if (schedule.sample_least > drawn)
    rules.refuse("/schedule/sample_least",
                 "a round draws " + std::to_string(drawn) + " clients, and never more",
                 "at most /schedule/sample");
  if (schedule.local_epochs && *schedule.local_epochs == 0)
    rules.refuse("/schedule/local_epochs", "a client that does not train changes nothing", "> 0");
  const bool one_step = !schedule.local_epochs && schedule.local_steps == 1;
  if (one_step && rules.sound({"/workload/optimizer"}) && rules.scenario.workload.momentum > 0)
    rules.warn("/workload/optimizer/momentum",
               "clients begin each round with a fresh optimiser, whose momentum does nothing in a "
               "single local step (server_momentum of /schedule lasts)");
}

}  // namespace gradwire::scenarios
