#pragma once
#include <string>

#include "scenarios/kernels/kernel.h"
#include "scenarios/profiles/profile.h"

/// Seconds of kernels on a device.
///
/// Model. A product [m, k] x [k, n], c of them, on a device of peak F, memory bandwidth W and S
/// multiprocessors takes
///
///   max( 2 m n k c / (F e u),  b x / (a W) ) + 2 us,      u = t / (t + g S)
///
/// e the share of the peak that large products of the kind reach in the precision (3 x 3
/// and 5 x 5 convolutions of stride 1 in fp32: times Winograd's gain), t tiles of 128 x 128 (few
/// tiles are split along k), g how many tiles a multiprocessor half of that takes; x elements of b
/// bytes read and written, a the share of W that is reached. In fp16, on devices whose profile has
/// no tf32, tensor cores take no dense product whose weights have a side that is no multiple of 8
/// (cuBLAS before 11): it runs at twice the rate of fp32. Kernels that memory bounds take b x r /
/// (a W), r what they move over what is counted. A backward pass has two products for each of the
/// forward pass. Device and host, which launches the kernels, work side by side: a pass takes
///
///   (G^3 + H^3)^(1/3),        G the kernels' sum, H = launches times the host's time of one.
///
/// Limits. Nothing is known of input pipelines that cannot keep up, clocks and power limits, and
/// kernels that a program fused by hand. docs/validation/measured.md holds it against what others
/// measured.
namespace gradwire::scenarios {

/// A device in one precision.
struct KernelRoof {
  double flops_per_second = 0;
  double bytes_per_second = 0;  ///< of the memory
  double element_bytes = 4;
  double multiprocessors = 1;
  double matrix = 1, convolution = 1;  ///< shares of the peak
  double winograd = 1;                 ///< gain; 1 beyond fp32
  double memory = 1;                   ///< share of the bandwidth
  double tile = 0;                     ///< g
  double traffic = 1;                  ///< r
  /// FLOP/s of dense products whose weights have a side that is no multiple of 8; 0 = as others.
  double unaligned = 0;
};

/// Of fp16 without tensor cores: twice `flops_per_second` in fp32, of which `share` is reached.
inline double unaligned_rate(double flops_per_second, double share) {
  return 2 * flops_per_second * share;
}

/// Precondition: the profile has a peak in the precision, and constants of kernels.
KernelRoof kernel_roof(const DeviceProfile& device, const std::string& precision);

/// Of one batch's passes.
struct KernelTimes {
  double forward = 0, backward = 0;  ///< seconds of the device
  double launches = 0;               ///< of both passes
};
KernelTimes kernel_times(const Kernel& one, const KernelRoof& roof);

/// Seconds of a pass whose kernels take the device `device` and the host `host`, side by side.
double side_by_side(double device, double host);

}  // namespace gradwire::scenarios
