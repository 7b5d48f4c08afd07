#pragma once
#include "scenarios/profiles/profile.h"
#include "scenarios/scenario.h"
#include "scenarios/trainer.h"
#include "trainers/methods/method.h"
#include "trainers/passes/replica.h"
#include "trainers/routes/exchange.h"
#include "trainers/updates/update.h"

/// Where a trainer's compute and codec times come from.
namespace gradwire::trainers {

/// What is measured: worker 0's pass over `batch`, alone on the machine.
struct MeasuredParts {
  const Layout& layout;
  Replica& replica;
  Exchange& exchange;
  const Batch& batch;
  const PassOptions& options;
  std::span<const float> weights;
  UpdateSettings update;
  std::string device;
  DeviceUpdate* device_update = nullptr;  ///< where the update runs on a device
};

/// Waits for the machine-wide lock, warms up, then repeats the pass (5 to 30 times, about half a
/// second) and each codec operation (5 times); medians. Nothing of the training changes.
scenarios::ComputeProfile measure_times(const MeasuredParts& parts);

/// The last phase of the method in which something is encoded; its times stand for the others'.
std::size_t timed_phase(const methods::Method& method);

/// Times of a device profile (scenarios/profiles/profile.h) for this model, batch and the codecs of
/// the method's timed_phase(), which `exchange` is of; the backward pass, with checkpointing and
/// the forward pass once more, is spread over tensors by their share of elements. Throws
/// TrainerError where the profile has no such model or codec.
scenarios::ComputeProfile times_from_profile(const scenarios::Scenario& scenario,
                                             const methods::Method& method, const Layout& layout,
                                             const Exchange& exchange);

/// The same times in another phase: buckets that are sent as fp32 there have no codec.
scenarios::ComputeProfile in_phase(const scenarios::ComputeProfile& times,
                                   const methods::Method& method, std::size_t phase,
                                   const Layout& layout);

/// The layout's buckets, all times zero.
scenarios::ComputeProfile empty_profile(const Layout& layout);

/// Fills in the buckets' codec times of `device`, which the scenario calls `device_name`; plain
/// fp32 needs none.
void take_codec_times(const methods::Method& method, const Layout& layout, const Exchange& exchange,
                      const scenarios::DeviceProfile& device, const std::string& device_name,
                      scenarios::ComputeProfile& profile);

}  // namespace gradwire::trainers
