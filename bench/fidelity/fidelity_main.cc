#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "bench/fidelity/fidelity.h"
#include "bench/fidelity/linux_fidelity.h"

/// `gradwire bench fidelity` as a program of its own, which needs base/ and sim/ only.
int main(int argc, char** argv) {
  using namespace gradwire;
  try {
    bench::FidelityOptions options;
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
    const bench::Say say = [](const std::string& message) {
      std::fprintf(stderr, "%s\n", message.c_str());
    };
    std::vector<bench::BenchRow> rows = options.reference == "linux"
                                            ? bench::bench_linux_fidelity(options, say)
                                            : bench::bench_fidelity(options, say);
    const bool hold = bench::judge(rows);
    std::fputs(bench::rows_as_markdown(rows).c_str(), stdout);
    return hold ? 0 : exit_code(ErrorKind::kGate);
  } catch (const Error& error) {
    std::fprintf(stderr, "gradwire-bench-fidelity: %s\n", error.what());
    return exit_code(error.kind());
  }
}
