#include "results/scalability/page.h"

#include <algorithm>
#include <set>

#include "results/runs/scenario_view.h"
#include "results/scalability/competition.h"
#include "results/scalability/tables.h"
#include "results/scalability/words.h"

namespace gradwire::results {
namespace {

DocumentSection answer_section(const Scalability& all) {
  DocumentSection section{"In short", {}};
  for (const std::string& sentence : short_answer(all))
    section.blocks.push_back(paragraph(sentence));
  return section;
}

DocumentSection curves_section(const Scalability& all) {
  DocumentSection section{"Throughput and efficiency", {}};
  std::vector<std::vector<NamedFigure>> columns = {{throughput_figure(all), residual_figure(all)}};
  const bool modelled =
      std::ranges::any_of(all.models, [](const auto& m) { return m.has_value(); });
  if (!modelled) columns[0].pop_back();
  if (all.computes && modelled)
    columns.push_back({efficiency_figure(all)});
  else
    columns.push_back({step_time_figure(all)});
  section.blocks = {
      figures_of(std::move(columns)),
      heading(std::string("Throughput in ") + all.throughput_unit() + ", with 90 % ranges"),
      table_of(throughput_table(all)),
      heading(all.computes ? "Time of a step, and scaling efficiency" : "Time of a step"),
      table_of(step_table(all))};
  section.blocks.push_back(
      note(std::string("Ranges of runs: 90 % interval of the mean step time.") +
           (all.any_holds()
                ? " Ranges of predictions: 90 % band of the fitted model, with the runs' scatter, "
                  "what the runs leave open of its constants, how far they lie outside its band, "
                  "and its own error, which grows beyond the runs."
                : "")));
  return section;
}

DocumentSection split_section(const Scalability& all) {
  DocumentSection section{"Where the time goes", {}};
  std::vector<std::vector<NamedFigure>> columns(2);
  std::size_t count = 0;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    if (all.holds(i)) columns[count++ % 2].push_back(split_figure(all, i));
  if (count == 1) columns.pop_back();
  if (count > 0) section.blocks.push_back(figures_of(std::move(columns)));
  section.blocks.push_back(heading("What the runs' own steps say, without a model"));
  section.blocks.push_back(table_of(known_split_table(all)));
  section.blocks.push_back(note(
      "Means over workers and steps. Encoding and decoding may run beside compute, so the parts "
      "can add up to more than the step."));
  return section;
}

DocumentSection sensitivity_section(const Scalability& all) {
  DocumentSection section{"What moves the answer most", {}};
  section.blocks = {
      figures_of({{sensitivity_figure(all)}}), table_of(sensitivity_table(all)),
      note("One input at a time, the others as they are; batch: compute in proportion "
           "to it, messages unchanged. Predicted.")};
  return section;
}

DocumentSection crossover_section(const Scalability& all) {
  DocumentSection section{"On which links compressing pays", {}};
  std::string reason;
  const auto competition = competition_of(all, reason);
  if (!competition) {
    section.blocks = {paragraph("Nothing is drawn here: " + reason + ".")};
    return section;
  }
  section.blocks = {figures_of({{crossover_figure(all, *competition)}}),
                    heading("Compressing pays on links of"),
                    table_of(crossover_table(*competition)),
                    note("All links are taken to be faster or slower together; a method pays where "
                         "its step is 3 % faster. Its accuracy is another question, answered under "
                         "\"What to do\". Predicted by one "
                         "fit to the runs of "
                         "all series, whose scatter is " +
                         percent(competition->fit.scatter) + ".")};
  return section;
}

DocumentSection cost_section(const Scalability& all) {
  DocumentSection section{"What it costs", {}};
  const auto rows = cost_rows(all);
  if (!rows.empty()) {
    section.blocks = {
        paragraph(price_words(all.options.costs)), table_of(cost_table(all, rows)),
        heading("Nothing is both faster and cheaper than these"), table_of(front_table(all, rows)),
        note("Best choice: no other row is both faster and cheaper. Cost: workers x time "
             "x (GPU + ports) + bytes sent x price of a GB.")};
    return section;
  }
  const bool samples = all.data.series[0].samples > 0;
  const bool modelled =
      std::ranges::any_of(all.models, [](const auto& model) { return model.has_value(); });
  section.blocks = {paragraph(
      !samples    ? "The workload has no samples, so that no epoch has a cost."
      : !modelled ? "No closed form describes this exchange, whose bytes a cost would count."
                  : "No prices were given. With them this section has the cost of an epoch for "
                    "every row above, and which choices nothing beats in both time and cost; for "
                    "example:")};
  if (samples && modelled)
    section.blocks.push_back(code(all.options.command +
                                  " --gpu-hour 2.50 --port-hour 0.05 --gigabyte 0.01 "
                                  "--epoch-samples 1281167"));
  return section;
}

DocumentSection accuracy_section(const Scalability& all) {
  const AccuracyAnswer answer = accuracy_of(all);
  DocumentSection section{"Time to " + percent(all.options.accuracy.target) + " accuracy", {}};
  if (answer.rows.empty())
    section.blocks.push_back(paragraph("It cannot be said for any row above."));
  else
    section.blocks = {
        figures_of({{accuracy_figure(all, answer)}}), table_of(accuracy_table(all, answer)),
        note("Steps until an evaluation first saw the accuracy, counted in " +
             all.options.accuracy.source +
             " (mean and extremes over seeds), times the step time of the row. Range: fewest "
             "steps at the lower edge of the step time's interval to most at its upper.")};
  if (!answer.refused.empty()) section.blocks.push_back(bullet_list(answer.refused));
  return section;
}

DocumentSection validation_section(const Scalability& all) {
  DocumentSection section{"How far the model can be trusted", {paragraph(validation_words(all))}};
  const HtmlTable held = validation_table(all);
  if (held.size() > 1) {
    section.blocks.push_back(figures_of({{validation_figure(all)}}));
    section.blocks.push_back(table_of(held));
    section.blocks.push_back(
        note("For this check alone the model is fitted without the runs that it is asked about; "
             "all other figures are fitted to all runs."));
  }
  if (const auto words = published_errors_words(all.options.strangers, all.options.question);
      !words.empty()) {
    section.blocks.push_back(heading("Against steps that others measured"));
    section.blocks.push_back(paragraph(words));
    section.blocks.push_back(
        note("How: docs/validation/measured.md. Nobody else's step on a network like this one is "
             "among them; the network is held against ns-3 and Linux (docs/network.md)."));
  }
  if (!all.any_holds()) return section;
  section.blocks.push_back(heading("Constants of the fits"));
  section.blocks.push_back(table_of(constants_table(all)));
  section.blocks.push_back(
      note("* Decided by what is usual more than by the runs. Others: 90 % interval. "
           "Meaning and equations: docs/models/performance-model.md."));
  return section;
}

DocumentSection advice_section(const Scalability& all) {
  DocumentSection section{"What to do", {}};
  const auto list = recommendations(all);
  if (list.empty())
    section.blocks.push_back(paragraph("These runs support no recommendation: see above."));
  else
    section.blocks.push_back(numbered_list(list));
  const auto known = accuracy_notes(all);
  if (!known.empty()) {
    section.blocks.push_back(heading("What is known of the methods' accuracy"));
    section.blocks.push_back(bullet_list(known));
  }
  section.blocks.push_back(paragraph("This assumes:"));
  section.blocks.push_back(bullet_list(assumptions_of(all)));
  return section;
}

DocumentSection provenance_section(const Scalability& all) {
  return {"Where the figures come from",
          {text_table_of(provenance_table(all)), text_table_of(runs_table(all))}};
}

DocumentSection again_section(const Scalability& all) {
  DocumentSection section{"The same report again", {}};
  section.blocks = {
      code(all.options.command),
      note("From " + all.options.source +
           ". The same scenario, seed and version give the same times on any machine "
           "where compute times come from a profile; measured ones differ from machine "
           "to machine.")};
  return section;
}

std::vector<std::string> chips_of(const Scalability& all) {
  std::set<std::string> times;
  for (const ScaleSeries& series : all.data.series) {
    for (const ScalePoint& point : series.points)
      times.insert("time: " + point.provenance + " (" + engine_of(series.header) + ")");
    times.insert("compute times: " + series.compute_provenance);
  }
  std::vector<std::string> chips = {std::to_string(all.data.runs.size()) + " runs, " +
                                    std::to_string(all.data.series.size()) + " series"};
  chips.insert(chips.end(), times.begin(), times.end());
  if (all.any_holds()) chips.push_back("curves: predicted");
  for (const std::string& remark : all.options.remarks) chips.push_back(remark);
  return chips;
}

}  // namespace

Document scalability_document(const Scalability& all) {
  Document document;
  document.title = question_of(all);
  document.lead = scenario_value(all.data.series[0].header.scenario_json, "/description");
  document.chips = chips_of(all);
  document.warnings = all.warnings;
  document.sections = {answer_section(all), advice_section(all), curves_section(all),
                       split_section(all)};
  if (!all.sensitivity.empty()) document.sections.push_back(sensitivity_section(all));
  document.sections.push_back(crossover_section(all));
  document.sections.push_back(cost_section(all));
  if (all.options.accuracy.target > 0) document.sections.push_back(accuracy_section(all));
  document.sections.push_back(validation_section(all));
  document.sections.push_back(provenance_section(all));
  document.sections.push_back(again_section(all));
  return document;
}

}  // namespace gradwire::results
