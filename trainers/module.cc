#include "trainers/synchronous_trainer.h"

/// The module's one factory symbol (scenarios/trainer.h).
extern "C" __attribute__((visibility("default"))) gradwire::scenarios::Trainer*
gradwire_make_trainer(const gradwire::scenarios::Scenario& scenario,
                      const gradwire::scenarios::TrainerOptions& options) {
  return gradwire::trainers::make_trainer(scenario, options).release();
}
