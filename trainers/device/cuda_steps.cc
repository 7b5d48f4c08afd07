#include "trainers/device/cuda_steps.h"

#include <unistd.h>

#include "base/program_part.h"
#include "trainers/trainer_error.h"

/// What trainers/device/device_step.h promises, by the CUDA module.
namespace gradwire::trainers {
namespace {

constexpr const char* kReason =
    "this program has no CUDA part: nvcc was not there when it was built";

/// Null where there is none.
const CudaSteps* steps() {
  static const CudaSteps* const loaded = []() -> const CudaSteps* {
    const std::string path = part_path("cuda", "../lib/libgradwire_cuda.so");
    if (::access(path.c_str(), R_OK) != 0) return nullptr;
    void* const module = open_part_module(path, "load the CUDA part", kReason);
    return &reinterpret_cast<CudaStepsSymbol>(module_symbol(module, kCudaStepsSymbol))();
  }();
  return loaded;
}

const CudaSteps& required_steps() {
  if (const CudaSteps* const loaded = steps()) return *loaded;
  throw TrainerError("keep training steps on", "device cuda", kReason,
                     "build where the CUDA toolkit is installed", ErrorKind::kCapability);
}

}  // namespace

std::string why_steps_leave_device(const DeviceCodecSettings& settings) {
  const CudaSteps* const loaded = steps();
  return loaded ? loaded->why_steps_leave_device(settings) : kReason;
}

std::unique_ptr<DeviceEncoder> make_device_encoder(const DeviceCodecSettings& settings,
                                                   const Layout& layout, void* stream) {
  return required_steps().make_encoder(settings, layout, stream);
}

std::unique_ptr<DeviceUpdate> make_device_update(const DeviceRule& rule, DeviceMemory memory,
                                                 std::span<float> mean) {
  return required_steps().make_update(rule, memory, mean);
}

}  // namespace gradwire::trainers
