#include "results/scalability/tables.h"

#include <algorithm>
#include <set>

#include "results/scalability/figures.h"
#include "results/scalability/words.h"

namespace gradwire::results {
namespace {

std::string seconds(double value) {
  return format_value(value, Quantity::kSeconds);
}

std::string range(double low, double high, Quantity quantity) {
  return low < high ? range_words(low, high, quantity) : "-";
}

/// Numbers of workers of any series.
std::set<int> all_workers(const Scalability& all) {
  std::set<int> workers;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    for (const int n : shown_workers(all, i)) workers.insert(n);
  return workers;
}

std::string how_got(const Scalability& all, int workers) {
  std::set<std::string> how;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const auto answer = all.answer(i, workers);
    if (!answer) continue;
    how.insert(answer->known                 ? answer->provenance
               : all.within_runs(i, workers) ? "predicted"
                                             : "extrapolated");
  }
  return in_words({how.begin(), how.end()});
}

/// A row a number of workers, a column a series.
template <typename Cell>
HtmlTable over_workers(const Scalability& all, Cell cell) {
  HtmlTable table = {{"workers"}};
  for (const ScaleSeries& series : all.data.series) table[0].push_back(series.name);
  table[0].push_back("provenance");
  for (const int workers : all_workers(all)) {
    std::vector<std::string> row = {std::to_string(workers)};
    for (std::size_t i = 0; i < all.data.series.size(); ++i) {
      const auto answer = all.answer(i, workers);
      row.push_back(answer ? cell(i, workers, *answer) : "-");
    }
    row.push_back(how_got(all, workers));
    table.push_back(std::move(row));
  }
  return table;
}

}  // namespace

HtmlTable throughput_table(const Scalability& all) {
  return over_workers(all, [&](std::size_t i, int workers, const ScaleAnswer& answer) {
    const auto value = [&](double time) {
      return all.throughput_text(all.throughput(i, workers, time));
    };
    const std::string middle = value(answer.seconds), low = value(answer.high_s),
                      high = value(answer.low_s);
    return low == high ? middle : middle + " (" + low + " to " + high + ")";
  });
}

HtmlTable step_table(const Scalability& all) {
  return over_workers(all, [&](std::size_t i, int workers, const ScaleAnswer& answer) {
    const std::string time = seconds(answer.seconds);
    return !all.computes || !all.model(i)
               ? time
               : time + ", " + percent(all.efficiency(i, workers, answer.seconds));
  });
}

HtmlTable known_split_table(const Scalability& all) {
  HtmlTable table = {
      {"workers", "step", "compute", "encode, decode, add", "exposed communication"}};
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
  HtmlTable table = {{"constant"}};
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const SeriesModel* model = all.model(i);
    if (!model || !model->holds()) continue;
    table[0].push_back(all.data.series[i].name);
    table.resize(model->fit.described.size() + 1);
    for (std::size_t k = 0; k < model->fit.described.size(); ++k) {
      const Constant& constant = model->fit.described[k];
      const std::string value = format_value(constant.value, Quantity::kPlain);
      if (table[k + 1].empty()) table[k + 1].push_back(constant.name);
      table[k + 1].push_back(
          constant.identified
              ? value + " (" + range_words(constant.low, constant.high, Quantity::kPlain) + ")"
              : value + " *");
    }
  }
  return table;
}

HtmlTable provenance_table(const Scalability& all) {
  std::set<std::string> times, compute;
  for (const ScaleSeries& series : all.data.series) {
    compute.insert(series.compute_provenance + " (" + series.header.device + ")");
    for (const ScalePoint& point : series.points)
      times.insert(point.provenance + " (" + engine_of(series.header) + ")");
  }
  const std::string runs = in_words({times.begin(), times.end()});
  HtmlTable table = {
      {"figure", "provenance"},
      {"marks in all charts; rows of runs in tables", runs},
      {"compute and codec times under them", in_words({compute.begin(), compute.end()})},
      {"parts of a step in the table of runs", runs + ": means over workers and steps"}};
  if (all.any_holds())
    table.insert(table.end(),
                 {{"lines, bands, rows \"predicted\"", "predicted: the fitted performance model"},
                  {"dashed lines, paler bands, rows \"extrapolated\"",
                   "predicted: the same model on more workers than any run has"},
                  {"parts of a step in bars", "predicted: the same model's parts"},
                  {"sensitivity, required link rate",
                   "predicted: the model asked again with one input changed"}});
  if (const std::string errors = error_words(all); !errors.empty())
    table.push_back({"errors on held-back runs", "predicted; " + errors});
  if (all.computes)
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
