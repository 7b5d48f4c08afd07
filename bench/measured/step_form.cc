#include "bench/measured/step_form.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measured/collective_form.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::bench {
namespace {

bool uses_tensor_cores(const std::string& precision) {
  return precision == "amp" || precision == "fp16" || precision == "bf16" || precision == "fp8";
}

/// What boards may draw, by data sheet, W; 0 = not known.
double board_watts(const std::string& device) {
  static const std::map<std::string, double> watts = {
      {"gtx-1080", 180}, {"p100", 300},     {"p40", 250},         {"v100", 300},
      {"t4", 70},        {"a100", 400},     {"h100", 700},        {"h200", 700},
      {"b200", 1000},    {"rtx-3090", 350}, {"rtx-2080-ti", 250},
  };
  const auto found = watts.find(device);
  return found == watts.end() ? 0 : found->second;
}

/// Of each tensor's average after local steps: the change since the last one, the reduction, its
/// share, the sum, and the copy that the next change is told from.
constexpr double kAverageLaunches = 5;

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
  if (step.power_limit_watts > 0 && board_watts(step.device) == 0)
    return "what a board of " + step.device + " may draw is not known";
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
  if (step.memory_bytes_per_second > 0) roof_.bytes_per_second = step.memory_bytes_per_second;
  if (step.power_limit_watts > 0)
    roof_.flops_per_second *= std::cbrt(step.power_limit_watts / board_watts(step.device));
  plain_flops_ = profile.peak->compute.at("fp32").flops_per_second;
}

scenarios::KernelRoof StepForm::roof_with(const Constants& constants) const {
  scenarios::KernelRoof roof = roof_;
  roof.matrix = of(constants, tensor_cores_ ? Constant::kMatrixTensor : Constant::kMatrixFp32) *
                (step_.precision == "fp8" ? of(constants, Constant::kFp8) : 1);
  roof.convolution =
      of(constants, tensor_cores_ ? Constant::kConvolutionTensor : Constant::kConvolutionFp32);
  roof.winograd = step_.precision == "fp32" ? of(constants, Constant::kWinograd) : 1;
  if (roof.unaligned > 0)
    roof.unaligned = scenarios::unaligned_rate(plain_flops_, of(constants, Constant::kMatrixFp32));
  roof.memory = of(constants, Constant::kMemory);
  roof.tile = of(constants, Constant::kTile);
  roof.traffic =
      of(constants, Constant::kTraffic) * (step_.compiled ? of(constants, Constant::kCompiled) : 1);
  return roof;
}

double StepForm::computed_again(const scenarios::Kernel& one) const {
  if (step_.checkpointing == "full") return 1;
  if (step_.checkpointing != "selective" || one.repeats == 1) return 0;  // layers alone
  if (one.kind == scenarios::Kernel::Kind::kMemory) return 1;
  return one.kind == scenarios::Kernel::Kind::kMatrix ? 0.5 : 0;
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
  // The first layer's weights and the last one's gradients, which go in fp32.
  if (step_.sharding == "fsdp") return 1.5 / step_.layers * exposed * whole;
  if (step_.method == "local-sgd")
    return (scenarios::side_by_side(exposed * whole, kAverageLaunches * work_.tensors *
                                                         of(constants, Constant::kHost)) +
            of(constants, Constant::kParallel)) /
           step_.local_steps;
  const bool convolutional = step_.layers == 0;
  return exposed * (convolutional ? 0.3 : 1.0) * whole + of(constants, Constant::kParallel);
}

Seconds StepForm::time(const Constants& constants) const {
  const scenarios::KernelRoof roof = roof_with(constants);
  scenarios::KernelTimes pass;
  double again = 0;
  for (const scenarios::Kernel& one : work_.kernels) {
    const scenarios::KernelTimes taken = scenarios::kernel_times(one, roof);
    pass.forward += taken.forward;
    pass.backward += taken.backward;
    pass.launches += taken.launches;
    again += computed_again(one) * taken.forward;
  }
  const double device = pass.forward + pass.backward + again;
  const double host = pass.launches * of(constants, Constant::kHost) * (step_.compiled ? 0.4 : 1.0);
  const double both = scenarios::side_by_side(device, host);
  const double shards = step_.sharding == "fsdp" ? step_.workers : 1;
  const double moved = of(constants, Constant::kUpdate) * work_.parameters / shards *
                       work_.update_bytes / roof_.bytes_per_second;
  const double update =
      scenarios::side_by_side(moved, work_.update_launches * of(constants, Constant::kHost));
  return Seconds(step_.accumulated * both + update + of(constants, Constant::kStep) +
                 reduction(constants));
}

}  // namespace gradwire::bench
