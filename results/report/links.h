#pragma once
#include <string>

#include "results/pages/data_table.h"
#include "results/report/data.h"
#include "results/runs/link_load.h"

namespace gradwire::results {

/// What a table says of a link, and of one link of a run, in that order.
std::vector<DataColumn> link_columns();
std::vector<DataValue> link_cells(RunId run, const LinkLoad& load);

/// The fullest links of each section's uncompressed and recommended runs (of all, where there is no
/// method to choose), the most congested first, and whose flows they carry; empty where no run has
/// stored its links. `anchors`: those that the page has, and then has.
std::string links_section(const Store& store, const ReportData& data,
                          std::set<std::string>& anchors);

}  // namespace gradwire::results
