#pragma once
#include "cli/run.h"

namespace gradwire::cli {

/// `run --print-config`: each value of the first run, its unit, and where it comes from.
void print_config(const RunArguments& arguments, const Context& context);

}  // namespace gradwire::cli
