#pragma once
#include <cstdint>

/// What simulating costs: a training loop under simulation against the bare LibTorch loop that does
/// the same arithmetic. No LibTorch headers here; the module exports the function.
namespace gradwire::trainers {

struct TrainingBenchSettings {
  std::uint64_t seed = 1;
  int workers = 4;
  int batch_per_worker = 64;
  int steps = 4;   ///< of each half of a pair
  int pairs = 20;  ///< interleaved: bare and simulated halves take turns in going first
};

/// LeNet-5 on made-up 28x28 images, one host thread, SGD with momentum, method `none`, a ring.
/// Bare: N passes that accumulate gradients, their mean, torch::optim::SGD. Simulated: the
/// trainer's step, its graph submitted to the flow executor and run to its end.
struct TrainingBenchResult {
  double ratio = 0;        ///< simulated / bare time, median over pairs; 1.05 is the bar
  double ratio_low = 0;    ///< lower quartile
  double ratio_high = 0;   ///< upper quartile
  double bare_step_s = 0;  ///< median
  double simulated_step_s = 0;
  std::int64_t parameters = 0;
  int pairs = 0;
};

/// The symbol: the same, with the result written to the second argument.
using TrainingBench = void (*)(const TrainingBenchSettings& settings, TrainingBenchResult& result);
inline constexpr const char* kTrainingBenchSymbol = "gradwire_bench_training";

/// Throws Error.
TrainingBenchResult bench_training(const TrainingBenchSettings& settings);

}  // namespace gradwire::trainers
