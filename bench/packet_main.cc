#include <cstdio>

#include "base/error.h"
#include "bench/packet.h"

/// `gradwire bench packet` as a program of its own, which needs base/ and sim/ only.
int main() {
  using namespace gradwire;
  try {
    std::vector<bench::BenchRow> rows = bench::bench_packet(
        [](const std::string& message) { std::fprintf(stderr, "%s\n", message.c_str()); });
    const bool hold = bench::judge(rows);
    std::fputs(bench::rows_as_markdown(rows).c_str(), stdout);
    return hold ? 0 : exit_code(ErrorKind::kGate);
  } catch (const Error& error) {
    std::fprintf(stderr, "gradwire-bench-packet: %s\n", error.what());
    return exit_code(error.kind());
  }
}
