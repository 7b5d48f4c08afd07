#include "bench/measured/step_work.h"

#include <algorithm>

#include "bench/measured/profiles.h"
#include "bench/measured/transformer_shape.h"
#include "bench/measured/transformer_work.h"
#include "scenarios/kernels/layer_kernels.h"

namespace gradwire::bench {
namespace {

using scenarios::Kernel;
constexpr double kMomentumBytes = 20;  // three reads, two writes of fp32

StepWork from_table(const MeasuredStep& step) {
  const scenarios::WorkloadProfile& table = *shipped_layer_table(step.workload);
  StepWork work;
  work.parameters = static_cast<double>(table.elements());
  work.update_bytes = kMomentumBytes;
  for (const auto& layer : table.layers) {
    if (layer.elements > 0)
      work.tensors += static_cast<double>(std::max<std::size_t>(1, layer.tensors.size()));
    // Beside the normalisation before it a ReLU adds a read of its output to the backward pass.
    if (step.fused_batch_norm && layer.kind == "relu")
      work.kernels.push_back(
          scenarios::memory_kernel(0, step.batch * static_cast<double>(layer.activations), 0, 0));
    else
      for (const Kernel& one : scenarios::layer_kernels(layer, step.batch))
        work.kernels.push_back(one);
  }
  return work;
}

std::string why_no_transformer(const MeasuredStep& step) {
  const TransformerShape shape = shape_of(step);
  if (!shape.is_whole())
    return "its shape is not stated (layers, hidden, heads, sequence, vocabulary)";
  if (shape.heads % step.tensor_parallel != 0)
    return "its heads cannot be shared out by tensor parallelism";
  if (step.pipeline_parallel > 1 && !step.micro_batch_stated)
    return "how many samples go through its pipeline at once is not stated (micro_batch)";
  if (step.pipeline_parallel > shape.layers) return "it has more pipeline stages than layers";
  return "";
}

}  // namespace

std::string why_no_work(const MeasuredStep& step) {
  if (is_transformer(step.workload)) return why_no_transformer(step);
  if (step.tensor_parallel > 1 || step.pipeline_parallel > 1)
    return "tensor and pipeline parallelism are in this form for transformers alone";
  const scenarios::WorkloadProfile* table = shipped_layer_table(step.workload);
  if (!table) return "there is no layer table " + step.workload;
  for (const auto& layer : table->layers)
    if (layer.has_times) return "layer table " + step.workload + " has times of its own";
  return "";
}

StepWork work_of(const MeasuredStep& step) {
  return is_transformer(step.workload) ? transformer_work(step) : from_table(step);
}

}  // namespace gradwire::bench
