#include "runner/training/trainer_module.h"

#include <cstdlib>
#include <mutex>

#include "base/program_part.h"
#include "runner/training/replay.h"

namespace gradwire::runner {
namespace {

void* open_module() {
  return open_part_module(trainer_module_path(), "load the training module",
                          "this build has no training (LibTorch was not there when it was made)");
}

}  // namespace

std::string trainer_module_path() {
  if (const char* path = std::getenv("GRADWIRE_TRAINERS_MODULE")) return path;
  return part_path("training", "../lib/libgradwire_trainers.so");
}

void* trainer_module_symbol(const char* symbol) {
  // Never closed: LibTorch's threads and registrations outlive any one trainer.
  static std::mutex mutex;
  static void* module = nullptr;
  const std::lock_guard lock(mutex);
  if (!module) module = open_module();
  return module_symbol(module, symbol);
}

std::unique_ptr<scenarios::Trainer> make_trainer(const scenarios::Scenario& scenario,
                                                 const scenarios::TrainerOptions& options) {
  if (scenario.workload.kind != scenarios::WorkloadKind::kTraining) return make_replay(scenario);
  const auto factory = reinterpret_cast<scenarios::TrainerFactory>(
      trainer_module_symbol(scenarios::kTrainerFactorySymbol));
  return std::unique_ptr<scenarios::Trainer>(factory(scenario, options));
}

}  // namespace gradwire::runner
