#include "bench/training.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "base/program_part.h"
#include "trainers/timing/bench_activations.h"
#include "trainers/timing/bench_training.h"

namespace gradwire::bench {

void* training_module_symbol(const char* name) {
  const char* const own = std::getenv("GRADWIRE_BENCH_TRAINING_MODULE");
  const std::string path = own ? own : part_path("bench", "../lib/libgradwire_bench_training.so");
  static void* const module =
      open_part_module(path, "load the training benchmark",
                       "this build has no training (LibTorch was not there when it was made)");
  return module_symbol(module, name);
}

namespace {

std::vector<BenchRow> bench_rounds(const trainers::RoundsBenchSettings& settings,
                                   const std::string& stem) {
  const auto bench =
      reinterpret_cast<trainers::RoundsBench>(training_module_symbol(trainers::kRoundsBenchSymbol));
  trainers::TrainingBenchResult result;
  bench(settings, result);
  return labelled(
      {{.name = stem + "ratio_to_bare", .value = result.ratio, .bar = 1.1},
       {.name = stem + "ratio_lower_quartile", .value = result.ratio_low},
       {.name = stem + "ratio_upper_quartile", .value = result.ratio_high},
       {.name = stem + "bare_round", .value = result.bare_step_s, .unit = "s"},
       {.name = stem + "simulated_round", .value = result.simulated_step_s, .unit = "s"}},
      "measured");
}

std::vector<BenchRow> bench_asynchronous(std::uint64_t seed, const Say& say) {
  const auto bench = reinterpret_cast<trainers::TrainingBench>(
      training_module_symbol(trainers::kAsynchronousBenchSymbol));
  say("LeNet-5 on 4 workers of an asynchronous server: 20 pairs ...");
  trainers::TrainingBenchResult result;
  bench({.seed = seed}, result);
  const std::string stem = "training.asynchronous.lenet5.n4.";
  return labelled(
      {{.name = stem + "ratio_to_bare", .value = result.ratio, .bar = 1.1},
       {.name = stem + "ratio_lower_quartile", .value = result.ratio_low},
       {.name = stem + "ratio_upper_quartile", .value = result.ratio_high},
       {.name = stem + "bare_update", .value = result.bare_step_s, .unit = "s"},
       {.name = stem + "simulated_update", .value = result.simulated_step_s, .unit = "s"}},
      "measured");
}

/// What method comet costs in a step, and keeps of it.
std::vector<BenchRow> bench_activations(const trainers::ActivationsBenchSettings& settings,
                                        const Say& say) {
  const auto bench = reinterpret_cast<trainers::ActivationsBench>(
      training_module_symbol(trainers::kActivationsBenchSymbol));
  say(settings.model + " with compressed activations: " + std::to_string(settings.pairs) +
      " pairs ...");
  trainers::ActivationsBenchResult result;
  bench(settings, result);
  const std::string stem = "training.comet." + settings.model + ".";
  return labelled({{.name = stem + "ratio_to_plain", .value = result.ratio, .bar = 1.5},
                   {.name = stem + "ratio_lower_quartile", .value = result.ratio_low},
                   {.name = stem + "ratio_upper_quartile", .value = result.ratio_high},
                   {.name = stem + "plain_step", .value = result.plain_step_s, .unit = "s"},
                   {.name = stem + "compressed_step", .value = result.packed_step_s, .unit = "s"},
                   {.name = stem + "plain_kept", .value = result.plain_bytes, .unit = "B"},
                   {.name = stem + "compressed_kept", .value = result.packed_bytes, .unit = "B"}},
                  "measured");
}

}  // namespace

std::vector<BenchRow> bench_training(std::uint64_t seed, const Say& say) {
  const auto bench = reinterpret_cast<trainers::TrainingBench>(
      training_module_symbol(trainers::kTrainingBenchSymbol));
  say("LeNet-5 on 4 workers: bare and simulated loops take turns, 20 pairs ...");
  trainers::TrainingBenchResult result;
  bench({.seed = seed}, result);
  const std::string stem = "training.lenet5.n4.";
  std::vector<BenchRow> rows =
      labelled({{.name = stem + "ratio_to_bare", .value = result.ratio, .bar = 1.05},
                {.name = stem + "ratio_lower_quartile", .value = result.ratio_low},
                {.name = stem + "ratio_upper_quartile", .value = result.ratio_high},
                {.name = stem + "bare_step", .value = result.bare_step_s, .unit = "s"},
                {.name = stem + "simulated_step", .value = result.simulated_step_s, .unit = "s"}},
               "measured");
  say("LeNet-5 on 32 clients of a federated round: 9 pairs ...");
  std::ranges::move(bench_rounds({.seed = seed}, "training.rounds.lenet5.n32."),
                    std::back_inserter(rows));
  say("LeNet-5 on 10,000 clients, 100 a round, topk with error feedback: 9 pairs ...");
  std::ranges::move(
      bench_rounds({.seed = seed, .clients = 10'000, .sample = 100, .compressed = true},
                   "training.rounds.lenet5.topk.n10000."),
      std::back_inserter(rows));
  for (const BenchRow& row : bench_asynchronous(seed, say)) rows.push_back(row);
  for (const trainers::ActivationsBenchSettings& settings :
       {trainers::ActivationsBenchSettings{.seed = seed, .model = "lenet5"},
        trainers::ActivationsBenchSettings{.seed = seed, .model = "cnn"},
        trainers::ActivationsBenchSettings{
            .seed = seed, .model = "resnet20", .steps = 1, .pairs = 9}})
    std::ranges::move(bench_activations(settings, say), std::back_inserter(rows));
  return rows;
}

}  // namespace gradwire::bench
