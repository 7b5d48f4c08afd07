#pragma once
#include <span>
#include <string>
#include <vector>

#include "results/reproductions/reproduction.h"
#include "results/reproductions/terngrad_chart/chart_models.h"

/// `reproduce terngrad-chart`: what is held against the chart, and its report.
namespace gradwire::results {

struct ChartReproduction {
  Chart chart;
  ChartOptions options;
  std::vector<ChartFit> fits;       ///< of kChartModels
  std::vector<ChartHalves> halves;  ///< the same
  std::vector<ReproductionRow> rows;
};

/// Fits every model. Pass marks: median relative error 3 % over all bars and worst 10 % over those
/// that are not read too coarsely, for terngrad-plateau and fitted, also on the bars that a fit to
/// half of them has not seen (20 draws); terngrad-tree is the negative control. `authors`: it is
/// their own chart; then the tree must fail, and 3.04 +- 0.1 is asked of AlexNet at 8 GPUs (their
/// text).
ChartReproduction reproduce_chart(Chart chart, const ChartOptions& options, bool authors);

/// Bars under the coarse limit, in words: "VGG-A FP32 at 1, 2, 8 GPUs"; empty where there is none.
std::string coarse_bars_in_words(const ChartReproduction& reproduction);

/// The whole page. `panel`: the chart's bars as simulated with what its model leaves out; may be
/// empty.
std::string chart_report_html(const ChartReproduction& reproduction,
                              std::span<const ChartBar> panel = {});

/// One row a bar: model, method, gpus, published and each model's images/s.
std::string chart_report_csv(const ChartReproduction& reproduction);

}  // namespace gradwire::results
