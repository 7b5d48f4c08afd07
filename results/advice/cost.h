#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "results/prediction/step_summary.h"

/// What a step costs, and which ways of training are worth their price.
///
///     cost of a step = n T (g + k h) / 3600 + c V / 10^9
///
/// n workers; T seconds a step; g the price of a GPU an hour; k network ports a worker at the price
/// h an hour; V bytes that all workers send in the step, at c a GB (10^9 B). A port that is bought
/// has the hourly price: purchase / hours of its life.
namespace gradwire::results {

/// In any one currency; 0 = free.
struct Prices {
  double gpu_hour = 0;
  double port_hour = 0;
  double gigabyte = 0;
  double ports_per_worker = 1;
  bool operator==(const Prices&) const = default;
  bool any() const { return gpu_hour > 0 || port_hour > 0 || gigabyte > 0; }
};

/// Prices and what they are applied to; all are assumed: a user gave them.
struct CostOptions {
  Prices prices;
  std::string currency = "USD";
  double epoch_samples = 0;  ///< 0: costs are given by a million samples
  bool operator==(const CostOptions&) const = default;
};

struct StepCost {
  double compute = 0;  ///< GPUs
  double ports = 0;
  double traffic = 0;
  double total() const { return compute + ports + traffic; }
};

/// Bytes that all workers (and the server) together send in a step, without transport headers.
double bytes_moved(const StepSummary& step);
StepCost cost_of_step(const StepSummary& step, double seconds, const Prices& prices);

/// Steps of an epoch: ceil(samples / (n batch)).
double steps_per_epoch(double samples, int workers, double batch_per_worker);

/// Indices of the plans that no other beats in both time and cost, by ascending time; plans that
/// are equal in both are all kept.
struct PricedPlan {
  double seconds = 0;
  double cost = 0;
};
std::vector<std::size_t> cheapest_front(std::span<const PricedPlan> plans);

}  // namespace gradwire::results
