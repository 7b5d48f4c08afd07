#include "trainers/device/cuda_steps.h"

namespace gradwire::trainers {
namespace {

class Steps final : public CudaSteps {
 public:
  std::string why_steps_leave_device(const DeviceCodecSettings& settings) const override {
    return on_cuda::why_steps_leave_device(settings);
  }
  std::unique_ptr<DeviceEncoder> make_encoder(const DeviceCodecSettings& settings,
                                              const Layout& layout, void* stream) const override {
    return on_cuda::make_encoder(settings, layout, stream);
  }
  std::unique_ptr<DeviceUpdate> make_update(const DeviceRule& rule, DeviceMemory memory,
                                            std::span<float> mean) const override {
    return on_cuda::make_update(rule, memory, mean);
  }
};

}  // namespace
}  // namespace gradwire::trainers

extern "C" __attribute__((visibility("default"))) const gradwire::trainers::CudaSteps&
gradwire_cuda_steps() {
  static const gradwire::trainers::Steps steps;
  return steps;
}
