#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/runs/fields.h"
#include "results/store/store.h"

/// Runs grouped by everything but the seed, with mean and spread; comparison of runs.
namespace gradwire::results {

/// The executor, and how finely it simulated: "flow, mixed", "packet".
std::string engine_of(const RunHeader& header);

/// Of n values: mean, sample standard deviation sqrt(sum (x - mean)^2 / (n - 1)) (NaN where n < 2),
/// least and greatest. Values that are not finite are left out.
struct Statistic {
  int n = 0;
  double mean = std::numeric_limits<double>::quiet_NaN();
  double spread = std::numeric_limits<double>::quiet_NaN();
  double least = std::numeric_limits<double>::quiet_NaN();
  double greatest = std::numeric_limits<double>::quiet_NaN();
};
Statistic statistic(std::span<const double> values);
double median(std::vector<double> values);  ///< NaN of none; of an even number the upper middle
/// Standard error of the mean over the mean: spread / sqrt(n) / mean; 0 where n < 2 or the mean is
/// not above 0.
double relative_error_of(const Statistic& known);
/// Step times of a run, from end to end; the first carries the start-up and is left out.
std::vector<double> step_times_of(std::span<const StepRow> steps);

/// "52.3 ms ± 0.4" or, with a single value, "52.3 ms"; "-" without values. The spread is in the
/// unit of the mean (for shares: percentage points).
std::string shown(const Statistic& statistic, Quantity quantity);

/// Runs that differ in nothing but the seed: same scenario hash, method, executor, machine, device
/// and version. Of several runs of one seed only the latest counts: they are not independent.
struct RunGroup {
  std::string label;  ///< method, then what else differs between the groups: "topk 1%, 1Gbps"
  std::string method;
  std::map<std::string, std::string> differing;  ///< by JSON pointer: values that differ
  std::vector<RunSummary> runs;                  ///< finished or diverged ones that count, by seed
  int unfinished = 0;                            ///< running, partial or failed runs, left out
  int diverged = 0;                              ///< of `runs`: they have no accuracy and loss
  std::optional<double> target_accuracy;
  Statistic step_time_s, compression_ratio, traffic_ratio, wire_bytes, simulated_s,
      time_to_target_s, final_loss, final_accuracy;
  int reached_target = 0;  ///< runs with a time to the target
};

/// Whether the value at that pointer is the method's: what it sends and who works when. What a
/// schedule counts (steps, rounds, exchanges) differs with it.
bool is_method(const RunGroup& group, const std::string& pointer);

/// A statistic of what was learned; says how many of the group's runs diverged: "diverged" where
/// all did.
std::string shown_with_diverged(const RunGroup& group, const Statistic& statistic,
                                Quantity quantity);

/// In order of the first run of each group; groups in which no run has ended are left out.
std::vector<RunGroup> group_runs(std::span<const RunSummary> runs);

/// The closing table: a header row and one row a group (method, what differs, ratios, step time,
/// simulated time to the target, final accuracy, n). Columns in which no group has a value are left
/// out.
std::vector<std::vector<std::string>> closing_table(std::span<const RunGroup> groups);

/// Columns aligned with two spaces between (numbers to the right), lines end with \n.
std::string aligned_text(const std::vector<std::vector<std::string>>& table);
std::string markdown(const std::vector<std::vector<std::string>>& table);

/// Runs side by side. A row is a field of fields.h or a JSON pointer of the scenario.
struct ComparisonRow {
  std::string name;
  bool numeric = false;
  Quantity quantity = Quantity::kPlain;
  std::vector<std::string> texts;              ///< [runs] as shown
  std::vector<std::optional<double>> numbers;  ///< [runs] where numeric
  std::vector<std::optional<double>> deltas;   ///< [runs] value - baseline's
  std::vector<std::optional<double>> factors;  ///< [runs] value / baseline's, of figures alone
  bool differs = false;
};
struct Comparison {
  std::size_t baseline = 0;
  std::vector<ComparisonRow> rows;
};
/// Precondition: baseline < runs.size().
Comparison compare_runs(std::span<const RunSummary> runs, std::size_t baseline);

}  // namespace gradwire::results
