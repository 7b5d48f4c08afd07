#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "bench/fidelity/fidelity.h"
#include "bench/fidelity/linux_fidelity.h"
#include "bench/rows/alone.h"

using namespace gradwire::bench;

namespace {

constexpr int kWrongUsage = 2;

bool is_known(const std::string& regime) {
  const auto in = [&](const std::vector<std::string>& names) {
    return std::find(names.begin(), names.end(), regime) != names.end();
  };
  return in(fidelity_regimes()) || in(linux_fidelity_regimes());
}

/// Whether the program knows the option and its value.
bool take(const std::string& name, const char* value, FidelityOptions& options) {
  if (name == "--seed")
    options.seed = std::strtoull(value, nullptr, 10);
  else if (name == "--cases")
    options.cases = std::atoi(value);
  else if (name == "--case" && std::atoi(value) > 0)
    options.numbers.push_back(std::atoi(value));
  else if (name == "--regime" && is_known(value))
    options.regimes.push_back(value);
  else if (name == "--detail" && gradwire::sim::detail_named(value))
    options.detail = gradwire::sim::detail_named(value);
  else if (name == "--traces")
    options.traces = value;
  else if (name == "--calibration")
    options.calibration = value;
  else if (name == "--against")
    options.reference = value;
  else if (name == "--time-limit")
    options.total_limit_s = std::atof(value);
  else
    return false;
  return true;
}

}  // namespace

/// `gradwire bench fidelity` as a program of its own, which needs base/ and sim/ only.
int main(int argc, char** argv) {
  FidelityOptions options;
  options.traces = GRADWIRE_SHIPPED_TRACES;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--bbr") == 0) {
      options.bbr = true;
    } else if (i + 1 < argc && take(argv[i], argv[i + 1], options)) {
      ++i;
    } else {
      std::fprintf(stderr, "gradwire-bench-fidelity: %s: no such option, or not with that value\n",
                   argv[i]);
      return kWrongUsage;
    }
  }
  return run_alone("gradwire-bench-fidelity", [&](const Say& say) {
    return options.reference == "linux" ? bench_linux_fidelity(options, say)
                                        : bench_fidelity(options, say);
  });
}
