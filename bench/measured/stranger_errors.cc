#include "bench/measured/stranger_errors.h"

#include <cmath>
#include <cstdio>
#include <map>
#include <set>
#include <vector>

#include "base/error.h"
#include "bench/measured/forms.h"
#include "bench/measured/profiles.h"
#include "bench/measured/scenario_form.h"
#include "scenarios/kernels/model_family.h"

namespace gradwire::bench {
namespace {

struct Held {
  const MeasuredStep* step;
  JudgedRow row;
};

/// "source,workload,family,device,precision"
std::string about(const MeasuredStep& step) {
  const std::string table = table_of(step);
  return short_source(step.source) + "," + table + "," +
         scenarios::family_of(*shipped_layer_table(table)) + "," + step.device + "," +
         scenario_precision(step);
}

/// Profiles, each fitted once.
class Profiles {
 public:
  const std::string& of(const MeasuredStep& step) {
    std::string& text = known_[short_source(step.source) + step.workload + step.device];
    if (text.empty()) text = profile_without(step.device, step.source, step.workload);
    return text;
  }

 private:
  std::map<std::string, std::string> known_;
};

struct HeldSteps {
  std::map<std::string, std::vector<Held>> groups;
  std::map<std::string, int> left_out;  ///< rows by the reason
};

HeldSteps held(const std::vector<MeasuredStep>& steps) {
  Profiles profiles;
  HeldSteps all;
  for (const MeasuredStep& step : steps) {
    std::string reason = why_no_scenario(step);
    if (reason.empty()) {
      try {
        all.groups[about(step)].push_back({&step, predicted_as_scenario(step, profiles.of(step))});
        continue;
      } catch (const Error& error) {  // beyond what a scenario may say
        reason = error.what();
      }
    }
    ++all.left_out[reason];
  }
  std::erase_if(all.groups, [](const auto& group) { return group.second.empty(); });
  return all;
}

std::vector<MeasuredStep> all_steps() {
  std::vector<MeasuredStep> steps = shipped_measured().steps;
  for (MeasuredStep& step : held_out_measured().steps) steps.push_back(std::move(step));
  return steps;
}

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", 100 * share);
  return text;
}

GroupErrors errors_of_held(const std::vector<Held>& rows) {
  std::vector<const JudgedRow*> judged;
  for (const Held& one : rows) judged.push_back(&one.row);
  return errors_of(judged);
}

std::string line_of(const std::string& name, const std::vector<Held>& rows) {
  std::set<int> workers;
  for (const Held& one : rows) workers.insert(one.step->workers);
  const GroupErrors errors = errors_of_held(rows);
  return name + "," + std::to_string(*workers.begin()) + "," + std::to_string(*workers.rbegin()) +
         "," + std::to_string(rows.size()) + "," + percent(errors.median) + "," +
         percent(std::abs(errors.worst->error())) + "," + percent(errors.inside) + "\n";
}

}  // namespace

std::string stranger_errors_csv() {
  std::string csv =
      "# Steps that others measured, held against what gradwire predict says of them, on device\n"
      "# profiles without the source's own rows: errors in %, and the share (%) of rows inside\n"
      "# the 90 % band that is printed.\n"
      "# Written by gradwire-bench-measured --errors; docs/validation/measured.md.\n"
      "source,workload,family,device,precision,least_workers,most_workers,rows,median,worst,"
      "inside\n";
  const std::vector<MeasuredStep> steps = all_steps();
  const HeldSteps known = held(steps);
  for (const auto& [name, rows] : known.groups) csv += line_of(name, rows);
  return csv;
}

std::string stranger_rows_csv() {
  std::string csv =
      "source,workload,family,device,precision,workers,batch,parts,measured_s,predicted_s,low_s,"
      "high_s\n";
  const std::vector<MeasuredStep> steps = all_steps();
  const HeldSteps known = held(steps);
  for (const auto& [name, rows] : known.groups)
    for (const Held& one : rows) {
      char text[160];
      std::snprintf(text, sizeof text, ",%d,%d,%d,%.5g,%.5g,%.5g,%.5g\n", one.step->workers,
                    one.step->batch, one.step->accumulated, one.row.measured, one.row.predicted,
                    one.row.low, one.row.high);
      csv += name + text;
    }
  return csv;
}

std::vector<BenchRow> scenario_rows(const std::vector<MeasuredStep>& steps, const Say& say) {
  const HeldSteps known = held(steps);
  for (const auto& [reason, count] : known.left_out)
    say("no scenario: " + std::to_string(count) + (count == 1 ? " row: " : " rows: ") + reason);
  std::vector<BenchRow> rows;
  double inside = 0, all = 0;
  for (const auto& [name, members] : known.groups) {
    const GroupErrors errors = errors_of_held(members);
    const MeasuredStep& first = *members.front().step;
    const std::string dotted = "measured.predict." + short_source(first.source) + "." +
                               table_of(first) + "." + first.device + "." +
                               scenario_precision(first);
    const auto add = [&](const char* what, double share) {
      rows.push_back({.name = dotted + what, .value = 100 * share, .unit = "%"});
    };
    add(".median_error", errors.median);
    add(".worst_error", std::abs(errors.worst->error()));
    add(".inside_band", errors.inside);
    inside += errors.inside * static_cast<double>(members.size());
    all += static_cast<double>(members.size());
  }
  if (all == 0) return rows;
  rows.push_back({.name = "measured.predict.inside_band.at_least",
                  .value = 100 * inside / all,
                  .unit = "%",
                  .at_most = false});
  if (all >= kRowsForCoverage) rows.back().bar = 85;
  return rows;
}

}  // namespace gradwire::bench
