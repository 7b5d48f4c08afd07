#include "results/advice/cost.h"

#include <cmath>

#include "results/plot_geometry.h"

namespace gradwire::results {

double bytes_moved(const StepSummary& step) {
  double prelude = 0;
  for (const BucketSummary& bucket : step.buckets) prelude += bucket.prelude_bytes;
  const ExchangeKind before = step.exchange == ExchangeKind::kParameterServer
                                  ? step.exchange
                                  : ExchangeKind::kRingAllGather;
  return messages_sent(step.exchange, step.workers) * step.message_bytes() +
         messages_sent(before, step.workers) * prelude;
}

StepCost cost_of_step(const StepSummary& step, double seconds, const Prices& prices) {
  const double hours = step.workers * seconds / 3600;
  return {hours * prices.gpu_hour, hours * prices.ports_per_worker * prices.port_hour,
          bytes_moved(step) / 1e9 * prices.gigabyte};
}

double steps_per_epoch(double samples, int workers, double batch_per_worker) {
  return std::ceil(samples / (workers * batch_per_worker));
}

std::vector<std::size_t> cheapest_front(std::span<const PricedPlan> plans) {
  std::vector<double> seconds, saved;
  for (const PricedPlan& plan : plans) {
    seconds.push_back(plan.seconds);
    saved.push_back(-plan.cost);
  }
  return pareto_front(seconds, saved);
}

}  // namespace gradwire::results
