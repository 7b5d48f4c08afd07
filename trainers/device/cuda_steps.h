#pragma once
#include "trainers/device/device_step.h"

/// The CUDA part of training steps, in a module of its own (libgradwire_cuda.so): only it links the
/// CUDA runtime, and only a run with device cuda loads it, or builds it at its first use.
namespace gradwire::trainers {

/// trainers/device/device_step.h, function by function.
class CudaSteps {
 public:
  virtual ~CudaSteps() = default;
  virtual std::string why_steps_leave_device(const DeviceCodecSettings& settings) const = 0;
  virtual std::unique_ptr<DeviceEncoder> make_encoder(const DeviceCodecSettings& settings,
                                                      const Layout& layout, void* stream) const = 0;
  virtual std::unique_ptr<DeviceUpdate> make_update(const DeviceRule& rule, DeviceMemory memory,
                                                    std::span<float> mean) const = 0;
};

/// The module's symbol, of type `const CudaSteps& ()`.
using CudaStepsSymbol = const CudaSteps& (*)();
inline constexpr const char* kCudaStepsSymbol = "gradwire_cuda_steps";

namespace on_cuda {

// The module's own functions, in trainers/device/cuda_encoder.cc and
// trainers/device/cuda_update.cc.
std::string why_steps_leave_device(const DeviceCodecSettings& settings);
std::unique_ptr<DeviceEncoder> make_encoder(const DeviceCodecSettings& settings,
                                            const Layout& layout, void* stream);
std::unique_ptr<DeviceUpdate> make_update(const DeviceRule& rule, DeviceMemory memory,
                                          std::span<float> mean);

}  // namespace on_cuda
}  // namespace gradwire::trainers
