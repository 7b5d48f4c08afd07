#pragma once
#include <string>

#include "results/report/data.h"

namespace gradwire::results {

/// Table: what a worker of each group holds, by kind, and the peak of the process that played all
/// of them; the largest of the group's runs. Empty where no run has such figures.
std::string memory_section(const Store& store, const ReportData& data);

}  // namespace gradwire::results
