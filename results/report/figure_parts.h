#pragma once
#include <vector>

#include "results/report/data.h"

/// What the report's figures have in common; shared by their files, not an interface.
namespace gradwire::results {

/// Hashes and provenance of what is drawn; `learning`: where the figure shows what was learnt.
void attach_source(const ReportData& data, const std::vector<std::size_t>& groups, bool learning,
                   Figure& figure);
/// Of a figure of so many horizontal bars.
double bars_height(std::size_t bars);
/// Whether a figure shows anything but zeros.
bool has_points(const DrawnFigure& drawn);

}  // namespace gradwire::results
