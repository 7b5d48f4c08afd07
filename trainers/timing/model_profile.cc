#include "trainers/timing/model_profile.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>
#include <map>

#include "trainers/device/cuda_device.h"
#include "trainers/passes/replica.h"
#include "trainers/timing/measure.h"
#include "trainers/timing/op_recorder.h"
#include "trainers/timing/profiled_model.h"
#include "trainers/trainer_error.h"
#include "trainers/updates/update.h"

namespace gradwire::trainers {
namespace {

using Layer = scenarios::WorkloadProfile::Layer;

constexpr int kFewestPasses = 5, kMostPasses = 30, kWarmUps = 2, kUpdates = 5;
constexpr double kMeasuredSeconds = 2;

/// Everything about one request; rows are operations without their views.
class Profiler {
 public:
  Profiler(const ModelProfileRequest& request, const ModelProfileProgress& progress)
      : request_(request),
        progress_(progress),
        device_(request.device == "cuda" ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU)) {
    at::set_num_threads(1);
    result_.device = request.device == "cuda" ? load_cuda() : cpu_model_name();
    model_ = is_torchscript(request.model) ? profiled_script(request, device_)
                                           : profiled_network(request, device_);
  }

  ModelProfileResult run() {
    describe();
    if (request_.measure) measure();
    return std::move(result_);
  }

 private:
  void pass(OpRecorder& recorder) {
    recorder.begin_forward();
    const at::Tensor loss = model_->loss();
    recorder.begin_backward();
    loss.backward();
    recorder.end();
    for (const auto& [name, parameter] : model_->parameters()) parameter.mutable_grad().reset();
  }

  void describe();
  void add_row(const RecordedOp& op, const std::vector<at::Tensor>& leaves, std::size_t number);
  void note_unused();
  void measure();
  void one_measured_pass(OpRecorder& recorder);
  std::vector<double> by_row(const std::vector<double>& by_op) const;
  std::vector<double> backward_by_row(OpRecorder& recorder) const;
  void take_medians();
  Seconds measure_update() const;

