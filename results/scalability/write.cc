#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/folder.h"
#include "results/export/csv.h"
#include "results/scalability/page.h"
#include "results/scalability/words.h"

/// The scalability report as files.
namespace gradwire::results {
namespace {

using Json = nlohmann::ordered_json;

/// A series at one number of workers.
struct Row {
  std::string series;
  int workers = 0;
  ScaleAnswer answer;
  bool extrapolated = false;
  double throughput = 0, efficiency = 0;
  std::optional<StepTime> split;
  double wait_s = 0;
};

std::vector<Row> rows_of(const Scalability& all) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    for (const int workers : shown_workers(all, i)) {
      Row row{all.data.series[i].name,
              workers,
              *all.answer(i, workers),
              !all.within_runs(i, workers),
              0,
              0,
              {},
              0};
      row.throughput = all.throughput(i, workers, row.answer.seconds);
      row.efficiency = all.efficiency(i, workers, row.answer.seconds);
      if (all.holds(i, workers)) {
        const CurvePoint point = all.predicted(i, workers);
        row.split = point.prediction.time;
        row.wait_s = point.wait_s;
      }
      rows.push_back(std::move(row));
    }
  return rows;
}

Json row_json(const Row& row, const Scalability& all) {
  Json json = {
      {"name", row.series},
      {"workers", row.workers},
      {"step_time_s", row.answer.seconds},
      {"low_s", row.answer.low_s},
      {"high_s", row.answer.high_s},
      {all.data.series[0].samples > 0 ? "samples_per_s" : "exchanges_per_s", row.throughput},
      {"efficiency", all.computes ? Json(row.efficiency) : Json()},
      {"provenance", row.answer.provenance},
      {"extrapolated", row.extrapolated}};
  if (!row.split) return json;
  json["predicted_parts"] = {{"compute_s", row.split->compute_s - row.wait_s},
                             {"encode_s", row.split->encode_s},
                             {"exposed_s", row.split->exposed_s},
                             {"decode_s", row.split->decode_s},
                             {"wait_s", row.wait_s}};
  return json;
}

Json validation_json(const Scalability& all) {
  Json list = Json::array();
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    if (!all.model(i)) continue;
    for (const HeldBack& held : all.model(i)->validation.held)
      list.push_back({{"name", all.data.series[i].name},
                      {"fitted_on", all.model(i)->validation.fitted},
                      {"workers", held.workers},
                      {"step_time_s", held.known_s},
                      {"predicted_s", held.prediction.time.total_s},
                      {"low_s", held.prediction.low_s},
                      {"high_s", held.prediction.high_s},
                      {"error", held.error()},
                      {"inside", held.inside()}});
  }
  return list;
}

Json sensitivity_json(const Scalability& all) {
  Json list = Json::array();
  for (const SensitivityRow& row : all.sensitivity)
    list.push_back({{"name", row.input},
                    {"now", row.value},
                    {"less", row.less},
                    {"more", row.more},
                    {"note", row.note}});
  return list;
}

Json accuracy_json(const Scalability& all) {
  Json list = Json::array();
  for (const AccuracyRow& row : accuracy_of(all).rows)
    list.push_back({{"series", all.data.series[row.series].name},
                    {"workers", row.workers},
                    {"steps", row.steps.steps},
                    {"seconds", row.seconds},
                    {"low_s", row.low_s},
                    {"high_s", row.high_s},
                    {"cost", all.options.costs.prices.any() ? Json(row.cost) : Json()},
                    {"steps_from", row.steps.basis}});
  return list;
}

Json costs_json(const Scalability& all) {
  Json list = Json::array();
  for (const CostRow& row : cost_rows(all))
    list.push_back({{"series", all.data.series[row.series].name},
                    {"workers", row.workers},
                    {"hours", row.hours},
                    {"cost", row.cost.total()},
                    {"currency", all.options.costs.currency},
                    {"best_choice", row.on_front}});
  return list;
}

Json strangers_json(const Scalability& all) {
  Json list = Json::array();
  for (const PublishedErrors& one : all.options.strangers)
    list.push_back({{"source", one.source},
                    {"workload", one.workload},
                    {"device", one.device},
                    {"precision", one.precision},
                    {"least_workers", one.least_workers},
                    {"most_workers", one.most_workers},
                    {"rows", one.rows},
                    {"median_error", one.median},
                    {"worst_error", one.worst},
                    {"inside_band", one.inside}});
  return list;
}

std::string exact(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

}  // namespace

std::string scalability_json(const Scalability& all) {
  Json json = {{"schema_version", 1},
               {"kind", "scalability-report"},
               {"question", question_of(all)},
               {"answer", short_answer(all)},
               {"workers", all.options.at},
               {"target_efficiency", all.options.target},
               {"recommendations", recommendations(all)},
               {"assumptions", assumptions_of(all)},
               {"warnings", all.warnings},
               {"command", all.options.command}};
  json["rows"] = Json::array();
  for (const Row& row : rows_of(all)) json["rows"].push_back(row_json(row, all));
  json["validation"] = validation_json(all);
  json["published_errors"] = strangers_json(all);
  json["sensitivity"] = sensitivity_json(all);
  json["costs"] = costs_json(all);
  json["time_to_accuracy"] = accuracy_json(all);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string scalability_csv(const Scalability& all) {
  std::string out = std::string("series,workers,step_time_s,low_s,high_s,") +
                    (all.data.series[0].samples > 0 ? "samples_per_s" : "exchanges_per_s") +
                    ",efficiency,provenance,extrapolated,predicted_compute_s,predicted_encode_s,"
                    "predicted_exposed_s,predicted_decode_s,predicted_wait_s\n";
  for (const Row& row : rows_of(all)) {
    out += csv_quoted(row.series) + "," + std::to_string(row.workers);
    for (const double value :
         {row.answer.seconds, row.answer.low_s, row.answer.high_s, row.throughput})
      out += "," + exact(value);
    out += "," + (all.computes ? exact(row.efficiency) : "") + "," +
           csv_quoted(row.answer.provenance) + "," + (row.extrapolated ? "1" : "0");
    if (row.split)
      for (const double value : {row.split->compute_s - row.wait_s, row.split->encode_s,
                                 row.split->exposed_s, row.split->decode_s, row.wait_s})
        out += "," + exact(value);
    else
      out += ",,,,,";
    out += "\n";
  }
  return out;
}

void write_scalability(const Scalability& all, const std::string& folder) {
  make_folder(folder + "/figures", "name another with --out");
  const Document document = scalability_document(all);
  write_file(folder + "/report.html", document_html(document));
  write_file(folder + "/report.md", document_markdown(document));
  write_file(folder + "/report.csv", scalability_csv(all));
  write_file(folder + "/report.json", scalability_json(all));
  for (const NamedFigure* named : figures_in(document))
    write_figure(named->drawn, folder + "/figures/" + named->name);
}

}  // namespace gradwire::results
