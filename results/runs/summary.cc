#include "results/runs/summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/error.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

std::string group_key(const RunHeader& header) {
  std::string key;
  for (const std::string* part : {&header.scenario_hash, &header.method, &header.executor,
                                  &header.detail, &header.host, &header.device, &header.version})
    key += *part + "\n";
  return key;
}

/// Keeps of each seed the latest run that has ended.
void add_run(RunGroup& group, const RunSummary& run) {
  if (!has_ended(run.status)) {
    ++group.unfinished;
    return;
  }
  for (RunSummary& other : group.runs)
    if (other.header.seed == run.header.seed) {
      if (run.id > other.id) other = run;
      return;
    }
  group.runs.push_back(run);
}

Statistic of(const std::vector<RunSummary>& runs, const char* field) {
  std::vector<double> values;
  for (const RunSummary& run : runs)
    if (const auto value = find_field(field)->number(run)) values.push_back(*value);
  return statistic(values);
}

void summarise(RunGroup& group) {
  std::sort(group.runs.begin(), group.runs.end(),
            [](const RunSummary& a, const RunSummary& b) { return a.header.seed < b.header.seed; });
  group.diverged = static_cast<int>(
      std::count_if(group.runs.begin(), group.runs.end(),
                    [](const RunSummary& run) { return run.status == RunStatus::kDiverged; }));
  group.step_time_s = of(group.runs, "step_time_s");
  group.compression_ratio = of(group.runs, "compression_ratio");
  group.traffic_ratio = of(group.runs, "traffic_ratio");
  group.wire_bytes = of(group.runs, "wire_bytes");
  group.simulated_s = of(group.runs, "simulated_s");
  group.time_to_target_s = of(group.runs, "time_to_target_s");
  group.final_loss = of(group.runs, "final_loss");
  group.final_accuracy = of(group.runs, "final_accuracy");
  group.reached_target = group.time_to_target_s.n;
  double target = 0;
  const RunSummary& first = group.runs.front();
  if (number_from(scenario_value(first.header.scenario_json, "/workload/target_accuracy"),
                  target) &&
      target > 0)
    group.target_accuracy = target;
}

/// "/a/b/ratio" where "/a/b/name" differs too: it may be an option of one choice alone.
bool is_detail(const RunGroup& group, const std::string& pointer) {
  for (std::size_t slash = pointer.rfind('/'); slash != 0 && slash != std::string::npos;
       slash = pointer.rfind('/', slash - 1)) {
    const std::string choice = pointer.substr(0, slash) + "/name";
    if (choice != pointer && group.differing.contains(choice)) return true;
  }
  return false;
}

void append(RunGroup& group, const std::string& pointer, const std::string& text) {
  double ignored = 0;
  const bool has_unit = number_from(text, ignored) &&
                        !std::isdigit(static_cast<unsigned char>(text.empty() ? '0' : text.back()));
  // The name of a choice says less than what is chosen.
  const bool is_name = pointer.ends_with("/name");
  const std::string name = short_name(is_name ? pointer.substr(0, pointer.rfind('/')) : pointer);
  group.label += ", " + (has_unit ? "" : name + " ") + text;
}

/// What tells groups of one label apart, of the options that belong to their choices.
void add_details(std::vector<RunGroup>& groups) {
  std::map<std::string, std::vector<RunGroup*>> same;
  for (RunGroup& group : groups) same[group.label].push_back(&group);
  for (const auto& [label, alike] : same) {
    for (const auto& [pointer, ignored] : alike.front()->differing) {
      if (is_method(*alike.front(), pointer) || !is_detail(*alike.front(), pointer)) continue;
      std::set<std::string> texts;
      for (const RunGroup* group : alike) texts.insert(group->differing.at(pointer));
      for (RunGroup* group : alike)
        if (texts.size() > 1 && group->differing.at(pointer) != "-")
          append(*group, pointer, group->differing.at(pointer));
    }
  }
}

void label(std::vector<RunGroup>& groups, bool with_method_options) {
  for (RunGroup& group : groups) {
    group.label = group.method;
    for (const auto& [pointer, text] : group.differing) {
      if (is_method(group, pointer) && (!with_method_options || pointer == "/method/name"))
        continue;
      if (is_method(group, pointer) || !is_detail(group, pointer)) append(group, pointer, text);
    }
  }
  add_details(groups);
}

