#include "results/scalability/tables.h"

#include <algorithm>
#include <set>

#include "results/scalability/figures.h"

namespace gradwire::results {
namespace {

std::string seconds(double value) {
  return format_value(value, Quantity::kSeconds);
}

std::string count(double value) {
  return format_value(value, Quantity::kCount);
}

std::string range(double low, double high, Quantity quantity) {
  return low < high ? range_words(low, high, quantity) : "-";
}

std::vector<std::string> scaling_row(const Scalability& all, std::size_t index, int workers) {
  const auto answer = *all.answer(index, workers);
  std::vector<std::string> row = {
      std::to_string(workers), seconds(answer.seconds),
      range(answer.low_s, answer.high_s, Quantity::kSeconds),
      count(all.throughput(index, workers, answer.seconds)),
      range(all.throughput(index, workers, answer.high_s),
            all.throughput(index, workers, answer.low_s), Quantity::kCount)};
  if (all.computes)
    row.push_back(all.model(index) ? percent(all.efficiency(index, workers, answer.seconds)) : "-");
  row.push_back(answer.known                      ? answer.provenance
                : all.within_runs(index, workers) ? "predicted"
                                                  : "predicted, extrapolated");
  return row;
}

}  // namespace

HtmlTable scaling_table(const Scalability& all) {
  HtmlTable table = {{"workers", "step time", "90 %", all.throughput_unit(), "90 %"}};
  if (all.computes) table[0].push_back("efficiency");
  table[0].push_back("how got");
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    table.push_back({all.data.series[i].name});
    for (const int workers : shown_workers(all, i)) table.push_back(scaling_row(all, i, workers));
  }
  return table;
}

HtmlTable known_split_table(const Scalability& all) {
  HtmlTable table = {{"workers", "step", "compute", "encode, decode, add", "exposed and waiting"}};
  for (const ScaleSeries& series : all.data.series) {
    table.push_back({series.name});
    for (const ScalePoint& point : series.points)
      table.push_back({std::to_string(point.workers), seconds(point.seconds),
                       seconds(point.split.compute_s), seconds(point.split.codec_s),
                       seconds(point.split.exposed_s)});
  }
  return table;
}

HtmlTable sensitivity_table(const Scalability& all) {
  HtmlTable table = {{"input", "now", "throughput at 20 % less", "at 20 % more"}};
  for (const SensitivityRow& row : all.sensitivity)
    table.push_back({row.input, row.value, row.note.empty() ? percent(row.less, true) : "-",
                     percent(row.more, true) + (row.note.empty() ? "" : " (" + row.note + ")")});
  return table;
}

HtmlTable validation_table(const Scalability& all) {
  HtmlTable table = {{"series", "fitted on", "held back", "the run", "predicted", "90 % band",
                      "error", "in the band"}};
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const SeriesModel* model = all.model(i);
    if (!model || model->validation.held.empty()) continue;
    std::vector<std::string> fitted;
    for (const int workers : model->validation.fitted) fitted.push_back(std::to_string(workers));
    for (const HeldBack& held : model->validation.held)
      table.push_back({all.data.series[i].name, in_words(fitted), std::to_string(held.workers),
                       seconds(held.known_s), seconds(held.prediction.time.total_s),
                       range(held.prediction.low_s, held.prediction.high_s, Quantity::kSeconds),
                       percent(held.error(), true), held.inside() ? "yes" : "no"});
  }
  return table;
}

HtmlTable constants_table(const Scalability& all) {
  HtmlTable table = {{"constant", "value", "90 %", "decided by"}};
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const SeriesModel* model = all.model(i);
    if (!model) continue;
    table.push_back({all.data.series[i].name});
    for (const Constant& constant : model->fit.described)
      table.push_back({constant.name, format_value(constant.value, Quantity::kPlain),
                       range(constant.low, constant.high, Quantity::kPlain),
                       constant.identified ? "the runs" : "its usual value"});
  }
  return table;
}

HtmlTable provenance_table(const Scalability& all) {
  std::set<std::string> times, compute;
  for (const ScaleSeries& series : all.data.series) {
    compute.insert(series.compute_provenance + " (" + series.header.device + ")");
    for (const ScalePoint& point : series.points)
      times.insert(point.provenance + " (" + series.header.executor + ")");
  }
  const std::string runs = in_words({times.begin(), times.end()});
  HtmlTable table = {
      {"figure", "how got"},
      {"marks in all charts; rows of runs in tables", runs},
      {"compute and codec times under them", in_words({compute.begin(), compute.end()})},
      {"lines, bands, rows \"predicted\"", "predicted: the fitted performance model"},
      {"dashed lines, paler bands, rows \"extrapolated\"",
       "predicted: the same model on more workers than any run has"},
      {"parts of a step in bars", "predicted: the same model's parts"},
      {"parts of a step in the table of runs", runs + ": means over workers and steps"},
      {"sensitivity, reach, required bandwidth",
       "predicted: the model asked again with one input changed"},
      {"errors on held-back runs", "predicted against " + runs}};
  if (!all.computes) return table;
  table.push_back(
      {"ideal line, efficiency", "one worker's compute times, above, without any exchange"});
  return table;
}

HtmlTable runs_table(const Scalability& all) {
  HtmlTable table = {{"series", "workers", "runs", "seeds", "scenario hash", "version", "machine"}};
  for (const ScaleSeries& series : all.data.series)
    for (const ScalePoint& point : series.points) {
      std::vector<std::string> ids;
      for (const RunId id : point.runs) ids.push_back(std::to_string(id));
      const auto run = std::ranges::find(all.data.runs, point.runs.front(), &RunSummary::id);
      std::string list;
      for (const std::string& id : ids) list += (list.empty() ? "" : ", ") + id;
      table.push_back({series.name, std::to_string(point.workers), list,
                       std::to_string(point.runs.size()), run->header.scenario_hash.substr(0, 12),
                       run->header.version, run->header.host});
    }
  return table;
}

}  // namespace gradwire::results
