#include <cstdlib>

#include "bench/emulation/emulation.h"
#include "bench/rows/alone.h"

/// gradwire-bench-emulation [SEED [CASES [FIRST]]]: `gradwire bench emulation` alone.
int main(int count, char** arguments) {
  using namespace gradwire::bench;
  EmulationOptions options;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  if (count > 2) options.cases = std::atoi(arguments[2]);
  if (count > 3) options.first = std::atoi(arguments[3]);
  options.links = options.first == 0;
  return run_alone("gradwire-bench-emulation",
                   [&](const Say& say) { return bench_emulation(options, say); });
}
