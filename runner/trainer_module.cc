#include "runner/trainer_module.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "base/child_process.h"
#include "runner/replay.h"

namespace gradwire::runner {
namespace {

constexpr const char* kModuleName = "libgradwire_trainers.so";

void* open_module() {
  const std::string path = trainer_module_path();
  if (::access(path.c_str(), R_OK) != 0)
    throw Error(ErrorKind::kCapability, "load the training module", path,
                "this build has no training (LibTorch was not there when it was made)",
                "run ./gradwire build with a network, or see `gradwire doctor`");
  void* const module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!module)
    throw Error(ErrorKind::kCapability, "load the training module", path, ::dlerror(),
                "see `gradwire doctor`");
  return module;
}

}  // namespace

std::string trainer_module_path() {
  if (const char* path = std::getenv("GRADWIRE_TRAINERS_MODULE")) return path;
  return executable_folder() + "/../lib/" + kModuleName;
}

void* trainer_module_symbol(const char* symbol) {
  // Never closed: LibTorch's threads and registrations outlive any one trainer.
  static std::mutex mutex;
  static void* module = nullptr;
  const std::lock_guard lock(mutex);
  if (!module) module = open_module();
  void* const address = ::dlsym(module, symbol);
  if (!address)
    throw Error(ErrorKind::kCapability, "find in the training module", symbol, ::dlerror(),
                "the module belongs to another version; rebuild with ./gradwire build");
  return address;
}

std::unique_ptr<scenarios::Trainer> make_trainer(const scenarios::Scenario& scenario,
                                                 const scenarios::TrainerOptions& options) {
  if (scenario.workload.kind != scenarios::WorkloadKind::kTraining) return make_replay(scenario);
  const auto factory = reinterpret_cast<scenarios::TrainerFactory>(
      trainer_module_symbol(scenarios::kTrainerFactorySymbol));
  return std::unique_ptr<scenarios::Trainer>(factory(scenario, options));
}

}  // namespace gradwire::runner
