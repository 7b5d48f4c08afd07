#pragma once
#include <optional>
#include <string>

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
  /// "cpu", "scale=FACTOR" or "profile=DEVICE[:PRECISION]" (fp32), where DEVICE is a shipped
  /// profile or a path. Throws Error(kUsage) for another text, a device without peak figures, or a
  /// precision that it has none of; what load_device_profile() throws.
  explicit TorchCompute(const std::string& text);

  /// Of a recording, of whose fp32 matrix products a second of processor time makes
  /// `flops_per_second` operations. Throws Error(kFailure) where a profile needs it and it is not
  /// known.
  ComputeScale scale(std::optional<double> flops_per_second, const std::string& recording) const;

 private:
  double factor_ = 1;
  std::optional<scenarios::DeviceProfile> device_;
  std::string precision_;
};

/// Operations a second that large matrix products reach on a device: the peak of a precision times
/// the kernels' share of it, or the efficiency of a device without kernels. Throws Error(kUsage)
/// where it has no such peak.
double matrix_flops_per_second(const scenarios::DeviceProfile& device,
                               const std::string& precision);

}  // namespace gradwire::cli
