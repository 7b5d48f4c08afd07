#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/prediction/step_summary.h"
#include "results/store/store.h"

/// Stored runs as points over the number of workers, apart by everything else that differs.
namespace gradwire::results {

/// Where the stored steps of a point's runs spent their time: means over workers, steps and runs.
/// The three may overlap where encoding runs beside compute.
struct KnownSplit {
  double compute_s = 0;  ///< forward, backward, update
  double codec_s = 0;    ///< encode, decode, add
  double exposed_s = 0;  ///< exposed communication (results/runs/exposed.h)
};

/// Runs of a series on one number of workers.
struct ScalePoint {
  int workers = 0;
  std::vector<RunId> runs;  ///< one a seed, by seed
  double seconds = 0;       ///< mean step time
  /// Standard error of that mean over itself, from the seeds where there are several, else from the
  /// steps; 0 = nothing varies, or it is not known.
  double relative_error = 0;
  double low_s = 0, high_s = 0;  ///< 90 % interval of the mean: Student's t over seeds, or steps
  bool over_seeds = false;
  std::string provenance;           ///< of the time: "simulated", ...
  std::optional<StepSummary> step;  ///< of the first run; empty: no closed form for its exchange
  KnownSplit split;
};

/// Runs that differ in workers and seed only.
struct ScaleSeries {
  std::string name;    ///< method and what else tells it from the others
  RunHeader header;    ///< of its first run
  bool dense = false;  ///< fp32 as it is: what compression is held against
  double samples = 0;  ///< a worker's in a step; 0: the workload has none
  std::string compute_provenance;
  std::vector<ScalePoint> points;  ///< by workers

  int most_workers() const { return points.back().workers; }
};

struct ScaleData {
  std::vector<ScaleSeries> series;
  std::vector<RunSummary> runs;       ///< those that count, by id
  std::vector<std::string> warnings;  ///< what was left out, and why
};

/// Most series of a report: more cannot be told apart on paper.
inline constexpr std::size_t kMostSeries = 8;

/// Throws Error where a step of this scenario (resolved, JSON) is no batch of each worker, so that
/// more workers are not more work a step.
void check_steps(const std::string& scenario_json, const std::string& name);

/// Throws StoreError for unknown runs; Error as check_steps() does, where no run is finished with a
/// time above 0, where runs of several workloads are mixed, and where there are more than
/// kMostSeries (both say what differs).
ScaleData scale_data(const Store& store, std::span<const RunId> ids);

/// Identity of the series that a run belongs to: its scenario without workers, seed, and what only
/// says how long to run. `json` is a resolved scenario.
std::string series_key(const std::string& json);

}  // namespace gradwire::results
