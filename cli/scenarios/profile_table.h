#pragma once
#include "cli/context.h"
#include "scenarios/trainer.h"
#include "trainers/timing/model_profile.h"

namespace gradwire::cli {

/// One row a layer, then, where they were measured, one a bucket, the update and the whole pass.
/// Times are of the whole batch.
void print_model_profile(const trainers::ModelProfileResult& result, int batch,
                         const scenarios::ComputeProfile* buckets, const Context& context);

/// One row a codec, then the peak figures.
void print_device_profile(const scenarios::DeviceProfile& profile, const Context& context);

}  // namespace gradwire::cli
