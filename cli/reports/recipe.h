#pragma once
#include <span>
#include <string>
#include <vector>

#include "cli/context.h"

namespace gradwire::cli {

/// Names for `report --recipe`.
std::vector<std::string> recipe_names();

/// The recipe's answer about these runs: on stdout in the form of --format, and as a file whose
/// ending says the form (.html, .md, .csv, .json). Without one for people a page is written to
/// gradwire-report/NAME.html. Gives the page's path; empty where none was written.
std::string report_recipe(const std::string& name, std::span<const results::RunId> runs,
                          const results::Store& store, const std::string& file,
                          const Context& context);

}  // namespace gradwire::cli
