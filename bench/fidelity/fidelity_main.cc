#include <cstdlib>
#include <string>

#include "bench/alone.h"
#include "bench/fidelity/fidelity.h"
#include "bench/fidelity/linux_fidelity.h"

/// `gradwire bench fidelity` as a program of its own, which needs base/ and sim/ only.
int main(int argc, char** argv) {
  using namespace gradwire::bench;
  FidelityOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    if (name == "--seed") options.seed = std::strtoull(argv[i + 1], nullptr, 10);
    if (name == "--cases") options.cases = std::atoi(argv[i + 1]);
    if (name == "--regime") options.regimes.push_back(argv[i + 1]);
    if (name == "--traces") options.traces = argv[i + 1];
    if (name == "--calibration") options.calibration = argv[i + 1];
    if (name == "--against") options.reference = argv[i + 1];
    if (name == "--time-limit") options.total_limit_s = std::atof(argv[i + 1]);
  }
  return run_alone("gradwire-bench-fidelity", [&](const Say& say) {
    return options.reference == "linux" ? bench_linux_fidelity(options, say)
                                        : bench_fidelity(options, say);
  });
}
