#include "bench/methods.h"

#include "bench/training.h"
#include "trainers/timing/bench_methods.h"
#include "trainers/timing/bench_xnor.h"

namespace gradwire::bench {
namespace {

constexpr const char* kXnor = "xnor";  // among the methods' names

std::vector<BenchRow> bench_xnor(std::uint64_t seed, const Say& say) {
  const auto bench =
      reinterpret_cast<trainers::XnorBench>(training_module_symbol(trainers::kXnorBenchSymbol));
  say("2048 x 2048 matrices of +-1, one thread: the XNOR product and LibTorch's take turns ...");
  trainers::XnorBenchResult result;
  bench({.seed = seed}, result);
  const std::string stem = "methods.xnor.m2048.";
  return {{.name = stem + "ratio_to_torch", .value = result.ratio, .bar = 8, .at_most = false},
          {.name = stem + "elements_that_differ",
           .value = static_cast<double>(result.differ),
           .bar = 0},
          {.name = stem + "ratio_with_packing", .value = result.packed_ratio},
          {.name = stem + "own_work", .value = result.own_s, .unit = "s"},
          {.name = stem + "packing", .value = result.pack_s, .unit = "s"},
          {.name = stem + "torch_work", .value = result.torch_s, .unit = "s"}};
}

std::vector<trainers::MethodBenchResult> bench_named(const MethodsOptions& options,
                                                     const Say& say) {
  const auto bench = reinterpret_cast<trainers::MethodsBench>(
      training_module_symbol(trainers::kMethodsBenchSymbol));
  say("10 M parameters on 8 workers, one thread: each method and its LibTorch twin take turns ...");
  std::vector<trainers::MethodBenchResult> results;
  bench({.seed = options.seed, .methods = options.methods}, results);
  return results;
}

}  // namespace

std::vector<BenchRow> bench_methods(const MethodsOptions& options, const Say& say) {
  MethodsOptions named = options;
  const bool xnor = options.methods.empty() || std::erase(named.methods, kXnor) > 0;
  std::vector<BenchRow> rows;
  if (xnor) rows = bench_xnor(options.seed, say);
  if (xnor && named.methods.empty() && !options.methods.empty())
    return labelled(std::move(rows), "measured");
  for (const trainers::MethodBenchResult& result : bench_named(named, say)) {
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
