#include "bench/measured/step_form.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "bench/measured/collective_form.h"
#include "bench/measured/profiles.h"
#include "bench/measured/rank_layout.h"

namespace gradwire::bench {
namespace {

bool uses_tensor_cores(const std::string& precision) {
  return precision == "amp" || precision == "fp16" || precision == "bf16" || precision == "fp8";
}

/// What boards may draw, by data sheet, W; 0 = not known.
double board_watts(const std::string& device) {
  static const std::map<std::string, double> watts = {
      {"gtx-1080", 180},    {"gtx-1080-ti", 250}, {"p100", 300},      {"p40", 250},
      {"v100", 300},        {"v100-pcie", 250},   {"t4", 70},         {"a10", 150},
      {"a30", 165},         {"a40", 300},         {"a6000", 300},     {"a100", 400},
      {"a100-80gb", 400},   {"h100", 700},        {"h100-pcie", 350}, {"h200", 700},
      {"b200", 1000},       {"l4", 72},           {"l40s", 350},      {"mi300x", 750},
      {"rtx-2080-ti", 250}, {"rtx-3090", 350},    {"rtx-4090", 450},
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

std::string why_no_program(const MeasuredStep& step) {
  static const std::set<std::string> sharding = {"", "zero-1", "zero-2", "fsdp"},
                                     checkpointing = {"", "selective", "full"};
  if (!step.method.empty() && step.method != "local-sgd")
    return "method " + step.method + " is not in this form";
  if (!sharding.contains(step.sharding))
    return "sharding " + step.sharding + " is not in this form";
  if (!checkpointing.contains(step.checkpointing))
    return "checkpointing " + step.checkpointing + " is not in this form";
  return "";
}

std::string why_no_links(const MeasuredStep& step) {
  if (step.gpus() > step.gpus_per_node && step.between_nodes.value() == 0)
    return "the bandwidth between its nodes is not stated";
  if (step.gpus() > 1 && step.gpus_per_node > 1 && node_bytes_per_second(step.device, 2) == 0)
    return "the bandwidth between GPUs of a node of " + step.device + " is not known";
  return "";
}

}  // namespace

std::string why_no_step_form(const MeasuredStep& step) {
  if (const std::string reason = why_no_work(step); !reason.empty()) return reason;
  const scenarios::DeviceProfile* profile = shipped_device(step.device);
  if (!profile) return "there is no device profile " + step.device;
  if (!profile->kernels) return "device profile " + step.device + " has no constants of kernels";
  if (!profile->peak || !profile->peak->compute.contains(peak_of(step.precision)))
    return "device profile " + step.device + " has no peak in " + step.precision;
  if (step.batch == 0) return "its batch is not stated (batch_per_gpu, micro_batch, global_batch)";
  if (const std::string reason = why_no_program(step); !reason.empty()) return reason;
  if (step.sharding == "fsdp" && step.layers == 0)
    return "sharded weights are in this form for transformers alone";
  if (step.power_limit_watts > 0 && board_watts(step.device) == 0)
    return "what a board of " + step.device + " may draw is not known";
  return why_no_links(step);
}

StepForm::StepForm(const MeasuredStep& step) : step_(step), work_(work_of(step)) {
  const scenarios::DeviceProfile& profile = *shipped_device(step.device);
  tensor_cores_ = uses_tensor_cores(step.precision);
  roof_ = scenarios::kernel_roof(profile, peak_of(step.precision));
  if (step.memory_bytes_per_second > 0) roof_.bytes_per_second = step.memory_bytes_per_second;
  if (step.power_limit_watts > 0)
    roof_.flops_per_second *= std::cbrt(step.power_limit_watts / board_watts(step.device));
  plain_flops_ = profile.peak->compute.at("fp32").flops_per_second;
  tensor_reductions_ = tensor_reductions();
  hand_over_ = hand_over();
}

scenarios::KernelRoof StepForm::roof_with(const Constants& constants) const {
  scenarios::KernelRoof roof = roof_;
  // The share of tf32 is told from that of other products on tensor cores.
  const double tf32 = step_.precision == "tf32" ? kTf32OfFp16 : 0;
  const double gain = tf32 > 0                   ? tf32
                      : step_.precision == "fp8" ? of(constants, Constant::kFp8)
                                                 : 1;
  const bool tensor_cores = tensor_cores_ || tf32 > 0;
  roof.matrix =
      gain * of(constants, tensor_cores ? Constant::kMatrixTensor : Constant::kMatrixFp32);
  roof.convolution =
      (tf32 > 0 ? tf32 : 1) *
      of(constants, tensor_cores ? Constant::kConvolutionTensor : Constant::kConvolutionFp32);
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
  if (step_.checkpointing != "selective") return 1;
  if (one.kind == scenarios::Kernel::Kind::kMemory) return 1;
  return one.kind == scenarios::Kernel::Kind::kMatrix ? 0.5 : 0;
}

double StepForm::tensor_reductions() const {
  if (step_.tensor_parallel == 1) return 0;
  const RankGroup group = tensor_group(step_);
  MeasuredCollective one;
  one.collective = "all-reduce";
  one.device = step_.device;
  one.workers = group.members;
  one.gpus_per_node = group.members_per_node;
  one.between_nodes = group.between_nodes;
  one.bytes = Bytes(static_cast<std::int64_t>(work_.boundary * roof_.element_bytes));
  std::vector<double> usual;
  for (const auto& unknown : collective_unknowns()) usual.push_back(unknown.prior_mean);
  const double layers = std::ceil(static_cast<double>(step_.layers) / step_.pipeline_parallel);
  return layers * (step_.checkpointing == "full" ? 6 : 4) * collective_time(one, usual).value();
}

double StepForm::hand_over() const {
  if (step_.pipeline_parallel == 1) return 0;
  const double bytes = work_.boundary * roof_.element_bytes / step_.tensor_parallel;
  return bytes / ring_bytes_per_second(step_.device, stage_neighbours(step_));
}

/// Of all weights after local steps, for each of those.
double StepForm::average(const Constants& constants, double whole) const {
  return (scenarios::side_by_side(
              of(constants, Constant::kExposed) * whole,
              kAverageLaunches * work_.tensors * of(constants, Constant::kHost)) +
          of(constants, Constant::kParallel)) /
         step_.local_steps;
}

double StepForm::reduction(const Constants& constants, const Passes& passes) const {
  if (step_.workers == 1) return 0;
  const double whole = ring_share(step_.workers) * roof_.element_bytes * work_.parameters /
                       ring_bytes_per_second(step_.device, data_group(step_));
  const double exposed = of(constants, Constant::kExposed);
  if (step_.method == "local-sgd") return average(constants, whole);
  // The first layer's weights and the last one's gradients, which go in fp32.
  if (step_.sharding == "fsdp")
    return std::max(1.5 / step_.layers * exposed * whole,
                    2.0 * step_.accumulated * whole - passes.time);
  const bool convolutional = step_.layers == 0;
  return std::max(exposed * (convolutional ? 0.3 : 1.0) * whole, whole - passes.last_backward) +
         of(constants, Constant::kParallel);
}

StepForm::Pass StepForm::pass(const Constants& constants, const scenarios::KernelRoof& roof,
                              bool with_head) const {
  scenarios::KernelTimes taken;
  double again = 0;
  const auto add = [&](const std::vector<scenarios::Kernel>& some, bool recomputed) {
    for (const scenarios::Kernel& one : some) {
      const scenarios::KernelTimes own = scenarios::kernel_times(one, roof);
      taken.forward += own.forward;
      taken.backward += own.backward;
      taken.launches += own.launches;
      if (recomputed) again += computed_again(one) * own.forward;
    }
  };
  const bool full = step_.checkpointing == "full";
  add(work_.kernels, full || (step_.checkpointing == "selective" && step_.layers > 0));
  if (with_head) add(work_.head, full);
  const double host =
      taken.launches * of(constants, Constant::kHost) * (step_.compiled ? 0.4 : 1.0);
  const double kernels = taken.forward + taken.backward + again;
  const double time = scenarios::side_by_side(kernels, host) + tensor_reductions_;
  return {time, time * (taken.backward + again) / kernels};
}

StepForm::Passes StepForm::passes(const Constants& constants) const {
  const scenarios::KernelRoof roof = roof_with(constants);
  const Pass last = pass(constants, roof, true);
  const double behind = step_.pipeline_parallel - 1;
  if (behind == 0) return {step_.accumulated * last.time, last.backward};
  const double stage = pass(constants, roof, false).time;
  return {step_.accumulated * last.time + behind * stage +
              2 * (step_.accumulated + behind) * hand_over_,
          last.backward};
}

Seconds StepForm::time(const Constants& constants) const {
  const double shards = step_.sharding.empty() ? 1 : step_.workers;
  const double moved = of(constants, Constant::kUpdate) * work_.parameters / shards *
                       work_.update_bytes / roof_.bytes_per_second;
  const double update =
      scenarios::side_by_side(moved, work_.update_launches * of(constants, Constant::kHost));
  const Passes all = passes(constants);
  return Seconds(all.time + update + of(constants, Constant::kStep) + reduction(constants, all));
}

}  // namespace gradwire::bench