  const ModelProfileRequest& request_;
  const ModelProfileProgress& progress_;
  at::Device device_;
  std::unique_ptr<ProfiledModel> model_;
  ModelProfileResult result_;
  std::vector<std::size_t> row_of_op_;
  std::map<const void*, std::string> used_;              ///< parameters that have a row
  std::vector<std::vector<double>> forward_, backward_;  ///< [row][pass]
  std::vector<double> whole_forward_, whole_backward_, whole_;
};

/// A view's time, and the parameter that it looks at, belong to the operation after it.
void Profiler::describe() {
  OpRecorder recorder(device_, true);
  pass(recorder);
  std::vector<at::Tensor> leaves;
  const std::vector<RecordedOp>& ops = recorder.ops();
  for (std::size_t i = 0; i < ops.size(); ++i) {
    leaves.insert(leaves.end(), ops[i].leaves.begin(), ops[i].leaves.end());
    row_of_op_.push_back(result_.table.layers.size());
    if (ops[i].view && i + 1 < ops.size()) continue;
    add_row(ops[i], leaves, i);
    leaves.clear();
  }
  note_unused();
}

/// "features.0.weight" is the tensor "weight" of "features.0".
std::pair<std::string, std::string> parted(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos) return {name, "value"};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

void Profiler::add_row(const RecordedOp& op, const std::vector<at::Tensor>& leaves,
                       std::size_t number) {
  Layer layer;
  layer.kind = op.kind;
  for (const at::Tensor& leaf : leaves) {
    if (!used_.emplace(leaf.unsafeGetTensorImpl(), op.kind).second) continue;  // tied
    for (const auto& [name, parameter] : model_->parameters()) {
      if (!parameter.is_same(leaf)) continue;
      if (layer.name.empty()) layer.name = parted(name).first;
      const bool here = parted(name).first == layer.name;
      layer.tensors.push_back({here ? parted(name).second : name, leaf.sizes().vec()});
      layer.elements += leaf.numel();
    }
  }
  if (layer.name.empty()) layer.name = op.kind + "_" + std::to_string(number);
  layer.flops = static_cast<std::int64_t>(op.flops / request_.batch);
  layer.inputs = op.inputs / request_.batch;
  layer.activations = op.outputs / request_.batch;
  result_.table.layers.push_back(std::move(layer));
}

void Profiler::note_unused() {
  for (const auto& [name, parameter] : model_->parameters())
    if (!used_.contains(parameter.unsafeGetTensorImpl())) result_.unused.push_back(name);
  if (result_.table.elements() == 0)
    throw TrainerError("profile", request_.model, "its forward pass takes no trainable parameter");
}

std::vector<double> Profiler::by_row(const std::vector<double>& by_op) const {
  std::vector<double> rows(result_.table.layers.size());
  for (std::size_t i = 0; i < by_op.size(); ++i) rows[row_of_op_[i]] += by_op[i];
  return rows;
}

/// Nodes without a number (they add a gradient to its leaf) go with the node before them.
std::vector<double> Profiler::backward_by_row(OpRecorder& recorder) const {
  std::vector<double> rows(result_.table.layers.size());
  const std::vector<double> times = recorder.backward_times();
  const std::vector<RecordedOp>& ops = recorder.ops();
  std::size_t row = rows.size() - 1;
  for (std::size_t n = 0; n < times.size(); ++n) {
    const auto sequence = static_cast<std::uint64_t>(recorder.nodes()[n]);
    const auto op = std::find_if(ops.begin(), ops.end(), [&](const RecordedOp& each) {
      return each.first_sequence <= sequence && sequence < each.end_sequence;
    });
    if (op != ops.end()) row = row_of_op_[static_cast<std::size_t>(op - ops.begin())];
    rows[row] += times[n];
  }
  return rows;
}

void Profiler::one_measured_pass(OpRecorder& recorder) {
  pass(recorder);
  if (recorder.ops().size() != row_of_op_.size())
    throw TrainerError("profile", request_.model,
                       "its passes differ from each other: " + std::to_string(row_of_op_.size()) +
                           " operations in the first, " + std::to_string(recorder.ops().size()) +
                           " in a later one",
                       "profile a model whose passes are all alike");
  const std::vector<double> forward = by_row(recorder.forward_times());
  const std::vector<double> backward = backward_by_row(recorder);
  double sums[2] = {0, 0};
  for (std::size_t r = 0; r < forward.size(); ++r) {
    forward_[r].push_back(forward[r]);
    backward_[r].push_back(backward[r]);
    sums[0] += forward[r];
    sums[1] += backward[r];
  }
  whole_forward_.push_back(sums[0]);
  whole_backward_.push_back(sums[1]);
  whole_.push_back(sums[0] + sums[1]);
}

void Profiler::measure() {
  const MachineLock alone;
  OpRecorder recorder(device_, false);
  for (int i = 0; i < kWarmUps; ++i) pass(recorder);
  forward_.resize(result_.table.layers.size());
  backward_.resize(result_.table.layers.size());
  double spent = 0;
  for (int i = 0; i < kMostPasses && (i < kFewestPasses || spent < kMeasuredSeconds); ++i) {
    if (progress_) progress_(i, kMostPasses);
    one_measured_pass(recorder);
    spent += whole_.back();
  }
  take_medians();
  result_.table.update = measure_update();
}

void Profiler::take_medians() {
  const double batch = request_.batch;
  for (std::size_t r = 0; r < forward_.size(); ++r) {
    Layer& layer = result_.table.layers[r];
    std::vector<double> both;
    for (std::size_t i = 0; i < forward_[r].size(); ++i)
      both.push_back(forward_[r][i] + backward_[r][i]);
    layer.has_times = true;
    layer.forward_per_sample = Seconds(spread_of(forward_[r]).median / batch);
    layer.backward_per_sample = Seconds(spread_of(backward_[r]).median / batch);
    layer.spread = spread_of(both).relative_range;
  }
  result_.forward = Seconds(spread_of(whole_forward_).median);
  result_.backward = Seconds(spread_of(whole_backward_).median);
  result_.spread = spread_of(whole_).relative_range;
  result_.repetitions = static_cast<int>(whole_.size());
}

/// On the CPU the trainers' optimiser, on a device the same arithmetic in LibTorch's operations.
Seconds Profiler::measure_update() const {
  const std::int64_t n = result_.table.elements();
  if (device_.is_cpu()) {
    std::vector<float> weights(static_cast<std::size_t>(n), 1.0f);
    const std::vector<float> gradient(weights.size(), 1e-6f);
    const Parameter all{.name = "all", .shape = {n}};
    const Layout layout({&all, 1}, Bytes(0));
    Update update({"sgd", {{"momentum", "0.9"}}}, layout);
    return median_time(kUpdates, [&] { update.step(0.05, gradient, weights); });
  }
  const at::NoGradGuard no_gradients;
  at::Tensor weights = at::ones({n}, device_), momentum = at::zeros({n}, device_);
  const at::Tensor gradient = at::full({n}, 1e-6, device_);
  std::vector<double> times;
  for (int i = 0; i <= kUpdates; ++i) {
    Marks marks(device_);
    marks.mark();
    momentum.mul_(0.9).add_(gradient);
    weights.sub_(momentum, 0.05);
    marks.mark();
    if (i > 0) times.push_back(marks.intervals()[0]);
  }
  return Seconds(spread_of(times).median);
}

}  // namespace

ModelProfileResult profile_model(const ModelProfileRequest& request,
                                 const ModelProfileProgress& progress) {
  return Profiler(request, progress).run();
}

}  // namespace gradwire::trainers
