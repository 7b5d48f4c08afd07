#include <cstdio>
#include <cstdlib>

#include "bench/cliffs/cliffs.h"
#include "bench/rows/alone.h"
#include "scenarios/share.h"

/// gradwire-bench-cliffs [SEED [MINUTES [CASES]]]: `gradwire bench cliffs` alone.
int main(int count, char** arguments) {
  using namespace gradwire::bench;
  CliffsOptions options;
  options.list = true;
  options.folder = gradwire::scenarios::share_folder();
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  if (count > 2) options.minutes = std::atof(arguments[2]);
  if (count > 3) options.cases_file = arguments[3];
  return run_alone("gradwire-bench-cliffs", [&](const Say& say) {
    CliffsResult result = bench_cliffs(options, say);
    for (const std::string& scenario : result.scenarios) std::puts(scenario.c_str());
    return result.rows;
  });
}
