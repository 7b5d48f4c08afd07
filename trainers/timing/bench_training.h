#pragma once
#include <cstdint>

/// What simulating costs: a training loop under simulation against the bare LibTorch loop that does
/// the same arithmetic. No LibTorch headers here: a module of its own, part of the benchmarks,
/// exports it.
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

struct RoundsBenchSettings {
  std::uint64_t seed = 1;
  int clients = 32;
  int sample = 0;           ///< of them a round; 0: all
  bool compressed = false;  ///< uploads by topk 1 % with error feedback
  int local_steps = 4;
  int batch = 16;
  int pairs = 9;  ///< of one round each
};

/// A federated round, LeNet-5 on made-up 28x28 images, one host thread, plain SGD, uploads as fp32
/// or compressed. Bare: for each client that is drawn the model copied, its local steps with
/// torch::optim::SGD, its weights added up; nothing is compressed. Simulated: the same by
/// RoundsTrainer, its graphs on the flow executor.
/// Steps of the result are rounds.
TrainingBenchResult bench_rounds(const RoundsBenchSettings& settings);

/// Updates of an asynchronous server, otherwise as bench_training: the workers' passes one after
/// the other, an update after each. Simulated: by AsynchronousTrainer. Steps of the result are
/// updates.
TrainingBenchResult bench_asynchronous(const TrainingBenchSettings& settings);

/// The symbol: the same, with the result written to the second argument.
using TrainingBench = void (*)(const TrainingBenchSettings& settings, TrainingBenchResult& result);
inline constexpr const char* kTrainingBenchSymbol = "gradwire_bench_training";
using RoundsBench = void (*)(const RoundsBenchSettings& settings, TrainingBenchResult& result);
inline constexpr const char* kRoundsBenchSymbol = "gradwire_bench_rounds";
inline constexpr const char* kAsynchronousBenchSymbol = "gradwire_bench_asynchronous";

/// Throws Error.
TrainingBenchResult bench_training(const TrainingBenchSettings& settings);

}  // namespace gradwire::trainers
