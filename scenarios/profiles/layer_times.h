#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "scenarios/profiles/profile.h"

/// Times of a layer table on a device.
///
/// Model. A layer of a table has times of its own, which scale with the batch, or counts. With
/// counts, for a batch of B samples on a device whose peak is F FLOP/s, of which convolutions and
/// matrix products reach the share e, with memory bandwidth W and a launch of s seconds:
///
///   forward  = max( B f / (e F),  w (B (i + a) + p) / W,  s )
///   backward = 2 forward
///   update   = 20 P / W      bytes of SGD with momentum in fp32: three reads, two writes of 4 B
///
/// f FLOPs, i and a elements of activations read and written by a sample; p parameters of the
/// layer, P of the model; w bytes of an element, 4 in fp32 and tf32, 2 in fp16. The backward pass
/// computes two gradients, of inputs and of parameters, each as large as the forward pass.
///
/// Where the device has constants of kernels, a layer takes the sum of its kernels
/// (scenarios/kernels/kernel_time.h), both passes times c where the host that launches them
/// does not keep up, and the update u times what it takes above, with a step's fixed costs:
///
///   c = (G^3 + H^3)^(1/3) / G        G kernels of both passes, H launches times the host's time
///   update = u v P / W + step + (several workers) parallel
///
/// v = 20 bytes, but 28 of a network with attention, which Adam trains (four reads, three writes).
///
/// Limits. Nothing stays in caches, nothing is fused, nothing is recomputed. Without constants of
/// kernels: one efficiency for all shapes, though small layers reach less, and 3 x 3 convolutions
/// by Winograd's algorithm more than 1; the first layer's input is charged for a gradient that it
/// does not need, an embedding for its whole table. See docs/models/devices.md.
namespace gradwire::scenarios {

struct WorkloadTimes {
  struct Layer {
    Seconds forward{0};
    Seconds backward{0};
  };
  std::vector<Layer> layers;  ///< of one batch
  Seconds update{0};
};

/// True if a layer has counts alone, so that a device's peak figures must give its time.
bool needs_peak(const WorkloadProfile& workload);

/// Why the device (null: one that is measured here) cannot give this workload times in `precision`;
/// empty if it can.
std::string why_no_layer_times(const WorkloadProfile& workload, const DeviceProfile* device,
                               std::string_view precision);

/// `workers`: of the step, for what several of them add beside their exchange. Precondition
/// (assertion): why_no_layer_times is empty.
WorkloadTimes layer_times(const WorkloadProfile& workload, const DeviceProfile* device,
                          const std::string& precision, int batch, int workers = 1);

/// Nine of ten programs' hosts take so many times a profile's time of a launch, or a part of it:
/// fitted to single sources they take 15 us (PyTorch of 2019) to 75 us (Megatron-LM).
inline constexpr double kHostRange = 3.2;

/// Between which multiples of its times nine of ten programs lie: the device's own range and, where
/// it has constants of kernels, what kHostRange makes of both passes. They err apart from each
/// other: squares of their logarithms add up. Precondition: why_no_layer_times is empty.
PlausibleRange range_of_times(const WorkloadProfile& workload, const DeviceProfile& device,
                              const std::string& precision, int batch);

/// Shipped device profiles that have peak figures: "a100, gtx-1080, ...".
std::string devices_with_peak();

}  // namespace gradwire::scenarios
