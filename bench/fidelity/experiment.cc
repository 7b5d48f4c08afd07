#include "bench/fidelity/experiment.h"

#include <algorithm>

#include "base/philox.h"
#include "bench/fidelity/rounds.h"
#include "sim/executors.h"
#include "sim/packet/packet_estimate.h"

namespace gradwire::bench {
namespace {

constexpr double kMostShift = 2e-6;  // s
constexpr std::uint32_t kShiftDraws = 301;

/// The operations whose times count, by [chain][repeat].
struct Plan {
  sim::GraphPtr graph;
  std::vector<Bytes> bytes;
  std::vector<Seconds> seconds;
  std::vector<std::vector<sim::OpIndex>> ops;
};

class Planner {
 public:
  explicit Planner(const Experiment& experiment) : experiment_(experiment) {
    const std::size_t chains = experiment.collective ? 1 : experiment.chains.size();
    plan_.ops.resize(chains);
    last_.resize(chains);
  }

  Plan plan() {
    for (int repeat = 0; repeat < experiment_.repeats; ++repeat) {
      if (experiment_.together) pause_all(repeat);
      for (std::size_t chain = 0; chain < plan_.ops.size(); ++chain) add(chain, repeat);
    }
    plan_.graph = builder_.finish();
    return std::move(plan_);
  }

 private:
  sim::OpIndex add_pause(int host, const std::vector<sim::OpIndex>& after, int repeat) {
    plan_.seconds.push_back(repeat == 0 ? Seconds(0) : experiment_.gap);
    return builder_.add_operation(sim::OpKind::kAggregate, sim::Lane::kHost, host, "pause", after);
  }

  sim::OpIndex add_shift(int host, sim::OpIndex after) {
    const RandomStream stream{experiment_.shift, 0, kShiftDraws, kFirstReservedTensor};
    plan_.seconds.push_back(Seconds(kMostShift * static_cast<double>(uniform(stream, shifts_++))));
    return builder_.add_operation(sim::OpKind::kAggregate, sim::Lane::kHost, host, "shift",
                                  std::vector{after});
  }

  /// A host does one thing at a time: the end of the chain that has fewer of them waits.
  int shifted_host(const Chain& chain) const {
    const auto chains = [&](int host) {
      return std::ranges::count_if(experiment_.chains, [host](const Chain& each) {
        return each.source == host || each.destination == host;
      });
    };
    return chains(chain.source) <= chains(chain.destination) ? chain.source : chain.destination;
  }

  /// One pause for all: a host has one at a time, and several chains may start at one.
  void pause_all(int repeat) {
    std::vector<sim::OpIndex> all;
    for (const auto& after : last_) all.insert(all.end(), after.begin(), after.end());
    pause_ = add_pause(experiment_.chains.front().source, all, repeat);
  }

  void add(std::size_t chain, int repeat) {
    const std::vector<sim::OpIndex> pauses = pauses_before(chain, repeat);
    const sim::OpIndex op = add_work(chain, pauses);
    plan_.seconds.push_back(Seconds(0));
    plan_.ops[chain].push_back(op);
    last_[chain].assign(1, op);
  }

  /// A collective holds back a rank only by operations of its host: each member has its own pause.
  std::vector<sim::OpIndex> pauses_before(std::size_t chain, int repeat) {
    const bool shifted = experiment_.shift != 0 && repeat == 0;
    if (!experiment_.collective) {
      const Chain& own = experiment_.chains[chain];
      const sim::OpIndex pause =
          experiment_.together ? pause_ : add_pause(own.source, last_[chain], repeat);
      return {shifted ? add_shift(shifted_host(own), pause) : pause};
    }
    std::vector<sim::OpIndex> pauses;
    for (const int member : experiment_.collective->members) {
      const sim::OpIndex pause = add_pause(member, last_[chain], repeat);
      pauses.push_back(shifted ? add_shift(member, pause) : pause);
    }
    return pauses;
  }

