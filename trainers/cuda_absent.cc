#include "trainers/device_step.h"
#include "trainers/trainer_error.h"

/// What trainers/device_step.h promises, in programs that were built without nvcc.
namespace gradwire::trainers {
namespace {

constexpr const char* kReason = "this program was built without nvcc";

[[noreturn]] void refuse() {
  throw TrainerError("keep training steps on", "device cuda", kReason,
                     "build where the CUDA toolkit is installed", ErrorKind::kCapability);
}

}  // namespace

std::string why_steps_leave_device(const DeviceCodecSettings&) {
  return kReason;
}

std::unique_ptr<DeviceEncoder> make_device_encoder(const DeviceCodecSettings&, const Layout&,
                                                   void*) {
  refuse();
}

std::unique_ptr<DeviceUpdate> make_device_update(const OptimizerSettings&, DeviceMemory,
                                                 std::span<float>) {
  refuse();
}

}  // namespace gradwire::trainers
