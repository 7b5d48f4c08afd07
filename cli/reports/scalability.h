#pragma once
#include "cli/reports/scalability_options.h"

namespace gradwire::cli {

/// Finds the runs (or makes those of the scenario that are missing), writes the report, says where.
void report_scalability(const ScalabilityArguments& arguments, Context& context);

}  // namespace gradwire::cli
