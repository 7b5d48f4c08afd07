#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/run_table.h"
#include "results/fields.h"

namespace gradwire::cli {
namespace {

/// Field by field, then every figure of the whole run with how it was got.
void show_text(const results::Store& store, const results::RunSummary& run,
               const Context& context) {
  for (const results::Field& field : results::run_fields()) {
    const std::string text = results::shown(field, run);
    if (!text.empty() && text != "-") std::printf("%-20s %s\n", field.name, text.c_str());
  }
  std::printf("\n");
  Table figures({{"name", "figure"}, {"value"}, {"unit"}, {"provenance", "how it was got"}});
  for (const results::MetricRow& metric : store.metrics(run.id))
    if (metric.step < 0)
      figures.add(
          {metric.name, metric.value, metric.unit, std::string(name_of(metric.provenance))});
  figures.print_text(context);
  std::printf("\nscenario (resolved):\n%s\n",
              nlohmann::ordered_json::parse(run.header.scenario_json).dump(2).c_str());
}

nlohmann::ordered_json show_json(const results::Store& store, const results::RunSummary& run) {
  nlohmann::ordered_json json = run_json(run);
  json.erase("type");
  json["name"] = run.header.scenario_name;
  json["scenario"] = nlohmann::ordered_json::parse(run.header.scenario_json);
  json["metrics"] = nlohmann::ordered_json::array();
  for (const results::MetricRow& metric : store.metrics(run.id))
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
    std::printf("%s\n",
                nlohmann::ordered_json{{"schema_version", 1}, {"rows", rows}}.dump(1).c_str());
  });
}

}  // namespace gradwire::cli
