#include "results/reproductions/terngrad_chart/chart.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "results/export/csv.h"

namespace gradwire::results {
namespace {

ChartWorkload& workload_of(Chart& chart, const std::string& model) {
  for (ChartWorkload& workload : chart.workloads)
    if (workload.model == model) return workload;
  return chart.workloads.emplace_back(ChartWorkload{model, 0, 0});
}

/// One value a model: a second, different one is refused.
void take(const CsvTable& table, std::size_t row, const std::string& column, double& value) {
  const double given = table.positive(row, column, 0);
  if (given == 0) return;
  if (value != 0 && value != given)
    table.refuse(row, column, "another row of this model says otherwise");
  value = given;
}

ChartBar read_bar(const CsvTable& table, std::size_t row) {
  ChartBar bar{table.text(row, "model"), table.text(row, "method"), 0, 0, 0};
  if (bar.model.empty()) table.refuse(row, "model", "it is empty");
  if (bar.method.empty()) table.refuse(row, "method", "it is empty");
  const double gpus = table.positive(row, "gpus");
  if (gpus != std::floor(gpus) || gpus > 1e7) table.refuse(row, "gpus", "it is no whole number");
  bar.gpus = static_cast<int>(gpus);
  bar.images_per_second = table.positive(row, "images_per_second");
  bar.read_step = table.positive(row, "read_step", 0);
  return bar;
}

}  // namespace

const ChartWorkload& Chart::workload(std::string_view model) const {
  const auto found = std::find_if(workloads.begin(), workloads.end(),
                                  [&](const ChartWorkload& w) { return w.model == model; });
  GRADWIRE_ASSERT(found != workloads.end());
  return *found;
}

const std::string& Chart::baseline(std::string_view model) const {
  const auto found = std::find_if(bars.begin(), bars.end(),
                                  [&](const ChartBar& bar) { return bar.model == model; });
  GRADWIRE_ASSERT(found != bars.end());
  return found->method;
}

double Chart::rate(std::string_view model, std::string_view method, int gpus) const {
  for (const ChartBar& bar : bars)
    if (bar.model == model && bar.method == method && bar.gpus == gpus)
      return bar.images_per_second;
  return 0;
}

Chart read_chart(std::string_view csv, const std::string& file) {
  const CsvTable table(csv, file);
  table.expect({"model", "method", "gpus", "images_per_second"},
               {"batch_per_gpu", "gradient_bytes", "read_step"});
  Chart chart;
  chart.file = file;
  chart.note = table.comment();
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const ChartBar bar = read_bar(table, row);
    ChartWorkload& workload = workload_of(chart, bar.model);
    take(table, row, "batch_per_gpu", workload.batch_per_gpu);
    take(table, row, "gradient_bytes", workload.gradient_bytes);
    const double there = chart.rate(bar.model, bar.method, bar.gpus);
    if (there != 0 && there != bar.images_per_second)
      table.refuse(row, "images_per_second", "an earlier row gives this bar another value",
                   "leave one of them");
    if (there != 0)
      chart.warnings.push_back(bar.model + " " + bar.method + " at " + std::to_string(bar.gpus) +
                               " GPUs stands there twice, with one value: taken once");
    else
      chart.bars.push_back(bar);
  }
  return chart;
}

}  // namespace gradwire::results
