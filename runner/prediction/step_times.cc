#include "runner/prediction/step_times.h"

#include <cmath>
#include <deque>

#include "base/error.h"
#include "runner/interrupt.h"
#include "runner/record/step_summary.h"
#include "runner/training/trainer_module.h"
#include "sim/executors.h"

namespace gradwire::runner {

namespace {

sim::Cluster changed_cluster(const scenarios::Scenario& scenario, const StepChanges& changes) {
  sim::Cluster cluster = scenarios::build_cluster(scenario);
  if (changes.rates == 1 && changes.delays == 1) return cluster;
  for (int link = 0; link < cluster.channel_count() / 2; ++link) {
    if (cluster.links()[static_cast<std::size_t>(link)].cell >= 0) continue;
    sim::LinkSpec spec = cluster.links()[static_cast<std::size_t>(link)].spec;
    spec.rate = BitsPerSecond(spec.rate.value() * changes.rates);
    for (sim::RateSchedulePtr* way : {&spec.schedule, &spec.schedule_back})
      if (*way && (*way)->is_steady()) *way = (*way)->times(changes.rates);
    spec.delay = Seconds(spec.delay.value() * changes.delays);
    cluster.change_link(link, spec);
  }
  return cluster;
}

/// A message of something stays one of something.
std::int64_t changed_size(double share, std::int64_t size) {
  if (size <= 0) return size;
  return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(size)));
}

/// Sizes that the plan gives, and those of collectives that go by their elements.
void change_messages(double share, scenarios::StepPlan& plan) {
  if (share == 1) return;
  for (Bytes& size : plan.bytes) size = Bytes(changed_size(share, size.count()));
  const auto graph = std::make_shared<sim::GraphTemplate>(*plan.graph);
  for (sim::CollectiveSpec& spec : graph->collectives) {
    spec.elements = changed_size(share, spec.elements);
    spec.hop_per_element = Seconds(spec.hop_per_element.value() / share);  // adding takes as long
  }
  plan.graph = graph;
}

void count_work(const sim::Timeline& timeline, const sim::TransportSettings& transport,
                StepTimes& times) {
  for (const sim::OpRecord& op : timeline.ops) {
    times.transfers += op.transfers;
    times.packets += op.wire.count() / transport.segment.count();
  }
}

struct Flight {
  scenarios::StepPlan plan;
  sim::GraphId graph = 0;
};

bool may_follow(const std::deque<Flight>& flights) {
  return flights.empty() || (flights.size() < 2 && !flights.back().plan.alone);
}

}  // namespace

std::vector<double> StepTimes::warm() const {
  std::vector<double> times;
  for (std::size_t i = 1; i < ends.size(); ++i) times.push_back(ends[i] - ends[i - 1]);
  return times;
}

double StepTimes::usual_mean() const {
  const std::int64_t first = usual.first, last = std::min(usual.last, std::ssize(ends));
  if (first >= last) return 0;
  const double begin = first > 0 ? ends[static_cast<std::size_t>(first) - 1] : 0;
  return (ends[static_cast<std::size_t>(last) - 1] - begin) / static_cast<double>(last - first);
}

StepTimes time_steps(const scenarios::Scenario& scenario, const StepChanges& changes) {
  const auto trainer = make_trainer(scenario, {});
  const scenarios::ComputeProfile profile = trainer->prepare();
  const sim::Cluster cluster = changed_cluster(scenario, changes);
  sim::ExecutorOptions options;
  options.transport = scenario.network.transport;
  options.fold = scenario.network.fold;
  options.detail = scenario.network.detail;
  options.seed = scenario.seed;
  const auto executor = sim::make_executor(scenario.executor, cluster, options);
  StepTimes times;
  // As in a run (lockstep.h): two steps in flight, so that workers go on alone.
  std::deque<Flight> flights;
  for (bool more = true; more || !flights.empty();) {
    while (more && may_follow(flights)) {
      Flight flight;
      more = trainer->next(flight.plan);
      if (!more) break;
      if (!times.summary) times.summary = summarize(scenario, cluster, profile, flight.plan);
      change_messages(changes.messages, flight.plan);
      flight.graph = executor->submit(scenarios::submission_of(flight.plan));
      trainer->on_submitted(flight.plan, flight.graph);
      flights.push_back(std::move(flight));
    }
    if (flights.empty()) break;
    if (interrupted_by() != 0)
      throw Error(interruption(), "simulate steps of", scenario.name, "a stop was asked for");
    const auto& [plan, graph] = flights.front();
    const sim::Timeline& timeline = sim::run_to_end(*executor, graph);
    times.ends.push_back(timeline.end.value());
    count_work(timeline, scenario.network.transport, times);
    trainer->on_step_ended(plan, {timeline, timeline.end, executor->missing(graph)});
    flights.pop_front();
  }
  times.usual = trainer->usual_steps();
  return times;
}

}  // namespace gradwire::runner
