#include <algorithm>
#include <cmath>
#include <map>

#include "results/recipes/recipe.h"
#include "results/runs/exposed.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kMostWorkers = 5;  ///< of a run, the slowest

struct WorkerTimes {
  double own_s = 0;  ///< sum over the steps that it took part in
  double lag_s = 0;  ///< sum of what it took longer than the mean of the step's workers
  int steps = 0, last = 0;
};

struct Straggling {
  std::map<int, WorkerTimes> workers;
  double wait_s = 0;  ///< a step, for the slowest: its own work less the mean worker's
  int steps = 0;
};

using OwnWork = std::map<std::int64_t, std::map<int, double>>;  ///< by step and worker

/// Seconds in which a worker computed or coded.
OwnWork own_work(const std::vector<TimelineSegment>& segments, int workers) {
  std::map<std::int64_t, std::map<int, std::vector<TimelineSegment>>> parts;
  for (const TimelineSegment& segment : segments)
    if (segment.worker >= 0 && segment.worker < workers)
      parts[segment.step][segment.worker].push_back(segment);
  OwnWork own;
  for (const auto& [step, of_workers] : parts)
    for (const auto& [worker, list] : of_workers) {
      const TimeSplit split = split_of(list, workers);
      const double seconds = split.compute_s + split.exposed_codec_s;
      if (seconds > 0) own[step][worker] = seconds;
    }
  return own;
}

/// To 1 ps, as timelines are kept.
double to_picosecond(double seconds) {
  return std::round(seconds * 1e12) / 1e12;
}

Straggling straggling_of(const std::vector<TimelineSegment>& segments, int workers) {
  Straggling all;
  for (const auto& [step, own] : own_work(segments, workers)) {
    if (own.size() < 2) continue;
    double sum = 0;
    auto slowest = own.begin();
    for (auto it = own.begin(); it != own.end(); ++it) {
      sum += it->second;
      if (it->second > slowest->second) slowest = it;
    }
    const double mean = sum / static_cast<double>(own.size());
    // Equal workers have no last one; what remains are roundings of 1 ps.
    if (slowest->second > mean * (1 + 1e-9)) ++all.workers[slowest->first].last;
    for (const auto& [worker, seconds] : own) {
      WorkerTimes& times = all.workers[worker];
      times.own_s += seconds;
      times.lag_s += seconds - mean;
      ++times.steps;
    }
    all.wait_s += slowest->second - mean;
    ++all.steps;
  }
  if (all.steps > 0) all.wait_s = to_picosecond(all.wait_s / all.steps);
  return all;
}

void add_workers(const RecipeRuns& runs, const ReportGroup& group, const Straggling& all,
                 RecipeAnswer& answer) {
  std::vector<std::pair<int, WorkerTimes>> slowest(all.workers.begin(), all.workers.end());
  const auto lag = [](const auto& worker) { return worker.second.lag_s / worker.second.steps; };
  std::ranges::stable_sort(slowest, std::greater(), lag);
  slowest.resize(std::min(slowest.size(), kMostWorkers));
  for (const auto& [worker, times] : slowest)
    answer.table.rows.push_back(
        {runs.workload, name_in_workload(runs.data, group), static_cast<double>(first_run(group)),
         static_cast<double>(worker), times.own_s / times.steps,
         to_picosecond(times.lag_s / times.steps), static_cast<double>(times.last) / all.steps,
         static_cast<double>(times.steps), all.wait_s, all.wait_s / group.group.step_time_s.mean});
}

std::string add_stragglers(const RecipeRuns& runs, RecipeAnswer& answer) {
  const ReportGroup* worst = nullptr;
  Straggling of_worst;
  for (const ReportGroup& group : runs.data.groups) {
    const Straggling all =
        straggling_of(runs.store.timeline(first_run(group)), header_of(group).workers);
    if (all.steps == 0) continue;
    add_workers(runs, group, all, answer);
    if (worst && all.wait_s / group.group.step_time_s.mean <=
                     of_worst.wait_s / worst->group.step_time_s.mean)
      continue;
    worst = &group;
    of_worst = all;
  }
  if (!worst) return "no timeline shows two workers or more at work in a step";
  const double share = of_worst.wait_s / worst->group.step_time_s.mean;
  answer.sentences.push_back(share < 1e-6
                                 ? runs.workload + ": no worker is slower than the others."
                                 : runs.workload + ": waiting for the slowest worker takes " +
                                       format_value(of_worst.wait_s, Quantity::kSeconds) + ", " +
                                       format_value(share, Quantity::kShare) + " of a step, with " +
                                       name_in_workload(runs.data, *worst) + ".");
  return "";
}

}  // namespace

Recipe stragglers_recipe() {
  using Kind = DataColumn::Kind;
  return {
      "stragglers",
      "Which workers are slow, and what does waiting for them cost?",
      "Of the timeline of each group's first run, the five that lag most. Own work: compute, and "
      "encoding and decoding that no compute hides, in the steps that the worker took part in. "
      "Lag: more than the mean of that step's workers. Last: in that share of the steps nobody "
      "worked longer. Waiting: the slowest's own work less the mean's, a step; that much a step "
      "would gain at most if all were alike and nothing else hid it.",
      "run on two workers or more: timelines are kept of the first steps of every run",
      {{"workload", "workload", Quantity::kPlain, Kind::kText},
       {"runs", "runs", Quantity::kPlain, Kind::kText},
       {"run", "run", Quantity::kCount},
       {"worker", "worker", Quantity::kCount},
       {"own_s", "own work", Quantity::kSeconds},
       {"lag_s", "lag", Quantity::kSeconds},
       {"last_share", "last", Quantity::kShare},
       {"steps", "steps", Quantity::kCount},
       {"wait_s", "waiting", Quantity::kSeconds},
       {"wait_share", "of a step", Quantity::kShare}},
      add_stragglers};
}

}  // namespace gradwire::results
