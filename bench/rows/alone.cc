#include "bench/rows/alone.h"

#include <cstdio>

#include "base/error.h"

namespace gradwire::bench {

int run_alone(const char* program,
              const std::function<std::vector<BenchRow>(const Say& say)>& benchmark) {
  try {
    std::vector<BenchRow> rows = benchmark(
        [](const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); });
    const bool hold = judge(rows);
    std::fputs(rows_as_markdown(rows).c_str(), stdout);
    return hold ? 0 : exit_code(ErrorKind::kGate);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return exit_code(error.kind());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return exit_code(ErrorKind::kFailure);
  }
}

}  // namespace gradwire::bench
