#include "bench/methods.h"

#include "bench/training.h"
#include "trainers/timing/bench_methods.h"

namespace gradwire::bench {

std::vector<BenchRow> bench_methods(const MethodsOptions& options, const Say& say) {
  const auto bench = reinterpret_cast<trainers::MethodsBench>(
      training_module_symbol(trainers::kMethodsBenchSymbol));
  say("10 M parameters on 8 workers, one thread: each method and its LibTorch twin take turns ...");
  std::vector<trainers::MethodBenchResult> results;
  bench({.seed = options.seed, .methods = options.methods}, results);
  std::vector<BenchRow> rows;
  for (const trainers::MethodBenchResult& result : results) {
    const std::string stem = "methods." + result.method + ".m10.n8.";
    BenchRow ratio{.name = stem + "ratio_to_torch", .value = result.ratio, .at_most = false};
    if (result.bar > 0) ratio.bar = result.bar;
    rows.push_back(ratio);
    rows.push_back({.name = stem + "share_of_step", .value = result.share()});
    rows.push_back({.name = stem + "own_work", .value = result.own_s, .unit = "s"});
    rows.push_back({.name = stem + "torch_work", .value = result.torch_s, .unit = "s"});
    rows.push_back({.name = stem + "passes", .value = result.pass_s, .unit = "s"});
  }
  return labelled(std::move(rows), "measured");
}

}  // namespace gradwire::bench
