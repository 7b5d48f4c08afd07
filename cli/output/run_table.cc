#include "cli/output/run_table.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "results/runs/fields.h"
#include "results/runs/query.h"

namespace gradwire::cli {
namespace {

using results::RunSummary;

Column::Style style_of(const std::string& name) {
  if (name == "seed") return Column::Style::kFigure;  // a text: 64 bits are too many for a double
  if (name.ends_with("accuracy")) return Column::Style::kPercent;
  return style_by_unit(name);
}

Cell number_cell(double value) {
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) == value) return whole;
  return value;
}

Cell cell_of(const results::Field& field, const RunSummary& run) {
  if (!field.numeric()) return field.text(run);
  const std::optional<double> value = field.number(run);
  return value ? number_cell(*value) : Cell();
}

/// What a person sees of a run; machine formats get every field.
constexpr std::pair<const char*, Importance> kShortFields[] = {
    {"id", Importance::kKey},
    {"scenario_name", Importance::kNormal},
    {"status", Importance::kHigh},
    {"method", Importance::kKey},
    {"executor", Importance::kLow},
    {"detail", Importance::kLow},
    {"workers", Importance::kNormal},
    {"seed", Importance::kLow},
    {"compression_ratio", Importance::kLow},
    {"traffic_ratio", Importance::kNormal},
    {"step_time_s", Importance::kKey},
    {"final_accuracy", Importance::kKey},
    {"simulated_s", Importance::kLow}};

/// Which machine and process, where there are several.
std::vector<const char*> place_fields(std::span<const RunSummary> runs) {
  const auto ranked = [](const RunSummary& run) { return run.header.rank.has_value(); };
  const auto elsewhere = [&](const RunSummary& run) {
    return run.header.node != runs.front().header.node;
  };
  if (std::ranges::any_of(runs, ranked)) return {"node", "rank"};
  if (std::ranges::any_of(runs, elsewhere)) return {"node"};
  return {};
}

Table short_table(std::span<const RunSummary> runs) {
  std::vector<const results::Field*> fields;
  std::vector<Column> columns;
  const auto add = [&](const char* name, Importance importance) {
    fields.push_back(results::find_field(name));
    columns.push_back({name, "", style_of(name), importance});
  };
  for (const auto& [name, importance] : kShortFields) add(name, importance);
  for (const char* name : place_fields(runs)) add(name, Importance::kLow);
  Table table(std::move(columns));
  for (const RunSummary& run : runs) {
    std::vector<Cell> row;
    for (const results::Field* field : fields)
      row.push_back(field->name == std::string_view("status") ? results::status_in_words(run)
                                                              : cell_of(*field, run));
    table.add(std::move(row));
  }
  return table;
}

Table full_table(std::span<const RunSummary> runs) {
  std::vector<Column> columns;
  for (const results::Field& field : results::run_fields())
    columns.push_back({field.name, "", style_of(field.name)});
  Table table(std::move(columns));
  for (const RunSummary& run : runs) {
    std::vector<Cell> row;
    for (const results::Field& field : results::run_fields()) row.push_back(cell_of(field, run));
    table.add(std::move(row));
  }
  return table;
}

}  // namespace

Table run_table(std::span<const RunSummary> runs, bool all_fields) {
  return all_fields ? full_table(runs) : short_table(runs);
}

Table run_table(std::span<const RunSummary> runs, const Context& context) {
  return run_table(runs, context.format() != Format::kText);
}

nlohmann::ordered_json run_json(const RunSummary& run) {
  nlohmann::ordered_json json = {{"type", "run"}};
  for (const results::Field& field : results::run_fields()) {
    if (!field.numeric()) {
      json[field.name] = field.text(run);
    } else if (const std::optional<double> value = field.number(run)) {
      const Cell cell = number_cell(*value);
      if (const auto* whole = std::get_if<std::int64_t>(&cell))
        json[field.name] = *whole;
      else
        json[field.name] = *value;
    } else {
      json[field.name] = nullptr;
    }
  }
  return json;
}

RunSummary find_run(const results::Store& store, const std::string& name) {
  results::RunId id = 0;
  const auto [end, status] = std::from_chars(name.data(), name.data() + name.size(), id);
  if (status == std::errc{} && end == name.data() + name.size()) {
    if (const auto run = store.run(id)) return *run;
    throw Error(ErrorKind::kUsage, "find run", name, "the database has no run of that number",
                "see gradwire list");
  }
  std::vector<RunSummary> tagged;
  for (RunSummary& run : store.runs())
    if (std::find(run.tags.begin(), run.tags.end(), name) != run.tags.end())
      tagged.push_back(std::move(run));
  if (tagged.size() == 1) return tagged.front();
  throw Error(
      ErrorKind::kUsage, "find run", "\"" + name + "\"",
      tagged.empty() ? "it is neither a run's number nor a tag" : "several runs carry that tag",
      "see gradwire list");
}

std::vector<RunSummary> filtered_runs(const results::Store& store, const std::string& filter) {
  const results::Query query(filter);
  std::vector<RunSummary> runs;
  for (RunSummary& run : store.runs())
    if (query.matches(run)) runs.push_back(std::move(run));
  return runs;
}

}  // namespace gradwire::cli
