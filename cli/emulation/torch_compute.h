#pragma once
#include <optional>
#include <string>

#include "bridge/recording.h"
#include "scenarios/profiles/profile.h"

/// `gradwire torch --compute`: what ranks' recorded processor time stands for.
namespace gradwire::cli {

/// A factor of recorded times.
struct ComputeScale {
  double factor = 1;
  std::string note;  ///< for people: how it came about; empty where the user said it
};

class TorchCompute {
 public:
  /// "cpu", "scale=FACTOR", "flops=RATE" or "profile=DEVICE[:PRECISION]" (fp32), where DEVICE is a
  /// shipped profile or a path. Throws Error(kUsage) for another text, a device without peak
  /// figures, or a precision that it has none of; what load_device_profile() throws.
  explicit TorchCompute(const std::string& text);

  /// Of a recording with that header. Throws Error(kFailure) where a device's rate needs that of
  /// the machine that recorded and it is not known, and where operations were recorded in place of
  /// times and no rate or factor was given.
  ComputeScale scale(const bridge::Header& header, const std::string& recording) const;

 private:
  ComputeScale by_rate(const bridge::Header& header, const std::string& recording) const;

  std::optional<double> factor_;
  std::optional<double> rate_;  ///< operations a second
  std::optional<scenarios::DeviceProfile> device_;
  std::string precision_;
};

/// Operations a second that large matrix products reach on a device: the peak of a precision times
/// the kernels' share of it, or the efficiency of a device without kernels. Throws Error(kUsage)
/// where it has no such peak.
double matrix_flops_per_second(const scenarios::DeviceProfile& device,
                               const std::string& precision);

}  // namespace gradwire::cli
