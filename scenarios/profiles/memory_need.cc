#include "scenarios/profiles/memory_need.h"

#include <algorithm>
#include <string_view>

#include "scenarios/kernels/model_family.h"
#include "sim/graph/chunk_range.h"

namespace gradwire::scenarios {

namespace {

/// Written in place, or a copy of what is not kept itself.
bool keeps_nothing(std::string_view kind) {
  return kind == "relu" || kind == "add" || kind.ends_with("-dropout-add") ||
         kind.ends_with("-heads");
}

/// Elements that the forward pass keeps of a sample.
double kept(const WorkloadProfile& workload, int segments) {
  const auto count = static_cast<std::int64_t>(workload.layers.size());
  double most = 0, cuts = 0;
  for (int s = 0; s < std::max(1, segments); ++s) {
    const auto range = sim::chunk_range(count, std::max(1, segments), s);
    double own = 0;
    for (std::int64_t l = range.first; l < range.first + range.count; ++l) {
      const WorkloadProfile::Layer& layer = workload.layers[static_cast<std::size_t>(l)];
      if (!keeps_nothing(layer.kind)) own += static_cast<double>(layer.activations);
    }
    most = std::max(most, own);
    if (s > 0)
      cuts += static_cast<double>(
          workload.layers[static_cast<std::size_t>(range.first - 1)].activations);
  }
  return most + cuts;
}

}  // namespace

MemoryNeed memory_need(const WorkloadProfile& workload, const MemoryPlan& plan) {
  const double parameters = static_cast<double>(workload.elements());
  const bool half = plan.precision == "fp16";
  const auto share = [&](int stage) { return plan.zero >= stage ? 1.0 / plan.workers : 1.0; };
  MemoryNeed need;
  need.weights = (half ? 6 : 4) * parameters * share(3);
  need.gradients = 4 * parameters * share(2);
  const double state = trained_by_adam(workload) ? 8 : 4;
  need.optimizer = plan.state_on_host ? 0 : state * parameters * share(1);
  need.activations = (half ? 2.0 : 4.0) * plan.batch * kept(workload, plan.segments);
  return need;
}

}  // namespace gradwire::scenarios
