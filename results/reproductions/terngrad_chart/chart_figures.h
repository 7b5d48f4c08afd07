#pragma once
#include <span>
#include <vector>

#include "results/pages/html_page.h"
#include "results/reproductions/terngrad_chart/chart_models.h"

namespace gradwire::results {

/// Published bars as marks and the models' throughput as lines, one figure a model of the chart.
std::vector<DrawnFigure> chart_figures(const Chart& chart, std::span<const ChartFit> fits);

/// predicted / published - 1 of each bar of each fit, one figure a model of the chart.
std::vector<DrawnFigure> chart_residual_figures(const Chart& chart, std::span<const ChartFit> fits);

/// Published bars as marks, `panel`'s as lines: simulated, on the same cluster.
std::vector<DrawnFigure> chart_panel_figures(const Chart& chart, std::span<const ChartBar> panel);

}  // namespace gradwire::results
