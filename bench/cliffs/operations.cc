#include "bench/cliffs/operations.h"

#include <algorithm>

#include "runner/run_session.h"
#include "runner/training/lockstep.h"
#include "runner/training/trainer_module.h"
#include "sim/executors.h"
#include "sim/graph/rank_starts.h"
#include "sim/packet/packet_estimate.h"
#include "sim/sim_error.h"

namespace gradwire::bench {
namespace {

using runner::RanWork;

class Recorder {
 public:
  void add(std::int64_t step, const RanWork& ran) {
    const sim::GraphTemplate& graph = *ran.work.graph;
    const auto ready = rank_starts_.add(ran.work.graph, ran.timeline, ran.work.after);
    for (sim::OpIndex op = 0; op < graph.size(); ++op) {
      const sim::OpRecord& record = ran.timeline.ops[op];
      if (record.start < Seconds(0) || record.end < record.start) continue;  // cut off
      if (graph.kind[op] == sim::OpKind::kCollective)
        add_ranks(step, ran, op, ready[static_cast<std::size_t>(graph.peer[op])]);
      else if (record.end > record.start)
        operations_.push_back({step, graph.labels[graph.label[op]],
                               graph.kind[op] == sim::OpKind::kTransfer, record.start.value(),
                               record.end.value()});
    }
  }

  std::vector<Operation> take() { return std::move(operations_); }

 private:
  void add_ranks(std::int64_t step, const RanWork& ran, sim::OpIndex op,
                 const std::vector<Seconds>& ready) {
    const sim::GraphTemplate& graph = *ran.work.graph;
    const auto& done = ran.timeline.rank_done[static_cast<std::size_t>(graph.peer[op])];
    for (std::size_t rank = 0; rank < done.size(); ++rank)
      operations_.push_back({step, graph.labels[graph.label[op]], true,
                             std::min(ready[rank], done[rank]).value(), done[rank].value()});
  }

  sim::RankStarts rank_starts_;
  std::vector<Operation> operations_;
};

runner::Lockstep::Options without_training() {
  return {.evaluates = [](std::int64_t) { return false; },
          .before_submit = [](const scenarios::StepPlan&) {},
          .on_submitted = [](const scenarios::StepPlan&, sim::GraphId) {},
          .interrupted = [] { return false; }};
}

/// On to the next instant at which something happens.
void advance(sim::Executor& executor, runner::RunSession& session, scenarios::Schedule& schedule) {
  std::vector<sim::Event> events;
  const Seconds limit = session.next_wake();
  const bool more = executor.advance(limit, events);
  for (const sim::Event& event : events) {
    if (event.kind == sim::EventKind::kTransferFailed && !schedule.survives_failures())
      throw sim::SimError("finish", "a transfer", "it met the time limit or can never finish");
    schedule.on(event, session);
  }
  if (more || !events.empty()) return;
  if (limit < sim::kForever && executor.now() >= limit && session.wake(schedule, session)) return;
  throw sim::SimError("finish", "a step", session.describe_unfinished());
}

}  // namespace

std::vector<Operation> run_operations(const scenarios::Scenario& scenario,
                                      std::string_view executor, std::uint64_t seed,
                                      const Stop& stop) {
  scenarios::Scenario seeded = scenario;
  seeded.seed = seed;
  const auto trainer = runner::make_trainer(seeded, {});
  trainer->prepare();
  const sim::Cluster cluster = scenarios::build_cluster(seeded);
  sim::ExecutorOptions options;
  options.transport = seeded.network.transport;
  options.seed = seed;
  options.on_progress = [&stop](Seconds, std::uint64_t) { return !stop || !stop(); };
  const auto network = sim::make_executor(executor, cluster, options);
  Recorder recorder;
  runner::RunSession session(
      *network, [&](const scenarios::StepReport& report, std::span<const RanWork> works) {
        for (const RanWork& ran : works) recorder.add(report.step, ran);
      });
  runner::Lockstep lockstep(*trainer, without_training());
  scenarios::Schedule* const own = trainer->schedule();
  scenarios::Schedule& schedule = own ? *own : lockstep;
  schedule.start(session);
  while (session.rows() < trainer->steps_total()) advance(*network, session, schedule);
  return recorder.take();
}

double packet_effort(const scenarios::Scenario& scenario) {
  const auto trainer = runner::make_trainer(scenario, {});
  trainer->prepare();
  scenarios::StepPlan plan;
  if (!trainer->next(plan)) return 0;
  plan.after.clear();
  const sim::PacketWork work =
      sim::packet_work(scenarios::build_cluster(scenario), scenario.network.transport,
                       scenarios::submission_of(plan));
  return work.effort * static_cast<double>(trainer->steps_total());
}

}  // namespace gradwire::bench
