#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/runs/run.h"

namespace gradwire::cli {

struct ExecutorArguments {
  RunArguments scenario;
  std::vector<std::string> executors;
  std::string against;    ///< empty: the emulator, else packet, else the first
  std::string figure;     ///< stem of SVG and CSV; empty: beside the database
  double most_error = 0;  ///< exit with 7 above this median, %; 0: never
};

/// Runs the first run of a scenario on each executor (what is stored is taken), and says step by
/// step how far each is from one of them. Simulators get the links that were emulated. Throws
/// Error.
void compare_executors(const ExecutorArguments& arguments, Context& context);

}  // namespace gradwire::cli
