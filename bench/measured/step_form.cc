#include "bench/measured/step_form.h"

#include <algorithm>

#include "bench/measured/collective_form.h"
#include "scenarios/profile.h"

namespace gradwire::bench {
namespace {

bool uses_tensor_cores(const std::string& precision) {
  return precision == "amp" || precision == "fp16" || precision == "bf16" || precision == "fp8";
}

std::string peak_of(const std::string& precision) {
  return uses_tensor_cores(precision) ? "fp16" : precision;
}

}  // namespace

std::string why_no_step_form(const MeasuredStep& step) {
  if (const std::string reason = why_no_work(step); !reason.empty()) return reason;
  const std::vector<std::string> devices = scenarios::shipped_profiles("device");
  if (!std::ranges::count(devices, step.device)) return "there is no device profile " + step.device;
  const auto profile = scenarios::load_device_profile(step.device, "");
  if (!profile.kernels) return "device profile " + step.device + " has no constants of kernels";
  if (!profile.peak || !profile.peak->compute.contains(peak_of(step.precision)))
    return "device profile " + step.device + " has no peak in " + step.precision;
  if (!step.method.empty() && step.method != "local-sgd")
    return "method " + step.method + " is not in this form";
  if (!step.sharding.empty() && step.sharding != "fsdp")
    return "sharding " + step.sharding + " is not in this form";
  if (step.workers > step.gpus_per_node && step.between_nodes.value() == 0)
    return "the bandwidth between its nodes is not stated";
  if (step.workers > 1 && node_bytes_per_second(step.device, 2) == 0)
    return "the bandwidth between GPUs of a node of " + step.device + " is not known";
  return "";
}

StepForm::StepForm(const MeasuredStep& step) : step_(step), work_(work_of(step)) {
  const auto profile = scenarios::load_device_profile(step.device, "");
  tensor_cores_ = uses_tensor_cores(step.precision);
  roof_ = scenarios::kernel_roof(profile, peak_of(step.precision));
}

scenarios::KernelRoof StepForm::roof_with(const Constants& constants) const {
  scenarios::KernelRoof roof = roof_;
  roof.matrix = of(constants, tensor_cores_ ? Constant::kMatrixTensor : Constant::kMatrixFp32) *
                (step_.precision == "fp8" ? of(constants, Constant::kFp8) : 1);
  roof.convolution =
      of(constants, tensor_cores_ ? Constant::kConvolutionTensor : Constant::kConvolutionFp32);
  roof.winograd = step_.precision == "fp32" ? of(constants, Constant::kWinograd) : 1;
  roof.memory = of(constants, Constant::kMemory);
  roof.tile = of(constants, Constant::kTile);
  roof.traffic =
      of(constants, Constant::kTraffic) * (step_.compiled ? of(constants, Constant::kCompiled) : 1);
  return roof;
}

double StepForm::reduction(const Constants& constants) const {
  if (step_.workers == 1) return 0;
  double bandwidth =
      node_bytes_per_second(step_.device, std::min(step_.workers, step_.gpus_per_node));
  if (step_.workers > step_.gpus_per_node) {
    const double between = step_.between_nodes.value() / 8;
    bandwidth = step_.gpus_per_node == 1 ? between : std::min(bandwidth, between);
  }
  const double whole =
      ring_share(step_.workers) * roof_.element_bytes * work_.parameters / bandwidth;
  const double exposed = of(constants, Constant::kExposed);
  if (step_.sharding == "fsdp") return 0.02 * 1.5 * exposed * whole;
  if (step_.method == "local-sgd")
    return exposed * whole / step_.local_steps + of(constants, Constant::kParallel);
  const bool convolutional = step_.layers == 0;
  return exposed * (convolutional ? 0.3 : 1.0) * whole + of(constants, Constant::kParallel);
}

Seconds StepForm::time(const Constants& constants) const {
  const scenarios::KernelRoof roof = roof_with(constants);
  scenarios::KernelTimes pass;
  for (const scenarios::Kernel& one : work_.kernels) {
    const scenarios::KernelTimes taken = scenarios::kernel_times(one, roof);
    pass.forward += taken.forward;
    pass.backward += taken.backward;
    pass.launches += taken.launches;
  }
  double device = pass.forward + pass.backward;
  if (step_.checkpointing == "selective") device += 0.35 * pass.forward;
  if (step_.checkpointing == "full") device += pass.forward;
  const double host = pass.launches * of(constants, Constant::kHost) * (step_.compiled ? 0.4 : 1.0);
  const double both = scenarios::side_by_side(device, host);
  const double shards = step_.sharding == "fsdp" ? step_.workers : 1;
  const double update = of(constants, Constant::kUpdate) * work_.parameters / shards *
                        work_.update_bytes / roof_.bytes_per_second;
  return Seconds(step_.accumulated * both + update + of(constants, Constant::kStep) +
                 reduction(constants));
}

}  // namespace gradwire::bench
