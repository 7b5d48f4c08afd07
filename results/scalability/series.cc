#include "results/scalability/series.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "compressors/codec.h"
#include "results/prediction/stored_summary.h"
#include "results/report/data.h"
#include "results/runs/scenario_view.h"
#include "results/runs/summary.h"
#include "results/runs/usual_steps.h"
#include "results/statistics/student_t.h"

namespace gradwire::results {
namespace {

/// What does not tell one series from another: workers, names, and how long to run.
bool is_along(const std::string& pointer) {
  for (const char* start :
       {"/cluster/workers", "/name", "/description", "/expected", "/prices", "/seed", "/sweep",
        "/$schema", "/schema_version", "/workload/steps", "/workload/repetitions",
        "/workload/evaluate_every", "/workload/target_accuracy"})
    if (pointer.starts_with(start)) return true;
  return false;
}

/// What decides what is computed: runs that differ here are not one question.
constexpr const char* kWorkloadPointers[] = {
    "/workload/model",     "/workload/profile",   "/workload/collective", "/workload/data/set",
    "/workload/transfers", "/workload/federated", "/workload/bytes"};

using Leaves = std::map<std::string, std::string>;
using Key = std::string;

/// Runs of a series: by workers, then seed.
struct Sorted {
  RunHeader header;
  Leaves leaves;
  std::map<int, std::map<std::uint64_t, RunSummary>> runs;
};

[[noreturn]] void refuse(const std::string& reason, const std::string& remedy) {
  throw Error(ErrorKind::kFailure, "report on", "the scalability of these runs", reason, remedy);
}

void check_one_workload(const std::vector<RunSummary>& runs) {
  for (const char* pointer : kWorkloadPointers) {
    std::map<std::string, std::string> seen;  // value -> scenario
    for (const RunSummary& run : runs)
      seen.emplace(scenario_value(run.header.scenario_json, pointer), run.header.scenario_name);
    if (seen.size() < 2) continue;
    std::string list;
    for (const auto& [value, scenario] : seen)
      list += (list.empty() ? "" : ", ") + (value.empty() ? "none" : value) + " (scenario " +
              scenario + ")";
    refuse("they are of several workloads; " + std::string(pointer) + " is " + list,
           "narrow the filter: scenario=" + seen.begin()->second);
  }
}

void check_steps(const std::vector<RunSummary>& runs) {
  for (const RunSummary& run : runs)
    results::check_steps(run.header.scenario_json, run.header.scenario_name);
}

std::vector<RunSummary> usable_runs(const Store& store, std::span<const RunId> ids,
                                    std::vector<std::string>& warnings) {
  std::vector<RunSummary> runs;
  int unfinished = 0, diverged = 0;
  for (const RunId id : ids) {
    auto run = store.run(id);
    if (!run) throw StoreError("report on run", std::to_string(id), "no such run");
    if (run->status == RunStatus::kDiverged) {
      ++diverged;
    } else if (run->status != RunStatus::kFinished) {
      ++unfinished;
    } else if (!run->step_time_s || !std::isfinite(*run->step_time_s) || *run->step_time_s <= 0) {
      warnings.push_back("run " + std::to_string(id) + " is left out: its step time is " +
                         (run->step_time_s ? "not above 0 or not a number" : "not stored"));
    } else {
      runs.push_back(std::move(*run));
    }
  }
  if (unfinished > 0)
    warnings.push_back(std::to_string(unfinished) + " unfinished runs are left out");
  if (diverged > 0)
    warnings.push_back(std::to_string(diverged) + " runs that diverged are left out");
  if (runs.empty())
    refuse("none of them is finished with a step time above 0", "see gradwire list");
  return runs;
}

std::map<Key, Sorted> sort_runs(const std::vector<RunSummary>& runs, std::vector<Key>& order,
                                std::vector<std::string>& warnings) {
  std::map<Key, Sorted> sorted;
  int repeated = 0;
  for (const RunSummary& run : runs) {
    const Key key = series_key(run.header.scenario_json) + "\n" + engine_of(run.header) + "\n" +
                    run.header.device;
    const auto [found, fresh] = sorted.try_emplace(key);
    if (fresh) {
      order.push_back(key);
      found->second.header = run.header;
      found->second.leaves = scenario_leaves(run.header.scenario_json);
    }
    auto& seeds = found->second.runs[run.header.workers];
    repeated += static_cast<int>(seeds.count(run.header.seed));
    auto& slot = seeds[run.header.seed];
    if (slot.id < run.id) slot = run;
  }
  if (repeated > 0)
    warnings.push_back(std::to_string(repeated) +
                       " runs were repeated later with the same seed: the latest counts");
  return sorted;
}

/// Pointers beside the method in which the series differ.
std::vector<std::string> apart(const std::map<Key, Sorted>& sorted) {
  std::map<std::string, std::set<std::string>> values;
  for (const auto& [key, its] : sorted)
    for (const auto& [pointer, text] : its.leaves) values[pointer];
  for (auto& [pointer, seen] : values)
    for (const auto& [key, its] : sorted) {
      const auto found = its.leaves.find(pointer);
      seen.insert(found == its.leaves.end() ? "" : found->second);
    }
  std::vector<std::string> pointers;
  for (const auto& [pointer, seen] : values)
    if (seen.size() > 1 && !is_along(pointer) && !pointer.starts_with("/method") &&
        pointer != "/executor")
      pointers.push_back(pointer);
  return pointers;
}

std::string with_name(const std::string& pointer, const std::string& value) {
  const std::string name = short_name(pointer);
  if (value == "true") return name;
  if (value == "false") return "no " + name;
  return value.empty() ? "no " + name : name + " " + value;
}

std::vector<std::string> names_of(const std::map<Key, Sorted>& sorted,
                                  const std::vector<Key>& order) {
  const std::vector<std::string> pointers = apart(sorted);
  std::set<std::string> executors, devices, taken;
  for (const auto& [key, its] : sorted) {
    executors.insert(engine_of(its.header));
    devices.insert(its.header.device);
  }
  std::vector<std::string> names;
  for (const Key& key : order) {
    const Sorted& its = sorted.at(key);
    std::string name = its.header.method;
    for (const std::string& pointer : pointers) {
      const auto found = its.leaves.find(pointer);
      name += ", " + with_name(pointer, found == its.leaves.end() ? "" : found->second);
    }
    if (executors.size() > 1) name += ", " + engine_of(its.header);
    if (devices.size() > 1 && std::ranges::find(pointers, "/cluster/device") == pointers.end())
      name += ", " + its.header.device;
    std::string unique = name;
    for (int i = 2; !taken.insert(unique).second; ++i)
      unique = name + " (" + std::to_string(i) + ")";
    names.push_back(unique);
  }
  return names;
}

void add_split(std::span<const StepRow> steps, double runs, KnownSplit& split) {
  for (const StepRow& step : steps) {
    const double share = 1 / (runs * static_cast<double>(steps.size()));
    split.compute_s += step.compute_s * share;
    split.codec_s += step.codec_s * share;
    split.exposed_s += step.exposed_s * share;
  }
}

ScalePoint point_of(const Store& store, int workers,
                    const std::map<std::uint64_t, RunSummary>& seeds) {
  ScalePoint point;
  point.workers = workers;
  std::vector<double> means, times;
  for (const auto& [seed, run] : seeds) {
    point.runs.push_back(run.id);
    means.push_back(*run.step_time_s);
    const auto all = store.steps(run.id);
    const auto metrics = store.metrics(run.id);
    const auto steps = usual_rows(all, metrics);
    times = step_times_of(steps);
    add_split(steps, static_cast<double>(seeds.size()), point.split);
    if (!point.step) point.step = stored_summary(metrics);
    if (point.provenance.empty()) point.provenance = time_provenance(run.header, metrics);
  }
  point.seconds = statistic(means).mean;
  point.over_seeds = means.size() > 1;
  const std::vector<double>& varied = point.over_seeds ? means : times;
  point.relative_error = relative_error_of(statistic(varied));
  const double half = point.relative_error > 0
                          ? point.seconds * point.relative_error *
                                student_quantile(0.95, static_cast<int>(varied.size()) - 1)
                          : 0;
  point.low_s = std::max(point.seconds - half, point.seconds * 1e-3);
  point.high_s = point.seconds + half;
  // Where steps overlap, some seconds count twice: exposed is at most what compute and codec leave.
  const double most =
      std::max(0.0, point.seconds - std::max(point.split.compute_s, point.split.codec_s));
  point.split.exposed_s = std::min(point.split.exposed_s, most);
  return point;
}

ScaleSeries series_of(const Store& store, const Sorted& sorted, const std::string& name,
                      std::vector<RunSummary>& used) {
  ScaleSeries series;
  series.name = name;
  series.header = sorted.header;
  series.dense = compressors::is_plain_codec(sorted.header.method);
  const auto batch = sorted.leaves.find("/workload/batch_per_worker");
  if (batch != sorted.leaves.end()) number_from(batch->second, series.samples);
  series.compute_provenance = sorted.header.compute_provenance;
  for (const auto& [workers, seeds] : sorted.runs) {
    series.points.push_back(point_of(store, workers, seeds));
    for (const auto& [seed, run] : seeds) used.push_back(run);
  }
  return series;
}

std::string named(const std::vector<std::string>& pointers) {
  std::string list;
  for (const std::string& pointer : pointers) list += (list.empty() ? "" : ", ") + pointer;
  return list;
}

}  // namespace

std::string series_key(const std::string& json) {
  std::string key;
  for (const auto& [pointer, text] : scenario_leaves(json))
    if (!is_along(pointer)) key += pointer + "=" + text + "\n";
  return key;
}

void check_steps(const std::string& scenario_json, const std::string& name) {
  const std::string kind = scenario_value(scenario_json, "/schedule/kind");
  double local_steps = 1;
  number_from(scenario_value(scenario_json, "/schedule/local_steps"), local_steps);
  const std::string what = !scenario_value(scenario_json, "/workload/federated/sample").empty()
                               ? "a round of some clients"
                           : !kind.empty() && kind != "-" && kind != "lockstep"
                               ? "a round or an update of schedule " + kind
                           : local_steps > 1 ? "several local steps"
                                             : "";
  if (!what.empty())
    throw Error(ErrorKind::kScenario, "report the scalability of", name,
                "its step is " + what + ", not a batch of each worker",
                "gradwire report compares such runs by their time to the target");
}

ScaleData scale_data(const Store& store, std::span<const RunId> ids) {
  ScaleData data;
  const std::vector<RunSummary> runs = usable_runs(store, ids, data.warnings);
  check_steps(runs);
  check_one_workload(runs);
  std::vector<Key> order;
  const std::map<Key, Sorted> sorted = sort_runs(runs, order, data.warnings);
  if (order.size() > kMostSeries)
    refuse("they make " + std::to_string(order.size()) + " series, " + std::to_string(kMostSeries) +
               " fit on a page",
           "narrow the filter; beside the method these differ: " + named(apart(sorted)));
  const std::vector<std::string> names = names_of(sorted, order);
  for (std::size_t i = 0; i < order.size(); ++i)
    data.series.push_back(series_of(store, sorted.at(order[i]), names[i], data.runs));
  std::ranges::sort(data.runs, {}, &RunSummary::id);
  return data;
}

}  // namespace gradwire::results
