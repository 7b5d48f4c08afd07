#pragma once
#include "cli/runs/run.h"

namespace gradwire::cli {

/// `run --print-config`: each value of the file's first run, its unit, and where it comes from.
void print_config(const scenarios::ScenarioFile& file, const Context& context);

}  // namespace gradwire::cli
