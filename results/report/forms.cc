#include "results/report/forms.h"

#include <nlohmann/json.hpp>

#include "results/advice/scenario_prices.h"
#include "results/pages/data_table.h"
#include "results/report/choice.h"
#include "results/report/planner.h"
#include "results/report/workloads.h"

namespace gradwire::results {
namespace {

constexpr std::size_t kMostLines = 8;

struct Part {
  std::string name;
  ReportData data;
};

std::vector<Part> parts_of(const Store& store, std::span<const RunId> runs,
                           const ReportOptions& options) {
  const AccuracyKnowledge knowledge = knowledge_of(store, options);
  std::vector<Part> parts;
  for (const WorkloadRuns& workload : workloads_of(store, runs))
    if (workload.finished)
      parts.push_back({workload.name, data_of(store, workload.runs, knowledge, options)});
  if (parts.empty())
    throw StoreError("report on", std::to_string(runs.size()) + " runs", "none of them is finished",
                     "wait for them, or choose others");
  return parts;
}

struct GroupFigure {
  const char* key;
  const char* spread;  ///< null: none is written
  Quantity quantity;
  Statistic RunGroup::*value;
};
constexpr GroupFigure kFigures[] = {
    {"step_time_s", "step_time_spread_s", Quantity::kSeconds, &RunGroup::step_time_s},
    {"final_accuracy", "final_accuracy_spread", Quantity::kPlain, &RunGroup::final_accuracy},
    {"time_to_target_s", "time_to_target_spread_s", Quantity::kSeconds,
     &RunGroup::time_to_target_s},
    {"simulated_s", nullptr, Quantity::kSeconds, &RunGroup::simulated_s},
    {"wire_bytes", nullptr, Quantity::kPlain, &RunGroup::wire_bytes},
    {"compression_ratio", nullptr, Quantity::kPlain, &RunGroup::compression_ratio},
    {"traffic_ratio", nullptr, Quantity::kPlain, &RunGroup::traffic_ratio},
    {"final_loss", nullptr, Quantity::kPlain, &RunGroup::final_loss}};

/// A row a group, with the parts of its step.
DataTable groups_table(const std::vector<Part>& parts) {
  using Kind = DataColumn::Kind;
  DataTable table;
  for (const char* key : {"workload", "runs", "method", "time_provenance", "scenario_hash"})
    table.columns.push_back({key, key, Quantity::kPlain, Kind::kText});
  for (const char* key : {"workers", "seeds", "diverged", "reached_target"})
    table.columns.push_back({key, key, Quantity::kCount});
  for (const GroupFigure& figure : kFigures) {
    table.columns.push_back({figure.key, figure.key, figure.quantity});
    if (figure.spread) table.columns.push_back({figure.spread, figure.spread, figure.quantity});
  }
  for (const char* key : {"compute_s", "exposed_codec_s", "exposed_s", "idle_s"})
    table.columns.push_back({key, key, Quantity::kSeconds});
  for (const Part& part : parts)
    for (const ReportGroup& group : part.data.groups) {
      const RunHeader& header = header_of(group);
      auto& row = table.rows.emplace_back(std::vector<DataValue>{
          part.name, group.group.label, header.method, group.time_provenance, header.scenario_hash,
          double(header.workers), double(group.group.runs.size()), double(group.group.diverged),
          double(group.group.reached_target)});
      for (const GroupFigure& figure : kFigures) {
        row.emplace_back((group.group.*figure.value).mean);
        if (figure.spread) row.emplace_back((group.group.*figure.value).spread);
      }
      for (const double StepSplit::*seconds : {&StepSplit::compute_s, &StepSplit::exposed_codec_s,
                                               &StepSplit::exposed_s, &StepSplit::idle_s})
        row.emplace_back(group.split.*seconds);
    }
  return table;
}

DataTable answers_table(const std::vector<Part>& parts) {
  DataTable table;
  const auto add_column = [&](const char* key) {
    table.columns.push_back({key, key, Quantity::kPlain, DataColumn::Kind::kText});
  };
  for (const char* key : {"workload", "conditions"}) add_column(key);
  for (const PlannerColumn& column : kPlannerColumns) add_column(column.title);
  for (const Part& part : parts)
    for (const PlannerLine& line : planner_lines(part.data, kMostLines)) {
      auto& row = table.rows.emplace_back(std::vector<DataValue>{part.name, line.conditions});
      for (const PlannerColumn& column : kPlannerColumns) row.emplace_back(line.*column.text);
    }
  return table;
}

}  // namespace

AccuracyKnowledge knowledge_of(const Store& store, const ReportOptions& options) {
  AccuracyKnowledge knowledge = options.accuracy;
  knowledge.trained = accuracy_comparisons(store.runs());
  return knowledge;
}

ReportData data_of(const Store& store, std::span<const RunId> runs,
                   const AccuracyKnowledge& knowledge, const ReportOptions& options) {
  ReportData data = load_report(store, runs);
  data.accuracy = knowledge;
  std::vector<std::string> ignored;
  data.costs = costs_of_runs(data.runs, ignored);
  if (options.prices) data.costs = options.prices(data.costs);
  add_evidence(store, data);
  return data;
}

std::string report_markdown(const Store& store, std::span<const RunId> runs,
                            const ReportOptions& options) {
  const std::vector<Part> parts = parts_of(store, runs, options);
  std::string out = "# " + (options.title.empty() ? "Gradwire report" : options.title) + "\n\n" +
                    markdown(shown(answers_table(parts)));
  for (const Part& part : parts) {
    std::vector<RunGroup> groups;
    for (const ReportGroup& group : part.data.groups) groups.push_back(group.group);
    out += "\n## " + part.name + "\n\n" + markdown(closing_table(groups));
  }
  return without_tags(std::move(out));
}

std::string report_csv(const Store& store, std::span<const RunId> runs,
                       const ReportOptions& options) {
  return data_csv(groups_table(parts_of(store, runs, options)));
}

std::string report_json(const Store& store, std::span<const RunId> runs,
                        const ReportOptions& options) {
  const std::vector<Part> parts = parts_of(store, runs, options);
  nlohmann::ordered_json document = {{"schema_version", 1}};
  document["answers"] = nlohmann::ordered_json::parse(data_json(answers_table(parts), -1));
  document["rows"] = nlohmann::ordered_json::parse(data_json(groups_table(parts), -1));
  return document.dump(1) + "\n";
}

}  // namespace gradwire::results
