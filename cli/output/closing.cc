#include "cli/output/closing.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/folder.h"
#include "cli/output/json_text.h"
#include "cli/output/run_table.h"
#include "results/export/export.h"
#include "results/report/report.h"
#include "results/runs/collective_choice.h"
#include "results/runs/dropped_updates.h"
#include "results/runs/gradient_loss.h"
#include "results/runs/notes.h"
#include "results/runs/summary.h"

namespace gradwire::cli {
namespace {

using results::RunSummary;

std::vector<RunSummary> summaries(const results::Store& store,
                                  std::span<const results::RunId> runs) {
  std::vector<RunSummary> all;
  for (const results::RunId id : runs)
    if (auto run = store.run(id)) all.push_back(std::move(*run));
  return all;
}

/// What runs whose collective was left open came to, each sentence once.
void print_choices(const results::Store& store, std::span<const RunSummary> runs) {
  std::set<std::string> said;
  for (const RunSummary& run : runs) {
    const std::string sentence = results::choice_sentence(store.metrics(run.id));
    if (!sentence.empty() && said.insert(run.header.method + sentence).second)
      std::printf("%s: %s\n", run.header.method.c_str(), sentence.c_str());
  }
}

/// Of federated rounds: whose updates the server has not added.
void print_dropped(const results::Store& store, std::span<const RunSummary> runs) {
  for (const RunSummary& run : runs) {
    const auto updates = results::dropped_updates_of(store.metrics(run.id));
    if (updates && updates->arrived() < updates->sampled)
      std::printf("run %lld: %s\n", static_cast<long long>(run.id),
                  results::in_words(*updates).c_str());
  }
}

/// Of training over a network that loses data for good: how much was missing and what it did.
void print_losses(const results::Store& store, std::span<const RunSummary> runs) {
  constexpr std::size_t kMostLines = 12;
  std::size_t lines = 0;
  for (const RunSummary& run : runs) {
    const auto loss = results::gradient_loss_of(store.metrics(run.id));
    if (!loss || ++lines > kMostLines) continue;
    std::printf("run %lld: %s\n", static_cast<long long>(run.id), results::in_words(*loss).c_str());
  }
  if (lines > kMostLines) std::printf("... and %zu more: gradwire show RUN\n", lines - kMostLines);
}

/// Of the closing table's columns, where the page is too narrow for all.
Importance importance_of(const std::string& title) {
  if (title == "method" || title == "step time" || title == "final accuracy")
    return Importance::kKey;
  if (title == "traffic ratio" || title == "time to target") return Importance::kHigh;
  return title == "seeds" || title == "compression ratio" ? Importance::kLow : Importance::kNormal;
}

Table closing_table(std::span<const RunSummary> runs) {
  const auto lines = results::closing_table(results::group_runs(runs));
  std::vector<Column> columns;
  for (const std::string& title : lines.front())
    columns.push_back({title, "", columns.empty() ? Column::Style::kPlain : Column::Style::kFigure,
                       importance_of(title)});
  Table table(std::move(columns));
  for (std::size_t i = 1; i < lines.size(); ++i)
    table.add(std::vector<Cell>(lines[i].begin(), lines[i].end()));
  return table;
}

/// What was done otherwise than asked, each sentence once.
void print_notes(const results::Store& store, std::span<const RunSummary> runs) {
  std::set<std::string> said;
  for (const RunSummary& run : runs)
    for (const std::string& note : results::notes_of(store.metrics(run.id)))
      if (said.insert(run.header.method + note).second)
        std::printf("%s: note: %s\n", run.header.method.c_str(), note.c_str());
}

void print_text(const results::Store& store, std::span<const RunSummary> runs,
                const Context& context) {
  closing_table(runs).print_text(context);
  std::printf("\n");
  constexpr std::size_t kMostHashLines = 12;
  std::size_t lines = 0;
  for (const RunSummary& run : runs) {
    if (++lines > kMostHashLines) break;
    std::printf("run %lld  %s  seed %llu  learning hash %s  timeline hash %s\n",
                static_cast<long long>(run.id), run.header.method.c_str(),
                static_cast<unsigned long long>(run.header.seed),
                run.learning_hash.empty() ? "-" : run.learning_hash.c_str(),
                run.timeline_hash.c_str());
  }
  if (lines > kMostHashLines)
    std::printf("... and %zu more: gradwire list --format csv\n", runs.size() - kMostHashLines);
  print_choices(store, runs);
  print_dropped(store, runs);
  print_losses(store, runs);
  print_notes(store, runs);
  std::fflush(stdout);
}

void print_summary_line(std::span<const RunSummary> runs) {
  nlohmann::ordered_json line = {
      {"type", "summary"}, {"schema_version", 1}, {"finished", runs.size()}};
  line["rows"] = nlohmann::ordered_json::array();
  for (const results::RunGroup& group : results::group_runs(runs)) {
    const auto number = [](double value) {
      return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
    };
    line["rows"].push_back({{"name", group.label},
                            {"seeds", group.runs.size()},
                            {"diverged", group.diverged},
                            {"compression_ratio", number(group.compression_ratio.mean)},
                            {"traffic_ratio", number(group.traffic_ratio.mean)},
                            {"step_time_s", number(group.step_time_s.mean)},
                            {"time_to_target_s", number(group.time_to_target_s.mean)},
                            {"final_accuracy", number(group.final_accuracy.mean)},
                            {"final_accuracy_spread", number(group.final_accuracy.spread)}});
  }
  std::printf("%s\n", json_text(line).c_str());
  std::fflush(stdout);
}

}  // namespace

void print_closing(const results::Store& store, std::span<const results::RunId> ids,
                   const Context& context) {
  const std::vector<RunSummary> runs = summaries(store, ids);
  switch (context.format()) {
    case Format::kText:
      return print_text(store, runs, context);
    case Format::kJsonl:
      return print_summary_line(runs);
    case Format::kJson:
      std::fputs(results::export_runs(runs, results::ExportFormat::kJson).c_str(), stdout);
      break;
    case Format::kCsv:
      std::fputs(results::export_runs(runs, results::ExportFormat::kCsv).c_str(), stdout);
      break;
  }
}

std::string default_report_path(const Context& context, const std::string& scenario_name) {
  const std::filesystem::path folder = std::filesystem::path(context.database).parent_path();
  return (folder / "gradwire-report" / (scenario_name + ".html")).string();
}

results::ReportOptions report_options(const AccuracyArguments& accuracy,
                                      const PriceArguments& prices) {
  results::ReportOptions options;
  options.accuracy = accuracy_knowledge(accuracy);
  options.prices = [prices](const results::CostOptions& of_runs) {
    return costs_of(prices, of_runs);
  };
  return options;
}

void write_run_report(const results::Store& store, std::span<const results::RunId> runs,
                      const std::string& path, const Context& context,
                      const results::ReportOptions& options) {
  make_folder_of(path);
  results::write_report(store, runs, path, options);
  if (context.format() == Format::kText)
    std::printf("report: %s\n", path.c_str());
  else
    context.say("report: " + path);
}

}  // namespace gradwire::cli
