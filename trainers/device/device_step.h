#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "trainers/channel/state_store.h"
#include "trainers/layout.h"
#include "trainers/passes/replica.h"
#include "trainers/routes/movers.h"
#include "trainers/updates/update.h"

/// A training step whose gradients, weights, codec states and optimiser lie on a device. What the
/// exchange and the trainer need of it; no CUDA headers, so that tests can stand in for a device.
/// docs/gpu.md tells what runs where.
namespace gradwire::trainers {

using GradientSpans = std::span<const std::span<const float>>;  ///< by tensor of the layout

/// What of each tensor comes to the host.
enum class DevicePayload {
  kValues,   ///< the gradient itself, fp32, unchecked
  kTerms,    ///< its SumTerms words, where packing would round a worker's own term
  kPacked,   ///< its packed terms of one contributor
  kMessage,  ///< what the codec's encode() writes
};

/// Encodes on the device. propose() and encode() only enqueue; wait() once, then read. Gradients
/// are device memory and stay unchanged until wait() returns. Bytes are the CPU codec's.
class DeviceEncoder {
 public:
  virtual ~DeviceEncoder() = default;
  /// False if kPacked rounds what kTerms keeps.
  virtual bool packs_exactly() const = 0;
  /// What later encode() calls bring to the host. Workers' states stay, payloads end.
  virtual void choose(DevicePayload form) = 0;
  /// Enqueues the local scale of every tensor.
  virtual void propose(int worker, GradientSpans gradients) = 0;
  /// `scales[t]` < 0: not shared.
  virtual void encode(int worker, GradientSpans gradients, std::span<const float> scales,
                      std::int64_t step) = 0;
  /// Throws CodecError naming the first tensor and element that is NaN or Inf.
  virtual void wait() = 0;
  /// By tensor. Valid until the worker's next propose().
  virtual std::span<const float> scales(int worker) const = 0;
  /// Valid until the worker's next encode().
  virtual Message payload(int worker, std::size_t tensor) const = 0;

  struct Times {
    Seconds scale{0};   ///< of propose(), 0 if the codec shares none
    Seconds encode{0};  ///< of encode(), with the copy to the host
  };
  /// Median times by device events of one bucket of a worker -1, whose payload() and scales() can
  /// be read until the next call; leaves no trace.
  virtual Times time_bucket(std::size_t bucket, GradientSpans gradients, int repetitions) = 0;

  virtual void save_states(StateStore& states) const = 0;
  virtual void load_states(StateStore& states) = 0;
};

/// An update rule on the device; bit for bit what UpdateRule does with the same mean gradient.
class DeviceUpdate {
 public:
  virtual ~DeviceUpdate() = default;
  /// Enqueues: mean to the device, then weights and buffers updated there.
  virtual void step(double rate, std::span<const float> mean) = 0;
  /// Median time of step() by device events; leaves no trace.
  virtual Seconds time(int repetitions) = 0;
  /// Waits; then `weights` and the buffers of `update` are what the device has.
  virtual void download(std::span<float> weights, Update& update) const = 0;
  virtual void upload(std::span<const float> weights, Update& update) = 0;
};

struct DeviceCodecSettings {
  std::string codec;
  std::map<std::string, std::string> options;
  bool error_feedback = false;
  std::uint64_t seed = 1;
  bool decorated = false;  ///< with clipping, momentum or rules, which run on the host
};

/// Empty if this program and this codec can keep whole steps on a CUDA device, else why not. Asks
/// for no device.
std::string why_steps_leave_device(const DeviceCodecSettings& settings);

/// `layout` must outlive it. Precondition: why_steps_leave_device() is empty, a device is there.
std::unique_ptr<DeviceEncoder> make_device_encoder(const DeviceCodecSettings& settings,
                                                   const Layout& layout, void* stream);
/// `mean` is the host memory that step() will be given: it is page-locked as long as this lives.
std::unique_ptr<DeviceUpdate> make_device_update(const DeviceRule& rule, DeviceMemory memory,
                                                 std::span<float> mean);

}  // namespace gradwire::trainers
