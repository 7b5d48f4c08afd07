#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/reports/accuracy_options.h"
#include "cli/reports/price_options.h"

namespace gradwire::cli {

/// Arguments of `report --scalability`.
struct ScalabilityArguments {
  std::string scenario;  ///< empty: the runs, or those that the filter passes
  std::vector<std::string> runs;
  std::string filter;
  std::vector<std::string> sets;
  std::string executor;
  std::vector<int> workers;
  int at = 0;
  int up_to = 0;
  double target = 0.8;
  PriceArguments prices;
  double accuracy = 0;        ///< 0: as the scenario says
  std::string training_runs;  ///< filter; empty: the report's own
  std::string assume_steps = "none";
  AccuracyArguments accuracy_options;
  bool pdf = false;    ///< print the page, too
  std::string recipe;  ///< of `report` without --scalability; empty: the whole report
  int jobs = 1;
  bool no_run = false;
  std::string out;  ///< folder
};

/// Options that only count with --scalability, and prices, which count without it, too.
void add_scalability_options(CLI::App& command, ScalabilityArguments& arguments);

/// The command line that makes the report again, quoted for a shell.
std::string command_of(const ScalabilityArguments& arguments, const Context& context);

}  // namespace gradwire::cli
