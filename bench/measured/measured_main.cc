#include <cstdlib>
#include <string>

#include "bench/alone.h"
#include "bench/measured/measured.h"

/// gradwire-bench-measured [SEED [FILE...]]: `gradwire bench measured` alone.
int main(int count, char** arguments) {
  using namespace gradwire::bench;
  MeasuredOptions options;
  options.list = true;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  for (int i = 2; i < count; ++i) options.tables.push_back(arguments[i]);
  return run_alone("gradwire-bench-measured",
                   [&](const Say& say) { return bench_measured(options, say); });
}
