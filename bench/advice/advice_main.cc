#include "bench/advice/advice.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

/// gradwire-bench-advice [SEED [CASES]]: `gradwire bench advice` alone.
int main(int count, char** arguments) {
  gradwire::bench::AdviceOptions options;
  options.list = true;
  if (count > 1) options.seed = std::strtoull(arguments[1], nullptr, 10);
  if (count > 2) options.cases = std::atoi(arguments[2]);
  try {
    auto rows = gradwire::bench::bench_advice(
        options, [](const std::string& text) { std::fprintf(stderr, "%s\n", text.c_str()); });
    const bool all = gradwire::bench::judge(rows);
    std::fputs(gradwire::bench::rows_as_markdown(rows).c_str(), stdout);
    return all ? 0 : 7;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
