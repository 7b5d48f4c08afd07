#include <cstdlib>

#include "bench/advice/advice.h"
#include "bench/rows/alone.h"

/// gradwire-bench-advice [SEED [CASES]]: `gradwire bench advice` alone.
int main(int count, char** arguments) {
  using namespace gradwire::bench;
  AdviceOptions options;
  options.list = true;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  if (count > 2) options.cases = std::atoi(arguments[2]);
  return run_alone("gradwire-bench-advice",
                   [&](const Say& say) { return bench_advice(options, say); });
}