  sim::OpIndex add_work(std::size_t chain, const std::vector<sim::OpIndex>& pauses) {
    if (experiment_.collective) {
      plan_.bytes.insert(plan_.bytes.end(), experiment_.collective->byte_slots(),
                         experiment_.collective_bytes);
      return builder_.add_collective(*experiment_.collective, "collective", pauses);
    }
    const Chain& work = experiment_.chains[chain];
    plan_.bytes.push_back(work.bytes);
    return builder_.add_transfer(work.source, work.destination, "transfer", {}, pauses);
  }

  const Experiment& experiment_;
  sim::GraphBuilder builder_;
  Plan plan_;
  std::vector<std::vector<sim::OpIndex>> last_;  // by chain
  std::uint64_t shifts_ = 0;
  sim::OpIndex pause_ = 0;  // together: of the present repeat
};

struct Finished {
  Plan plan;
  std::unique_ptr<sim::Executor> executor;
  const sim::Timeline* timeline = nullptr;

  const sim::OpRecord& record(std::size_t chain, std::size_t repeat) const {
    return timeline->ops[plan.ops[chain][repeat]];
  }
};

Finished finish(const Experiment& experiment, std::string_view executor, std::uint64_t seed) {
  Finished run{Planner(experiment).plan(), nullptr};
  sim::ExecutorOptions options = experiment.options;
  options.seed = seed;
  run.executor = sim::make_executor(executor, experiment.cluster, options);
  const sim::GraphId id = run.executor->submit(
      {.graph = run.plan.graph, .bytes = run.plan.bytes, .seconds = run.plan.seconds});
  run.timeline = &sim::run_to_end(*run.executor, id);
  return run;
}

Times times_of(const Finished& run) {
  Times times(run.plan.ops.size());
  for (std::size_t chain = 0; chain < times.size(); ++chain) {
    for (std::size_t repeat = 0; repeat < run.plan.ops[chain].size(); ++repeat) {
      const sim::OpRecord& record = run.record(chain, repeat);
      times[chain].push_back((record.end - record.start).value());
    }
  }
  return times;
}

std::vector<double> makespans_of(const Finished& run) {
  std::vector<double> spans;
  for (std::size_t repeat = 0; repeat < run.plan.ops[0].size(); ++repeat) {
    double begin = run.record(0, repeat).start.value();
    double end = begin;
    for (std::size_t chain = 0; chain < run.plan.ops.size(); ++chain) {
      begin = std::min(begin, run.record(chain, repeat).start.value());
      end = std::max(end, run.record(chain, repeat).end.value());
    }
    spans.push_back(end - begin);
  }
  return spans;
}

/// By repeat.
std::vector<double> means_of(const Times& times) {
  std::vector<double> means(times.at(0).size());
  for (const std::vector<double>& chain : times)
    for (std::size_t repeat = 0; repeat < means.size(); ++repeat)
      means[repeat] += chain[repeat] / static_cast<double>(times.size());
  return means;
}

}  // namespace

Times run_experiment(const Experiment& experiment, std::string_view executor, std::uint64_t seed) {
  if (experiment.deadline) return run_rounds(experiment, executor, seed);
  return times_of(finish(experiment, executor, seed));
}

double packet_events(const Experiment& experiment) {
  const Plan plan = Planner(experiment).plan();
  return sim::packet_work(experiment.cluster, experiment.options.transport,
                          {.graph = plan.graph, .bytes = plan.bytes, .seconds = plan.seconds})
      .effort;
}

std::vector<double> makespans(const Experiment& experiment, std::string_view executor,
                              std::uint64_t seed) {
  return makespans_of(finish(experiment, executor, seed));
}

std::vector<double> clean_figures(const Experiment& experiment, std::string_view executor,
                                  std::uint64_t seed) {
  if (experiment.deadline) return means_of(run_rounds(experiment, executor, seed));
  const Finished run = finish(experiment, executor, seed);
  std::vector<double> figures = makespans_of(run);
  if (!experiment.means) return figures;
  const std::vector<double> means = means_of(times_of(run));
  figures.insert(figures.end(), means.begin(), means.end());
  return figures;
}

}  // namespace gradwire::bench
