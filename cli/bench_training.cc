#include "trainers/bench_training.h"

#include "cli/bench.h"
#include "runner/trainer_module.h"

namespace gradwire::cli {

std::vector<BenchRow> bench_training(std::uint64_t seed, const Context& context) {
  const auto bench = reinterpret_cast<trainers::TrainingBench>(
      runner::trainer_module_symbol(trainers::kTrainingBenchSymbol));
  context.say("LeNet-5 on 4 workers: bare and simulated loops take turns, 20 pairs ...");
  trainers::TrainingBenchResult result;
  bench({.seed = seed}, result);
  return {{"training.lenet5.n4.ratio_to_bare", result.ratio, "", 1.05, true},
          {"training.lenet5.n4.ratio_lower_quartile", result.ratio_low, "", {}, true},
          {"training.lenet5.n4.ratio_upper_quartile", result.ratio_high, "", {}, true},
          {"training.lenet5.n4.bare_step", result.bare_step_s, "s", {}, true},
          {"training.lenet5.n4.simulated_step", result.simulated_step_s, "s", {}, true}};
}

}  // namespace gradwire::cli
