#include "bench/fidelity/rounds.h"

#include "base/error.h"
#include "sim/executors.h"

namespace gradwire::bench {
namespace {

/// One round: each chain waits for its start and sends.
struct Round {
  sim::GraphPtr graph;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::vector<sim::OpIndex> transfers;  ///< by chain
};

/// A wait is on no lane: several chains may start at one host.
Round round_of(const Experiment& experiment) {
  sim::GraphBuilder builder;
  Round round;
  for (const Chain& chain : experiment.chains) {
    const sim::OpIndex wait =
        builder.add_operation(sim::OpKind::kCompute, sim::Lane::kNone, chain.source, "wait");
    round.seconds.push_back(chain.start);
    const sim::OpIndex after[] = {wait};
    round.transfers.push_back(
        builder.add_transfer(chain.source, chain.destination, "transfer", {}, after));
    round.seconds.push_back(Seconds(0));
    round.bytes.push_back(chain.bytes);
  }
  round.graph = builder.finish();
  return round;
}

/// Until the graph has ended, at most until `limit`.
void run_until(sim::Executor& executor, sim::GraphId graph, Seconds limit) {
  std::vector<sim::Event> events;
  for (bool more = true; more; events.clear()) {
    more = executor.advance(limit, events);
    for (const sim::Event& event : events)
      if (event.op.graph == graph && event.kind == sim::EventKind::kGraphEnded) return;
  }
}

}  // namespace

Times run_rounds(const Experiment& experiment, std::string_view executor, std::uint64_t seed) {
  GRADWIRE_ASSERT(experiment.together && !experiment.collective);
  const Round round = round_of(experiment);
  sim::ExecutorOptions options = experiment.options;
  options.seed = seed;
  const auto network = sim::make_executor(executor, experiment.cluster, options);
  const Seconds limit = *experiment.deadline;
  Times times(experiment.chains.size());
  Seconds begin{0};
  for (int repeat = 0; repeat < experiment.repeats; ++repeat) {
    const sim::GraphId graph = network->submit({.graph = round.graph,
                                                .bytes = round.bytes,
                                                .seconds = round.seconds,
                                                .not_before = begin});
    run_until(*network, graph, begin + limit);
    for (std::size_t chain = 0; chain < times.size(); ++chain) {
      const Seconds end = network->timeline(graph).ops[round.transfers[chain]].end;
      times[chain].push_back(end < Seconds(0) ? limit.value() : (end - begin).value());
    }
    network->cancel(graph);
    network->forget(graph);
    begin = begin + limit + experiment.gap;
  }
  return times;
}

}  // namespace gradwire::bench
