#pragma once
#include <memory>
#include <string>

#include "scenarios/trainer.h"

/// LibTorch stays out of the program: training is a module that is loaded when a command trains.
namespace gradwire::runner {

/// Where the module is expected: GRADWIRE_TRAINERS_MODULE, or ../lib/ beside the program.
std::string trainer_module_path();

/// Loads the module (once a process). Throws Error(kCapability) with the reason and the remedy.
void* trainer_module_symbol(const char* symbol);

/// The trainer of a scenario: the module's for training workloads, replays (see replay.h) for
/// profiles, collectives and transfers, which need no LibTorch.
std::unique_ptr<scenarios::Trainer> make_trainer(const scenarios::Scenario& scenario,
                                                 const scenarios::TrainerOptions& options);

}  // namespace gradwire::runner
