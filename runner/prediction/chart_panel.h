#pragma once
#include <functional>
#include <string>
#include <vector>

#include "results/reproductions/terngrad_chart/chart_models.h"

namespace gradwire::runner {

/// A chart's bars simulated with what a closed form leaves out: layer tables on GTX 1080s that
/// are as fast as the chart's lone GPU (codecs of the assumed profile, slower by the same factor),
/// two-level all-reduces on flow's TCP, encoding and overlap. Bars of one GPU, and of models
/// without a layer table here, are left out. `say`: progress.
std::vector<results::ChartBar> simulate_panel(const results::Chart& chart,
                                              const results::ChartOptions& options,
                                              const std::function<void(const std::string&)>& say);

}  // namespace gradwire::runner
