#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "cli/output/json_text.h"
#include "cli/output/run_table.h"
#include "results/runs/fields.h"
#include "results/runs/figure_origin.h"
#include "results/runs/notes.h"

namespace gradwire::cli {
namespace {

/// Where the run's figures come from, by name, as they are stored.
std::map<std::string, std::string> labels_of(const std::vector<results::MetricRow>& metrics) {
  std::map<std::string, std::string> labels;
  for (const results::MetricRow& metric : metrics)
    if (metric.step < 0) labels[metric.name] = name_of(metric.provenance);
  return labels;
}

/// What is stored with the run says so itself; what the scenario gives was given.
std::string provenance_of(const results::Field& field,
                          const std::map<std::string, std::string>& labels) {
  if (!field.numeric()) return "";
  if (const auto found = labels.find(field.name); found != labels.end()) return found->second;
  return results::origin_of(field.name) == results::Origin::kGiven ? "given" : "";
}

void show_fields(const results::RunSummary& run, const std::map<std::string, std::string>& labels) {
  for (const results::Field& field : results::run_fields()) {
    const std::string text = field.name == std::string_view("status")
                                 ? results::status_in_words(run)
                                 : results::shown(field, run);
    if (text.empty() || text == "-") continue;
    const std::string provenance = provenance_of(field, labels);
    std::printf("%-20s %s%s\n", field.name, text.c_str(),
                provenance.empty() ? "" : ("  (" + provenance + ")").c_str());
  }
}

/// Field by field, then every figure of the whole run with where it comes from.
void show_text(const results::Store& store, const results::RunSummary& run,
               const Context& context) {
  const std::vector<results::MetricRow> metrics = store.metrics(run.id);
  show_fields(run, labels_of(metrics));
  for (const std::string& note : results::notes_of(metrics))
    std::printf("%-20s %s\n", "note", note.c_str());
  std::printf("\n");
  if (run.status != results::RunStatus::kFinished)
    std::printf("The run is %s: its figures are of these.\n\n",
                results::status_in_words(run).c_str());
  if (const auto checkpoint = store.checkpoint(run.id))
    std::printf(
        "Its checkpoint of step %lld (%s, %s) lies in %s;\nrun --resume goes on from it.\n\n",
        static_cast<long long>(checkpoint->steps), checkpoint->saved_at.c_str(),
        results::format_value(static_cast<double>(checkpoint->bytes), results::Quantity::kBytes)
            .c_str(),
        checkpoint->folder.c_str());
  Table figures({{"name", "figure", Column::Style::kPlain, Importance::kKey},
                 {"value", "", Column::Style::kPlain, Importance::kKey},
                 {"unit"},
                 {"provenance", "", Column::Style::kPlain, Importance::kHigh}});
  for (const results::MetricRow& metric : metrics)
    if (metric.step < 0 && !results::is_note(metric))
      figures.add(
          {metric.name, metric.value, metric.unit, std::string(name_of(metric.provenance))});
  figures.print_text(context);
  std::printf("\nscenario (resolved):\n%s\n",
              json_text(nlohmann::ordered_json::parse(run.header.scenario_json), 2).c_str());
}

nlohmann::ordered_json show_json(const results::Store& store, const results::RunSummary& run) {
  nlohmann::ordered_json json = run_json(run);
  json.erase("type");
  json["name"] = run.header.scenario_name;
  json["scenario"] = nlohmann::ordered_json::parse(run.header.scenario_json);
  const std::vector<results::MetricRow> metrics = store.metrics(run.id);
  json["notes"] = results::notes_of(metrics);
  if (const auto checkpoint = store.checkpoint(run.id))
    json["checkpoint"] = {{"steps", checkpoint->steps},
                          {"folder", checkpoint->folder},
                          {"bytes", checkpoint->bytes},
                          {"saved_at", checkpoint->saved_at}};
  json["metrics"] = nlohmann::ordered_json::array();
  for (const results::MetricRow& metric : metrics)
    json["metrics"].push_back({{"name", metric.name},
                               {"step", metric.step},
                               {"value", metric.value},
                               {"unit", metric.unit},
                               {"provenance", name_of(metric.provenance)}});
  return json;
}

}  // namespace

void add_show(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("show", "Show everything about runs");
  auto runs = std::make_shared<std::vector<std::string>>();
  command->add_option("RUN", *runs, "Run numbers or tags")->required();
  command->footer("Example:\n  gradwire show 12");
  command->callback([runs, &context] {
    const auto store = context.open_reader();
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const std::string& name : *runs) {
      const results::RunSummary run = find_run(*store, name);
      if (context.format() == Format::kText)
        show_text(*store, run, context);
      else
        rows.push_back(show_json(*store, run));
    }
    if (context.format() == Format::kText) return;
    std::printf("%s\n", json_text({{"schema_version", 1}, {"rows", rows}}, 1).c_str());
  });
}

}  // namespace gradwire::cli
