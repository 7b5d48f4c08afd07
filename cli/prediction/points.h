#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "results/points/link_facts.h"
#include "results/points/point_list.h"

namespace gradwire::cli {

/// Where the points of a fit come from.
struct PointArguments {
  std::string filter;
  std::vector<std::string> tables;  ///< --csv
  std::vector<std::string> logs;    ///< --log
  std::string bandwidth, delay, exchange;
  std::string loss;
};

/// --filter, --csv, --log, and what tables and logs do not say.
void add_point_options(CLI::App& command, PointArguments& arguments);

/// Points of all sources together: stored runs where there is a filter, or neither table nor log.
/// Says what was left out, taken from where, or is doubtful. Throws Error where there is none.
std::vector<results::StepPoint> points_of(const PointArguments& arguments, const Context& context);

}  // namespace gradwire::cli
