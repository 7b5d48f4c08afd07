#pragma once
#include <string>

#include "results/report/data.h"

namespace gradwire::results {

/// The fullest links of each section's uncompressed and recommended runs (of all, where there is no
/// method to choose), the most congested first, and whose flows they carry; empty where no run has
/// stored its links.
std::string links_section(const Store& store, const ReportData& data);

}  // namespace gradwire::results
