#include "bench/measured/measured.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "base/file_descriptor.h"
#include "bench/fidelity/statistics.h"
#include "bench/measured/collective_form.h"
#include "bench/measured/judged.h"
#include "bench/measured/step_form.h"
#include "bench/measured/table.h"

namespace gradwire::bench {
namespace {

/// "PaddlePaddle/FleetX:docs/a.md" -> "paddlepaddle-fleetx".
std::string short_source(const std::string& source) {
  std::string name;
  for (const char c : source.substr(0, source.find(':')))
    name += std::isalnum(static_cast<unsigned char>(c))
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '-';
  return name.empty() ? "unnamed" : name;
}

std::string group_of(const MeasuredStep& step) {
  return short_source(step.source) + "." + step.workload + "." + step.device +
         (step.method.empty() ? "" : "." + step.method);
}

std::string group_of(const MeasuredCollective& one) {
  return short_source(one.source) + "." + one.collective + "." + one.device;
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string seconds_of(const JudgedRow& row) {
  return figure(row.measured) + " s measured, " + figure(row.predicted) + " s predicted";
}

std::string label_of(const MeasuredStep& step) {
  std::string label = std::to_string(step.workers) + " x " + step.precision + ", " +
                      std::to_string(step.accumulated) + " x " + std::to_string(step.batch) +
                      " samples";
  if (step.layers)
    label += ", " + std::to_string(step.layers) + " layers of " + std::to_string(step.hidden);
  if (step.compiled) label += ", compiled";
  if (step.local_steps > 1) label += ", " + std::to_string(step.local_steps) + " local steps";
  return label;
}

struct Forms {
  std::vector<FormRow> steps, collectives;
  std::map<std::string, int> without_form;  // reason -> rows
};

Forms forms_of(const MeasuredTables& tables) {
  Forms forms;
  const auto has_form = [&forms](const std::string& group, const std::string& reason) {
    if (!reason.empty()) ++forms.without_form[group + ": " + reason];
    return reason.empty();
  };
  for (const MeasuredStep& step : tables.steps) {
    if (!has_form(group_of(step), why_no_step_form(step))) continue;
    auto form = std::make_shared<const StepForm>(step);
    forms.steps.push_back(
        {group_of(step), label_of(step), step.device, step.workers, step.time.value(),
         [form](std::span<const double> x) { return form->time(constants_at(x)).value(); }});
  }
  for (const MeasuredCollective& one : tables.collectives) {
    if (!has_form(group_of(one), why_no_collective_form(one))) continue;
    forms.collectives.push_back(
        {group_of(one),
         std::to_string(one.workers) + " GPUs, " + std::to_string(one.bytes.count()) + " B",
         one.device, one.workers, one.time.value(),
         [one](std::span<const double> x) { return collective_time(one, x).value(); }});
  }
  return forms;
}

MeasuredTables tables_of(const MeasuredOptions& options) {
  if (options.tables.empty()) return shipped_measured();
  MeasuredTables tables;
  for (const std::string& path : options.tables) read_measured(read_file(path), path, tables);
  return tables;
}

/// What the rows of a way of fitting are held to.
struct Bars {
  double median;
  std::optional<double> worst;
};

void add_rows(const std::string& way, const std::vector<JudgedRow>& judged, const Bars& bars,
              const MeasuredOptions& options, const Say& say, std::vector<BenchRow>& rows) {
  std::map<std::string, std::vector<const JudgedRow*>> groups;
  for (const JudgedRow& row : judged) groups[row.group].push_back(&row);
  for (const auto& [name, members] : groups) {
    std::vector<double> errors;
    const JudgedRow* worst = members.front();
    double inside = 0;
    for (const JudgedRow* row : members) {
      errors.push_back(100 * std::abs(row->error()));
      if (std::abs(row->error()) > std::abs(worst->error())) worst = row;
      inside += row->inside();
      if (options.list)
        say(way + " " + name + ": " + row->label + ": " + seconds_of(*row) + " (" +
            figure(100 * row->error()) + " %), " + figure(row->low) + " to " + figure(row->high) +
            " s");
    }
    const std::string prefix = "measured." + way + "." + name;
    rows.push_back({.name = prefix + ".median_error",
                    .value = median_of(errors),
                    .unit = "%",
                    .bar = bars.median});
    rows.push_back({.name = prefix + ".worst_error",
                    .value = 100 * std::abs(worst->error()),
                    .unit = "%",
                    .bar = bars.worst});
    rows.push_back({.name = prefix + ".inside_band",
                    .value = 100 * inside / static_cast<double>(members.size()),
                    .unit = "%"});
    say(way + " " + name + ": " + std::to_string(members.size()) + " rows; worst: " + worst->label +
        ", " + seconds_of(*worst));
  }
}

void add_coverage(const std::string& way, const std::vector<JudgedRow>& judged,
                  std::vector<BenchRow>& rows) {
  if (judged.empty()) return;
  const auto inside = std::ranges::count_if(judged, &JudgedRow::inside);
  const double share = 100.0 * static_cast<double>(inside) / static_cast<double>(judged.size());
  rows.push_back({.name = "measured." + way + ".inside_band.at_least",
                  .value = share,
                  .unit = "%",
                  .bar = 85,
                  .at_most = false});
  rows.push_back(
      {.name = "measured." + way + ".inside_band.at_most", .value = share, .unit = "%", .bar = 97});
}

void append(std::vector<JudgedRow>& all, const std::vector<JudgedRow>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

}  // namespace

std::vector<FormRow> shipped_steps() {
  return forms_of(shipped_measured()).steps;
}

std::vector<BenchRow> bench_measured(const MeasuredOptions& options, const Say& say) {
  const Forms forms = forms_of(tables_of(options));
  std::vector<BenchRow> rows;
  const auto of_steps = constant_unknowns();
  const auto of_collectives = collective_unknowns();
  say("constants from half of each source's rows");
  std::vector<JudgedRow> steps = judge_halves(forms.steps, of_steps, options.seed);
  std::vector<JudgedRow> collectives =
      judge_halves(forms.collectives, of_collectives, options.seed);
  add_rows("half", steps, {6, 15}, options, say, rows);
  add_rows("half", collectives, {8, std::nullopt}, options, say, rows);
  append(steps, collectives);
  add_coverage("half", steps, rows);

  say(options.tables.empty() ? "constants from the other sources"
                             : "constants from other sources, those that ship among them");
  const Forms shipped = options.tables.empty() ? Forms{} : forms_of(shipped_measured());
  steps = judge_strangers(forms.steps, of_steps, shipped.steps);
  collectives = judge_strangers(forms.collectives, of_collectives, shipped.collectives);
  append(steps, collectives);
  add_rows("strangers", steps, {15, std::nullopt}, options, say, rows);
  add_coverage("strangers", steps, rows);

  int unmodelled = 0;
  for (const auto& [reason, count] : forms.without_form) {
    say("not predicted: " + std::to_string(count) + " rows of " + reason);
    unmodelled += count;
  }
  const double all = unmodelled + static_cast<double>(steps.size());
  rows.push_back({.name = "measured.without_form",
                  .value = all > 0 ? 100 * unmodelled / all : 0,
                  .unit = "%",
                  .bar = 5});
  return labelled(std::move(rows), "predicted");
}

}  // namespace gradwire::bench