bool labels_unique(const std::vector<RunGroup>& groups) {
  std::set<std::string> labels;
  for (const RunGroup& group : groups) labels.insert(group.label);
  return labels.size() == groups.size();
}

/// Two different rows never share a label: what is left is told apart by machine, then by number.
void make_unique(std::vector<RunGroup>& groups) {
  label(groups, false);
  if (!labels_unique(groups)) label(groups, true);
  const auto append_where_ambiguous = [&](auto text_of) {
    if (labels_unique(groups)) return;
    std::map<std::string, int> times;
    for (const RunGroup& group : groups) ++times[group.label];
    for (std::size_t i = 0; i < groups.size(); ++i)
      if (times[groups[i].label] > 1) groups[i].label += text_of(groups[i], i);
  };
  const auto header = [](const RunGroup& group) -> const RunHeader& {
    return group.runs.front().header;
  };
  append_where_ambiguous([&](const RunGroup& g, std::size_t) { return ", " + header(g).device; });
  append_where_ambiguous([&](const RunGroup& g, std::size_t) { return ", " + header(g).version; });
  append_where_ambiguous(
      [&](const RunGroup&, std::size_t i) { return " [" + std::to_string(i + 1) + "]"; });
}

}  // namespace

std::string engine_of(const RunHeader& header) {
  return header.detail.empty() ? header.executor : header.executor + ", " + header.detail;
}

bool is_method(const RunGroup& group, const std::string& pointer) {
  if (pointer.starts_with("/method") || pointer.starts_with("/schedule")) return true;
  const bool counts = pointer == "/workload/steps" || pointer == "/workload/evaluate_every";
  const auto of_schedule = group.differing.lower_bound("/schedule");
  return counts && of_schedule != group.differing.end() &&
         of_schedule->first.starts_with("/schedule");
}

Statistic statistic(std::span<const double> values) {
  Statistic result;
  double sum = 0;
  Interval all;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    ++result.n;
    sum += value;
    all.include(value);
  }
  if (result.n == 0) return result;
  result.mean = sum / result.n;
  result.least = all.low;
  result.greatest = all.high;
  if (result.n < 2) return result;
  double squares = 0;
  for (const double value : values)
    if (std::isfinite(value)) squares += (value - result.mean) * (value - result.mean);
  result.spread = std::sqrt(squares / (result.n - 1));
  return result;
}

