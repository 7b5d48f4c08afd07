#include <cstdio>
#include <cstdlib>
#include <exception>

#include "bench/prediction/prediction.h"

/// gradwire-bench-prediction [SEED [CLEAN LOSSY MOBILE]]: `gradwire bench prediction` alone.
int main(int count, char** arguments) {
  gradwire::bench::PredictionOptions options;
  options.list = true;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  if (count > 4) {
    options.clean_cases = std::atoi(arguments[2]);
    options.lossy_cases = std::atoi(arguments[3]);
    options.mobile_cases = std::atoi(arguments[4]);
  }
  if (count > 5) options.held_out = {16, 32, 64};
  try {
    auto rows = gradwire::bench::bench_prediction(
        options, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
    const bool all = gradwire::bench::judge(rows);
    std::fputs(gradwire::bench::rows_as_markdown(rows).c_str(), stdout);
    return all ? 0 : 7;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
