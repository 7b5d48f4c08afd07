#pragma once
#include <functional>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// A benchmark as a program of its own: what it says goes to stderr, its rows as Markdown to
/// stdout. The exit code is the command's: 0, 7 where a bar does not hold, an error's own (1 for
/// any other exception), which stderr names after `program`.
int run_alone(const char* program,
              const std::function<std::vector<BenchRow>(const Say& say)>& benchmark);

}  // namespace gradwire::bench
