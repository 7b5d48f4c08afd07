#include <cstdlib>

#include "bench/prediction/prediction.h"
#include "bench/rows/alone.h"

/// gradwire-bench-prediction [SEED [CLEAN LOSSY MOBILE PACKET [UNEQUAL [x]]]]: `gradwire bench
/// prediction` alone.
int main(int count, char** arguments) {
  using namespace gradwire::bench;
  PredictionOptions options;
  options.list = true;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  if (count > 5) {
    options.clean_cases = std::atoi(arguments[2]);
    options.lossy_cases = std::atoi(arguments[3]);
    options.mobile_cases = std::atoi(arguments[4]);
    options.packet_cases = std::atoi(arguments[5]);
  }
  if (count > 6) options.unequal_cases = std::atoi(arguments[6]);
  if (count > 7) options.held_out = {16, 32, 64};
  return run_alone("gradwire-bench-prediction",
                   [&](const Say& say) { return bench_prediction(options, say); });
}
