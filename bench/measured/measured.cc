#include "bench/measured/measured.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <span>

#include "base/file_descriptor.h"
#include "bench/measured/collective_form.h"
#include "bench/measured/constants.h"
#include "bench/measured/forms.h"
#include "bench/measured/judged.h"
#include "bench/measured/scatter.h"
#include "bench/measured/stranger_errors.h"
#include "bench/measured/table.h"
#include "results/figures/svg.h"

namespace gradwire::bench {
namespace {

constexpr auto kSilence = std::chrono::seconds(3);

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string seconds_of(const JudgedRow& row) {
  return figure(row.measured) + " s measured, " + figure(row.predicted) + " s predicted";
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
  for (const auto& [name, members] : by_group(judged)) {
    const GroupErrors errors = errors_of(members);
    if (options.list)
      for (const JudgedRow* row : members)
        say(way + " " + name + ": " + row->label + ": " + seconds_of(*row) + " (" +
            figure(100 * row->error()) + " %), " + figure(row->low) + " to " + figure(row->high) +
            " s");
    const std::string prefix = "measured." + way + "." + name;
    rows.push_back({.name = prefix + ".median_error",
                    .value = 100 * errors.median,
                    .unit = "%",
                    .bar = bars.median});
    rows.push_back({.name = prefix + ".worst_error",
                    .value = 100 * std::abs(errors.worst->error()),
                    .unit = "%",
                    .bar = bars.worst});
    rows.push_back({.name = prefix + ".inside_band", .value = 100 * errors.inside, .unit = "%"});
    say(way + " " + name + ": " + std::to_string(members.size()) +
        " rows; worst: " + errors.worst->label + ", " + seconds_of(*errors.worst));
  }
}

void add_coverage(const std::string& way, const std::vector<JudgedRow>& judged,
                  std::vector<BenchRow>& rows) {
  if (judged.empty()) return;
  const auto inside = std::ranges::count_if(judged, &JudgedRow::inside);
  const double share = 100.0 * static_cast<double>(inside) / static_cast<double>(judged.size());
  const bool enough = judged.size() >= std::size_t{kRowsForCoverage};
  const auto bar = [&](double value) { return enough ? std::optional(value) : std::nullopt; };
  rows.push_back({.name = "measured." + way + ".inside_band.at_least",
                  .value = share,
                  .unit = "%",
                  .bar = bar(85),
                  .at_most = false});
  rows.push_back({.name = "measured." + way + ".inside_band.at_most",
                  .value = share,
                  .unit = "%",
                  .bar = bar(97)});
}

/// Groups whose rows all give constants, so that none is left to hold against them.
void add_not_judged(std::span<const FormRow> all, const std::vector<JudgedRow>& judged,
                    const Say& say, std::vector<BenchRow>& rows) {
  std::map<std::string, int> members;
  for (const FormRow& row : all) ++members[row.group];
  for (const JudgedRow& row : judged) members.erase(row.group);
  for (const auto& [group, count] : members) {
    const std::string why = std::to_string(count) + (count == 1 ? " row gives" : " rows give") +
                            " constants: none is left to hold against them";
    say("not judged: half " + group + ": " + why);
    rows.push_back({.name = "measured.half." + group, .skipped = why});
  }
}

/// Says every few seconds how far it is.
Progress progress_to(const Say& say) {
  using Clock = std::chrono::steady_clock;
  return [&say, last = Clock::now()](std::size_t done, std::size_t of) mutable {
    if (Clock::now() - last < kSilence) return;
    last = Clock::now();
    say("constants without each of the sources: " + std::to_string(done) + " of " +
        std::to_string(of));
  };
}

/// A row for each reason, skipped, and their share of all rows.
void add_without_form(const MeasuredForms& forms, const Say& say, std::vector<BenchRow>& rows) {
  int left = 0;
  for (const auto& [name, without] : forms.without_form) {
    const std::string why = std::to_string(without.rows) +
                            (without.rows == 1 ? " row: " : " rows: ") + without.reason +
                            " (first: " + without.first + ")";
    say("not predicted: " + without.group + ", " + why);
    rows.push_back({.name = "measured.without_form." + without.group, .skipped = why});
    left += without.rows;
  }
  const double all = left + static_cast<double>(forms.steps.size()) +
                     static_cast<double>(forms.collectives.size());
  rows.push_back({.name = "measured.without_form",
                  .value = all > 0 ? 100 * left / all : 0,
                  .unit = "%",
                  .bar = 5});
}

/// STEM.svg: strangers' rows; STEM.csv: those of both ways.
void write_figure(const std::string& stem, const std::string& halves,
                  const std::vector<JudgedRow>& strangers, const Say& say) {
  const std::string rows = scatter_csv(strangers, "strangers");
  write_file(stem + ".csv", halves + rows.substr(rows.find('\n') + 1));
  write_file(stem + ".svg",
             results::to_svg(scatter_of(
                 strangers, "constants from other sources alone; a row a step or an all-reduce")));
  say("wrote " + stem + ".svg and " + stem + ".csv");
}

template <class Row>
void append(std::vector<Row>& all, const std::vector<Row>& some) {
  all.insert(all.end(), some.begin(), some.end());
}

}  // namespace

std::vector<BenchRow> bench_measured(const MeasuredOptions& options, const Say& say) {
  const MeasuredTables tables = tables_of(options);
  const MeasuredForms forms = forms_of(tables);
  std::vector<BenchRow> rows;
  const auto of_steps = constant_unknowns();
  const auto of_collectives = collective_unknowns();
  say("constants from half of each source's rows");
  std::vector<JudgedRow> steps = judge_halves(forms.steps, of_steps, options.seed);
  std::vector<JudgedRow> collectives =
      judge_halves(forms.collectives, of_collectives, options.seed);
  add_rows("half", steps, {6, 15}, options, say, rows);
  add_rows("half", collectives, {8, std::nullopt}, options, say, rows);
  add_not_judged(forms.steps, steps, say, rows);
  add_not_judged(forms.collectives, collectives, say, rows);
  append(steps, collectives);
  add_coverage("half", steps, rows);
  const std::string halves = scatter_csv(steps, "half");

  say(options.tables.empty() ? "constants from the other sources"
                             : "constants from other sources, those that ship among them");
  const MeasuredForms shipped =
      options.tables.empty() ? MeasuredForms{} : forms_of(shipped_measured());
  steps = judge_strangers(forms.steps, of_steps, shipped.steps, progress_to(say));
  collectives = judge_strangers(forms.collectives, of_collectives, shipped.collectives);
  append(steps, collectives);
  if (!options.figure.empty()) write_figure(options.figure, halves, steps, say);
  add_rows("strangers", steps, {15, std::nullopt}, options, say, rows);
  add_coverage("strangers", steps, rows);

  say("steps as scenarios, by what predict says of them");
  append(rows, scenario_rows(tables.steps, say));
  add_without_form(forms, say, rows);
  return labelled(std::move(rows), "predicted");
}

}  // namespace gradwire::bench
