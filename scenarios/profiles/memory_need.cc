#include "scenarios/profiles/memory_need.h"

namespace gradwire::scenarios {

MemoryNeed memory_need(const WorkloadProfile& workload, const MemoryPlan& plan) {
  const double parameters = static_cast<double>(workload.elements());
  const bool half = plan.precision == "fp16";
  const auto share = [&](int stage) { return plan.zero >= stage ? 1.0 / plan.workers : 1.0; };
  MemoryNeed need;
  need.weights = (half ? 6 : 4) * parameters * share(3);
  need.gradients = 4 * parameters * share(2);
  need.optimizer = plan.state_on_host ? 0 : 4 * parameters * share(1);
  for (const WorkloadProfile::Layer& layer : workload.layers)
    if (layer.kind != "relu" && layer.kind != "add")
      need.activations += (half ? 2.0 : 4.0) * plan.batch * static_cast<double>(layer.activations);
  return need;
}

}  // namespace gradwire::scenarios