double median(std::vector<double> values) {
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double relative_error_of(const Statistic& known) {
  return known.n < 2 || !(known.mean > 0) ? 0 : known.spread / std::sqrt(known.n) / known.mean;
}

std::vector<double> step_times_of(std::span<const StepRow> steps) {
  std::vector<double> times;
  for (std::size_t i = 1; i < steps.size(); ++i)
    times.push_back(steps[i].end_s - steps[i - 1].end_s);
  return times;
}

namespace {

/// What a printed figure's unit is of the value's own one: its digits are rounded.
double unit_near(double factor) {
  constexpr double kRounding = 0.01;
  const double power = std::pow(10.0, std::round(std::log10(factor)));
  for (const double unit : {power, 60.0, 3600.0, 86400.0})
    if (std::abs(factor / unit - 1) < kRounding) return unit;
  return factor;
}

}  // namespace

std::string shown(const Statistic& statistic, Quantity quantity) {
  if (statistic.n == 0) return "-";
  const std::string mean = format_value(statistic.mean, quantity);
  // Sums of equal values may differ in their last bits: that is no spread.
  if (statistic.n < 2 || statistic.spread <= 1e-12 * std::abs(statistic.mean)) return mean;
  const std::size_t space = std::min(mean.find(' '), mean.size());
  const std::string digits = mean.substr(0, space);
  // The spread in the mean's unit, to the mean's last digit, or to its own first one if smaller.
  const double printed = std::strtod(digits.c_str(), nullptr);
  const double fallback = quantity == Quantity::kShare ? 0.01 : 1.0;
  const double spread =
      statistic.spread / (printed != 0 ? unit_near(statistic.mean / printed) : fallback);
  const std::size_t point = digits.find('.');
  const int decimals = point == std::string::npos ? 0 : static_cast<int>(digits.size() - point - 1);
  char text[40];
  const bool visible = spread >= 0.5 * std::pow(10.0, -decimals);
  std::snprintf(text, sizeof text, visible ? "%.*f" : "%.*g", visible ? decimals : 1, spread);
  return digits + " \u00b1 " + text + mean.substr(space);
}

std::vector<RunGroup> group_runs(std::span<const RunSummary> runs) {
  std::vector<RunGroup> groups;
  std::map<std::string, std::size_t> index;
  for (const RunSummary& run : runs) {
    const auto [found, fresh] = index.try_emplace(group_key(run.header), groups.size());
    if (fresh) groups.emplace_back().method = run.header.method;
    add_run(groups[found->second], run);
  }
  std::erase_if(groups, [](const RunGroup& group) { return group.runs.empty(); });
  std::vector<RunSummary> firsts;
  for (RunGroup& group : groups) {
    summarise(group);
    firsts.push_back(group.runs.front());
  }
  const std::vector<std::string> pointers = differing_pointers(firsts);
  for (RunGroup& group : groups) {
    const auto leaves = scenario_leaves(group.runs.front().header.scenario_json);
    for (const std::string& pointer : pointers) {
      const auto leaf = leaves.find(pointer);
      group.differing[pointer] = leaf == leaves.end() ? "-" : leaf->second;
    }
  }
  make_unique(groups);
  return groups;
}

std::string shown_with_diverged(const RunGroup& group, const Statistic& statistic,
                                Quantity quantity) {
  if (group.diverged == 0) return shown(statistic, quantity);
  const std::size_t all = group.runs.size();
  if (group.diverged == static_cast<int>(all)) return "diverged";
  return shown(statistic, quantity) + " (" + std::to_string(group.diverged) + " of " +
         std::to_string(all) + " diverged)";
}

std::vector<std::vector<std::string>> closing_table(std::span<const RunGroup> groups) {
  struct Column {
    std::string title;
    std::string (*cell)(const RunGroup&);
  };
  const Column columns[] = {
      {"method", [](const RunGroup& g) { return g.label; }},
      {"compression ratio",
       [](const RunGroup& g) { return shown(g.compression_ratio, Quantity::kPlain); }},
      {"traffic ratio", [](const RunGroup& g) { return shown(g.traffic_ratio, Quantity::kPlain); }},
      {"step time", [](const RunGroup& g) { return shown(g.step_time_s, Quantity::kSeconds); }},
      {"wire bytes", [](const RunGroup& g) { return shown(g.wire_bytes, Quantity::kBytes); }},
      {"time to target",
       [](const RunGroup& g) {
         if (!g.target_accuracy) return std::string("-");
         const int n = static_cast<int>(g.runs.size());
         if (g.reached_target == 0) return std::string("not reached");
         const std::string text = shown(g.time_to_target_s, Quantity::kSeconds);
         return g.reached_target == n ? text
                                      : text + " (" + std::to_string(g.reached_target) + " of " +
                                            std::to_string(n) + ")";
       }},
      {"final loss",
       [](const RunGroup& g) { return shown_with_diverged(g, g.final_loss, Quantity::kPlain); }},
      {"final accuracy",
       [](const RunGroup& g) {
         return shown_with_diverged(g, g.final_accuracy, Quantity::kShare);
       }},
      {"seeds", [](const RunGroup& g) { return std::to_string(g.runs.size()); }}};
  std::vector<std::vector<std::string>> table(groups.size() + 1);
  for (const Column& column : columns) {
    std::vector<std::string> cells;
    for (const RunGroup& group : groups) cells.push_back(column.cell(group));
    if (std::all_of(cells.begin(), cells.end(), [](const auto& cell) { return cell == "-"; }))
      continue;
    table[0].push_back(column.title);
    for (std::size_t i = 0; i < cells.size(); ++i) table[i + 1].push_back(std::move(cells[i]));
  }
  return table;
}

}  // namespace gradwire::results
