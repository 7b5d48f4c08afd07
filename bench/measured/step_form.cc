#include "bench/measured/step_form.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/measured/collective_form.h"
#include "scenarios/profile.h"

namespace gradwire::bench {
namespace {

using Kind = StepKernel::Kind;
constexpr double kShortestKernel = 2e-6;  // seconds
constexpr double kTileSide = 128;

/// Streaming multiprocessors, from the makers' data sheets.
const std::map<std::string, int>& multiprocessors() {
  static const std::map<std::string, int> counts = {
      {"gtx-1080", 20}, {"p100", 56},        {"v100", 80}, {"t4", 40},
      {"a100", 108},    {"rtx-2080-ti", 68}, {"h100", 132}};
  return counts;
}

bool uses_tensor_cores(const std::string& precision) {
  return precision == "amp" || precision == "fp16" || precision == "bf16" || precision == "fp8";
}

std::string peak_of(const std::string& precision) {
  return uses_tensor_cores(precision) ? "fp16" : precision;
}

}  // namespace

std::string why_no_step_form(const MeasuredStep& step) {
  if (const std::string reason = why_no_work(step); !reason.empty()) return reason;
  if (!multiprocessors().contains(step.device)) return "there is no device profile " + step.device;
  const auto profile = scenarios::load_device_profile(step.device, "");
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
  element_bytes_ = tensor_cores_ ? 2 : 4;
  flops_ = profile.peak->compute.at(peak_of(step.precision)).flops_per_second;
  memory_bytes_ = profile.peak->memory_bytes_per_second;
  multiprocessors_ = multiprocessors().at(step.device);
}

double StepForm::product(const StepKernel& one, double m, double n, double k,
                         const Constants& constants) const {
  const bool matrix = one.kind == Kind::kMatrix;
  double efficiency =
      tensor_cores_ ? of(constants, matrix ? Constant::kMatrixTensor : Constant::kConvolutionTensor)
                    : of(constants, matrix ? Constant::kMatrixFp32 : Constant::kConvolutionFp32);
  if (one.kind == Kind::kWinograd && !tensor_cores_)
    efficiency *= of(constants, Constant::kWinograd);
  if (matrix && step_.precision == "fp8") efficiency *= of(constants, Constant::kFp8);
  double tiles = m / kTileSide * n / kTileSide * one.count;
  const double enough = 4 * multiprocessors_;
  if (tiles < enough) tiles = std::max(tiles, std::min(enough, tiles * std::max(1.0, k / 512)));
  const double used = tiles / (tiles + of(constants, Constant::kTile) * multiprocessors_);
  const double computing = 2 * m * n * k * one.count / (flops_ * efficiency * used);
  const double moving =
      element_bytes_ * one.forward / (memory_bytes_ * of(constants, Constant::kMemory));
  return std::max(computing, moving) + kShortestKernel;
}

void StepForm::add(const StepKernel& one, const Constants& constants, Pass& pass) const {
  pass.launches += one.repeats * (one.forward_kernels + one.backward_kernels);
  if (one.kind == Kind::kMemory) {
    const double seconds_an_element = element_bytes_ * of(constants, Constant::kTraffic) *
                                      (step_.compiled ? of(constants, Constant::kCompiled) : 1) /
                                      (memory_bytes_ * of(constants, Constant::kMemory));
    pass.forward +=
        one.repeats * (one.forward * seconds_an_element + one.forward_kernels * kShortestKernel);
    pass.backward +=
        one.repeats * (one.backward * seconds_an_element + one.backward_kernels * kShortestKernel);
    return;
  }
  const double forward = one.repeats * product(one, one.m, one.n, one.k, constants);
  if (one.kind == Kind::kAttention) {
    pass.forward += 2 * forward;
    pass.backward += (one.fused ? 5 : 4) * forward;  // fused: the scores once more
    return;
  }
  pass.forward += forward;
  if (one.input_gradient) pass.backward += forward;
  pass.backward += one.repeats * product(one, one.k, one.n, one.m, constants);
}

double StepForm::reduction(const Constants& constants) const {
  if (step_.workers == 1) return 0;
  double bandwidth =
      node_bytes_per_second(step_.device, std::min(step_.workers, step_.gpus_per_node));
  if (step_.workers > step_.gpus_per_node) {
    const double between = step_.between_nodes.value() / 8;
    bandwidth = step_.gpus_per_node == 1 ? between : std::min(bandwidth, between);
  }
  const double whole = ring_share(step_.workers) * element_bytes_ * work_.parameters / bandwidth;
  const double exposed = of(constants, Constant::kExposed);
  if (step_.sharding == "fsdp") return 0.02 * 1.5 * exposed * whole;
  if (step_.method == "local-sgd")
    return exposed * whole / step_.local_steps + of(constants, Constant::kParallel);
  const bool convolutional = step_.layers == 0;
  return exposed * (convolutional ? 0.3 : 1.0) * whole + of(constants, Constant::kParallel);
}

Seconds StepForm::time(const Constants& constants) const {
  Pass pass;
  for (const StepKernel& one : work_.kernels) add(one, constants, pass);
  double device = pass.forward + pass.backward;
  if (step_.checkpointing == "selective") device += 0.35 * pass.forward;
  if (step_.checkpointing == "full") device += pass.forward;
  const double host = pass.launches * of(constants, Constant::kHost) * (step_.compiled ? 0.4 : 1.0);
  const double both = std::pow(std::pow(device, 3) + std::pow(host, 3), 1.0 / 3);
  const double shards = step_.sharding == "fsdp" ? step_.workers : 1;
  const double update = of(constants, Constant::kUpdate) * work_.parameters / shards *
                        work_.update_bytes / memory_bytes_;
  return Seconds(step_.accumulated * both + update + of(constants, Constant::kStep) +
                 reduction(constants));
}

}  // namespace gradwire::bench
