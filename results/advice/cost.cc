#include "results/advice/cost.h"

#include <cmath>

#include "results/figures/plot_geometry.h"

namespace gradwire::results {

double bytes_moved(const StepSummary& step) {
  double bytes = 0;
  for (const BucketSummary& bucket : step.buckets) {
    const ExchangeKind way = step.exchange_of(bucket);
    const ExchangeKind before =
        way == ExchangeKind::kParameterServer ? way : ExchangeKind::kRingAllGather;
    bytes += messages_sent(way, step.workers) * bucket.message_bytes +
             messages_sent(before, step.workers) * bucket.prelude_bytes;
  }
  return bytes;
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
