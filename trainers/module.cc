#include "trainers/bench_training.h"
#include "trainers/synchronous_trainer.h"

/// The module's symbols: scenarios/trainer.h and trainers/bench_training.h name them.
#define GRADWIRE_EXPORT extern "C" __attribute__((visibility("default")))

GRADWIRE_EXPORT gradwire::scenarios::Trainer* gradwire_make_trainer(
    const gradwire::scenarios::Scenario& scenario,
    const gradwire::scenarios::TrainerOptions& options) {
  return gradwire::trainers::make_trainer(scenario, options).release();
}

GRADWIRE_EXPORT void gradwire_bench_training(
    const gradwire::trainers::TrainingBenchSettings& settings,
    gradwire::trainers::TrainingBenchResult& result) {
  result = gradwire::trainers::bench_training(settings);
}
