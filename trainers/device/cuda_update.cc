#include "compressors/cuda/cuda_memory.h"
#include "trainers/device/cuda_kernels.h"
#include "trainers/device/cuda_steps.h"
#include "trainers/timing/measure.h"
#include "trainers/updates/adam_factors.h"

namespace gradwire::trainers {
namespace {

using compressors::check_cuda;
using compressors::DeviceBuffer;

class CudaUpdate final : public DeviceUpdate {
 public:
  CudaUpdate(const DeviceRule& rule, DeviceMemory memory, std::span<float> mean)
      : rule_(rule), memory_(memory), pinned_(mean), mean_(mean), gradient_(mean.size()) {
    // A rule's buffers start at zero.
    for (int buffer = 0; buffer < rule_.buffers(); ++buffer) buffers_.push_back(zeros());
    check_cuda(cudaStreamSynchronize(nullptr), "clear an optimiser");
  }

  void step(double rate, std::span<const float> mean) override {
    GRADWIRE_ASSERT(mean.data() == mean_.data() && mean.size() == mean_.size());
    ++steps_;
    enqueue(memory_.weights, buffers_, {rate, steps_});
  }

  Seconds time(int repetitions) override {
    DeviceBuffer<float> weights = zeros();
    std::vector<DeviceBuffer<float>> buffers;
    for (std::size_t b = 0; b < buffers_.size(); ++b) buffers.push_back(zeros());
    check_cuda(cudaStreamSynchronize(nullptr), "clear an optimiser");
    compressors::CudaEvent start, end;
    std::vector<double> times;
    for (int i = 0; i <= repetitions; ++i) {  // the first is not counted
      start.record(memory_.stream);
      enqueue(weights.data(), buffers, {0.01, 1});
      end.record(memory_.stream);
      end.synchronize();
      if (i > 0) times.push_back(end.seconds_since(start));
    }
    return Seconds(spread_of(times).median);
  }

  void download(std::span<float> weights, Update& update) const override {
    wait();
    check_cuda(
        cudaMemcpy(weights.data(), memory_.weights, weights.size_bytes(), cudaMemcpyDeviceToHost),
        "copy weights to the host");
    std::size_t b = 0;
    for (const std::span<float> host : update.buffers()) buffers_.at(b++).download(host);
    update.set_steps(steps_);
  }

  void upload(std::span<const float> weights, Update& update) override {
    wait();
    check_cuda(
        cudaMemcpy(memory_.weights, weights.data(), weights.size_bytes(), cudaMemcpyHostToDevice),
        "copy weights to the device");
    std::size_t b = 0;
    for (const std::span<float> host : update.buffers()) buffers_.at(b++).upload(host);
    check_cuda(cudaStreamSynchronize(nullptr), "load an optimiser");
    steps_ = update.steps();
  }

 private:
  DeviceBuffer<float> zeros() const {
    DeviceBuffer<float> buffer(mean_.size());
    buffer.clear();
    return buffer;
  }
  cudaStream_t stream() const { return static_cast<cudaStream_t>(memory_.stream); }
  void wait() const { check_cuda(cudaStreamSynchronize(stream()), "wait for an update"); }

  void enqueue(float* weights, const std::vector<DeviceBuffer<float>>& buffers,
               const UpdateStep& at) const {
    check_cuda(cudaMemcpyAsync(gradient_.data(), mean_.data(), mean_.size_bytes(),
                               cudaMemcpyHostToDevice, stream()),
               "copy the mean gradient to the device");
    const auto n = static_cast<std::int64_t>(mean_.size());
    switch (rule_.kernel) {
      case DeviceRule::Kernel::kAdam: {
        const auto [rate, root] = adam_factors(at.rate, at.number);
        return cuda::adam(rate, root, rule_.decay, gradient_.data(), buffers[0].data(),
                          buffers[1].data(), weights, n, memory_.stream);
      }
      case DeviceRule::Kernel::kSgd:
        return cuda::sgd(static_cast<float>(at.rate), rule_.momentum, rule_.decay, gradient_.data(),
                         buffers.empty() ? nullptr : buffers[0].data(), weights, n, memory_.stream);
    }
    GRADWIRE_ASSERT(false);
  }

  DeviceRule rule_;
  DeviceMemory memory_;
  compressors::PinnedRange pinned_;
  std::span<float> mean_;
  DeviceBuffer<float> gradient_;
  std::vector<DeviceBuffer<float>> buffers_;
  std::int64_t steps_ = 0;
};

}  // namespace

namespace on_cuda {

std::unique_ptr<DeviceUpdate> make_update(const DeviceRule& rule, DeviceMemory memory,
                                          std::span<float> mean) {
  return std::make_unique<CudaUpdate>(rule, memory, mean);
}

}  // namespace on_cuda
}  // namespace gradwire::trainers
