#pragma once
#include <span>
#include <string>

#include "bench/measured/judged.h"
#include "results/figures/figure.h"

namespace gradwire::bench {

/// Every row at what was measured (across) and predicted (up), a series a group, beside the line of
/// predictions that are right.
results::Figure scatter_of(std::span<const JudgedRow> judged, const std::string& subtitle);

/// The same rows as a table: way, source, row, measured, predicted, low, high (seconds), inside.
std::string scatter_csv(std::span<const JudgedRow> judged, const std::string& way);

}  // namespace gradwire::bench
