#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/codec_costs.h"
#include "trainers/timing/model_profile.h"

/// The module's symbols: scenarios/trainer.h and trainers/timing/model_profile.h name them.
#define GRADWIRE_EXPORT extern "C" __attribute__((visibility("default")))

GRADWIRE_EXPORT gradwire::scenarios::Trainer* gradwire_make_trainer(
    const gradwire::scenarios::Scenario& scenario,
    const gradwire::scenarios::TrainerOptions& options) {
  return gradwire::trainers::make_trainer(scenario, options).release();
}

GRADWIRE_EXPORT void gradwire_profile_model(
    const gradwire::trainers::ModelProfileRequest& request,
    const gradwire::trainers::ModelProfileProgress& progress,
    gradwire::trainers::ModelProfileResult& result) {
  result = gradwire::trainers::profile_model(request, progress);
}

GRADWIRE_EXPORT void gradwire_measure_device(const std::string& device,
                                             const gradwire::trainers::DeviceProgress& progress,
                                             gradwire::scenarios::DeviceProfile& result) {
  result.peak = gradwire::trainers::measure_peak(device);
  if (device != "cpu") return;
  result.codecs = gradwire::trainers::measure_codec_costs(progress);
  result.error_feedback = gradwire::trainers::measure_error_feedback();
}
