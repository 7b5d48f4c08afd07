#pragma once
#include "results/pages/html_page.h"
#include "results/scalability/scalability.h"

/// The scalability report's tables; first rows are headers with units.
namespace gradwire::results {

/// A row a number of workers, a column a series: throughput with its 90 % range where it has one
/// that shows in three digits.
HtmlTable throughput_table(const Scalability& all);
/// The same with the time of a step and, where something is computed, the efficiency.
HtmlTable step_table(const Scalability& all);
/// What the stored steps say of a point's time, before any model.
HtmlTable known_split_table(const Scalability& all);
HtmlTable sensitivity_table(const Scalability& all);
/// A row a run that was held back.
HtmlTable validation_table(const Scalability& all);
/// Constants of each series' fit, and whether runs or priors decided them.
HtmlTable constants_table(const Scalability& all);
/// How each figure and table was got.
HtmlTable provenance_table(const Scalability& all);
/// Runs, machines, versions, scenario hashes.
HtmlTable runs_table(const Scalability& all);

}  // namespace gradwire::results
