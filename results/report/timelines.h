#pragma once
#include <set>
#include <string>

#include "results/report/data.h"

namespace gradwire::results {

/// Timelines of a stored step of the runs that a planner compares (choice.h), the first run of each
/// group: what every rank did when, with the critical path. Each picture is the anchor of its place
/// ("run:42@1.2s..1.31s") and its run's ("run:42"), and says what opens it in the desktop program.
/// Empty where no run has stored its timeline. `anchors`: those that the page has, and then has.
std::string timelines_section(const Store& store, const ReportData& data,
                              std::set<std::string>& anchors);

}  // namespace gradwire::results
