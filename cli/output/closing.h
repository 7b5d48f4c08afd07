#pragma once
#include <span>
#include <string>

#include "cli/context.h"
#include "cli/reports/accuracy_options.h"
#include "cli/reports/price_options.h"
#include "results/report/report.h"

namespace gradwire::cli {

/// The table that closes `run`: a row a group of runs that differ only in their seed (method, what
/// else varied, ratio on the wire, step time, simulated time to target, final accuracy; mean and
/// spread), and the hashes.
void print_closing(const results::Store& store, std::span<const results::RunId> runs,
                   const Context& context);

/// gradwire-report/NAME.html beside the database.
std::string default_report_path(const Context& context, const std::string& scenario_name);

/// What the command line says of accuracy and prices.
results::ReportOptions report_options(const AccuracyArguments& accuracy = {},
                                      const PriceArguments& prices = {});

/// Writes the report and says where.
void write_run_report(const results::Store& store, std::span<const results::RunId> runs,
                      const std::string& path, const Context& context,
                      const results::ReportOptions& options = report_options());

}  // namespace gradwire::cli
