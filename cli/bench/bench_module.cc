#include "cli/bench/bench_module.h"

#include "base/program_part.h"

namespace gradwire::cli {

const bench::Benchmarks& benchmarks() {
  static void* const module = open_part_module(part_path("bench", "../lib/libgradwire_bench.so"),
                                               "load the benchmarks", "they are not built");
  return reinterpret_cast<bench::BenchmarksSymbol>(
      module_symbol(module, bench::kBenchmarksSymbol))();
}

}  // namespace gradwire::cli
