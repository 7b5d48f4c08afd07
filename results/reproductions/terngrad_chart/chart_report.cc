#include "results/reproductions/terngrad_chart/chart_report.h"

#include <cstdio>
#include <map>

#include "results/export/csv.h"
#include "results/pages/html_page.h"
#include "results/reproductions/terngrad_chart/chart_figures.h"
#include "results/statistics/percent.h"
#include "results/store/store.h"

namespace gradwire::results {
namespace {

constexpr double kMedianMark = 0.03;
constexpr double kWorstMark = 0.10;
constexpr int kQuotedGpus = 8;
constexpr int kDraws = 20;  ///< of halves

std::string format(const char* pattern, double value) {
  char text[48];
  std::snprintf(text, sizeof text, pattern, value);
  return text;
}
std::string percent(double share) {
  return percent_by("%.2g", share);
}

/// On `authors`' own chart the tree must fail; on another it may be right.
void add_errors(const ChartReproduction& reproduction, const ChartFit& fit,
                const ChartHalves& halves, bool authors, std::vector<ReproductionRow>& rows) {
  const std::string model(name_of(fit.model));
  const bool control = fit.model == ChartModel::kTernGradTree;
  const std::string bars = std::to_string(reproduction.chart.bars.size());
  const std::string unseen = "bars that a fit to the others of " + bars + " has not seen, " +
                             std::to_string(halves.draws) + " draws of half of each series";
  const auto add = [&](const char* what, const std::string& claim, double value, double mark) {
    ReproductionRow row;
    row.name = "terngrad-chart." + model + "." + what;
    row.method = model;
    row.claim = claim;
    row.value = value;
    row.provenance = name_of(Provenance::kPredicted);
    if (authors || !control) row.pass_mark = PassMark{{}, mark};
    row.negative_control = control;
    rows.push_back(std::move(row));
  };
  add("median_error", "the published bars, " + bars, fit.median_error, kMedianMark);
  add("worst_error", "the published bars, " + bars, fit.worst_error, kWorstMark);
  add("unseen_median_error", unseen, halves.median_error, kMedianMark);
  add("unseen_worst_error", unseen, halves.worst_error, kWorstMark);
}

double predicted(const ChartReproduction& reproduction, const ChartFit& fit,
                 const std::string& method) {
  const auto& bars = reproduction.chart.bars;
  for (std::size_t i = 0; i < bars.size(); ++i)
    if (bars[i].model == "AlexNet" && bars[i].method == method && bars[i].gpus == kQuotedGpus)
      return fit.predicted[i];
  return 0;
}

void add_speed_up(const ChartReproduction& reproduction, const ChartFit& fit,
                  std::vector<ReproductionRow>& rows) {
  if (fit.model == ChartModel::kTernGradTree) return;
  ReproductionRow row;
  row.method = name_of(fit.model);
  row.name = "terngrad-chart." + row.method + ".alexnet_8_gpus_speed_up";
  row.claim = "3.04 (the authors' text)";
  row.value = predicted(reproduction, fit, "TernGrad") / predicted(reproduction, fit, "FP32");
  row.provenance = name_of(Provenance::kPredicted);
  row.pass_mark = PassMark{2.94, 3.14};
  rows.push_back(std::move(row));
}

std::string bar_in_words(const ChartBar& bar) {
  return bar.model + " " + bar.method + " at " + std::to_string(bar.gpus) + " GPUs";
}

std::string errors_html(const ChartReproduction& reproduction) {
  HtmlTable table = {{"model", "median error", "worst error", "where", "deviation of log time",
                      "unseen half: median", "worst", "where"}};
  const auto& bars = reproduction.chart.bars;
  for (std::size_t i = 0; i < reproduction.fits.size(); ++i) {
    const ChartFit& fit = reproduction.fits[i];
    const ChartHalves& halves = reproduction.halves[i];
    table.push_back({std::string(name_of(fit.model)), percent(fit.median_error),
                     percent(fit.worst_error), bar_in_words(bars[fit.worst_bar]),
                     format("%.3f", fit.scale), percent(halves.median_error),
                     percent(halves.worst_error), bar_in_words(bars[halves.worst_bar])});
  }
  return html_element("h2", "How far each model is from the published bars") +
         html_table(table, true, "");
}

std::string constants_html(const ChartReproduction& reproduction) {
  std::string out = html_element("h2", "Constants");
  for (const ChartFit& fit : reproduction.fits) {
    HtmlTable table = {{"constant", "value", "90 % interval", "unit", "decided by"}};
    for (const Constant& constant : fit.constants)
      table.push_back({constant.name, format("%.4g", constant.value),
                       format("%.4g", constant.low) + " to " + format("%.4g", constant.high),
                       constant.unit, constant.identified ? "the bars" : "its prior"});
    out += html_element("h3", std::string(name_of(fit.model))) + html_table(table, true, "");
  }
  return out;
}

std::string rows_html(const ChartReproduction& reproduction) {
  HtmlTable table = {{"row", "value", "pass mark", "holds"}};
  for (const ReproductionRow& row : reproduction.rows) {
    const auto holds = row.holds();
    table.push_back({row.name, format("%.4g", row.value),
                     row.pass_mark ? row.pass_mark->text() : "",
                     !holds                 ? ""
                     : row.negative_control ? (*holds ? "fails, as it must" : "passes")
                                            : (*holds ? "yes" : "no")});
  }
  return html_element("h2", "Pass marks") + html_table(table, true, "text");
}

std::string notes_html(const ChartReproduction& reproduction) {
  std::string out = html_element("h2", "What this rests on") + "<ul>\n";
  out += html_element("li", reproduction.chart.note.empty() ? "Bars from " + reproduction.chart.file
                                                            : reproduction.chart.note);
  out += html_element("li", std::to_string(reproduction.options.gpus_per_node) +
                                " GPUs a node; nominal bandwidth between nodes " +
                                format("%.4g", reproduction.options.bandwidth / 1e9) + " Gbps");
  const std::string coarse = coarse_bars_in_words(reproduction);
  if (!coarse.empty())
    out += html_element("li", "Read too coarsely to be judged by the worst error (below " +
                                  format("%.4g", reproduction.options.coarse_below) +
                                  " images/s): " + coarse);
  for (const std::string& warning : reproduction.chart.warnings) out += html_element("li", warning);
  return out + "</ul>\n";
}

std::string panel_html(const ChartReproduction& reproduction, std::span<const ChartBar> panel) {
  if (panel.empty()) return {};
  return html_element("h2", "What the chart's model leaves out") +
         html_element(
             "p",
             "The same cluster simulated: layer tables on GPUs as fast as the chart's lone one, "
             "four behind "
             "one adapter, two-level all-reduces over TCP (flow), buckets sent while the "
             "backward pass goes on, encoding and decoding on the GPU, ternary sums in as "
             "many bits as they need. How compute is spread over layers, and codec times, are "
             "assumed from a GTX 1080's peak figures; only the network is simulated.") +
         html_figures(chart_panel_figures(reproduction.chart, panel));
}

}  // namespace

ChartReproduction reproduce_chart(Chart chart, const ChartOptions& options, bool authors) {
  ChartReproduction reproduction{std::move(chart), options, {}, {}, {}};
  for (const ChartModel model : kChartModels) {
    reproduction.fits.push_back(fit_chart(reproduction.chart, model, options));
    reproduction.halves.push_back(
        judge_halves_of_chart(reproduction.chart, model, options, kDraws));
    add_errors(reproduction, reproduction.fits.back(), reproduction.halves.back(), authors,
               reproduction.rows);
    if (authors) add_speed_up(reproduction, reproduction.fits.back(), reproduction.rows);
  }
  return reproduction;
}

std::string coarse_bars_in_words(const ChartReproduction& reproduction) {
  std::map<std::string, std::string> gpus;
  for (const std::size_t i : coarse_bars(reproduction.chart, reproduction.options)) {
    const ChartBar& bar = reproduction.chart.bars[i];
    std::string& list = gpus[bar.model + " " + bar.method];
    list += (list.empty() ? "" : ", ") + std::to_string(bar.gpus);
  }
  std::string out;
  for (const auto& [series, list] : gpus)
    out += (out.empty() ? "" : "; ") + series + " at " + list + " GPUs";
  return out;
}

std::string chart_report_html(const ChartReproduction& reproduction,
                              std::span<const ChartBar> panel) {
  const std::string title = "A published scalability chart, and models of it";
  return html_page(title,
                   html_element("h1", title) + rows_html(reproduction) + errors_html(reproduction) +
                       html_element("h2", "Theirs and ours, drawn over each other") +
                       html_figures(chart_figures(reproduction.chart, reproduction.fits)) +
                       html_figures(chart_residual_figures(reproduction.chart, reproduction.fits)) +
                       panel_html(reproduction, panel) + constants_html(reproduction) +
                       notes_html(reproduction));
}

std::string chart_report_csv(const ChartReproduction& reproduction) {
  std::string out = "model,method,gpus,published_images_per_second";
  for (const ChartFit& fit : reproduction.fits)
    out += "," + std::string(name_of(fit.model)) + "_images_per_second";
  out += "\n";
  for (std::size_t i = 0; i < reproduction.chart.bars.size(); ++i) {
    const ChartBar& bar = reproduction.chart.bars[i];
    out += csv_quoted(bar.model) + "," + csv_quoted(bar.method) + "," + std::to_string(bar.gpus) +
           "," + format("%.6g", bar.images_per_second);
    for (const ChartFit& fit : reproduction.fits) out += "," + format("%.6g", fit.predicted[i]);
    out += "\n";
  }
  return out;
}

}  // namespace gradwire::results
