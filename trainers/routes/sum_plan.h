#pragma once
#include <vector>

#include "trainers/layout.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/sum_groups.h"

namespace gradwire::trainers {

/// Which messages a sum of terms takes, by bucket: scales where they are shared, then a collective
/// for each group of tensors; by way of a server a push and a pull each. What it is made with
/// outlives it.
class SumPlan {
 public:
  SumPlan(const ExchangeSettings& settings, const Layout& layout, const SumGroups& groups)
      : settings_(settings), layout_(layout), groups_(groups) {}

  std::vector<Stage> stages(std::size_t b, Seconds aggregate) const;
  /// The bucket's first collective of terms; those of its other groups follow.
  std::size_t main_stage(std::size_t b) const {
    if (groups_.scaled(b).empty()) return 1;
    return settings_.server ? 5 : 3;
  }
  /// Where a group's sum comes back from the server: after all pushes and the server's own work.
  std::size_t pull_stage(std::size_t b, std::size_t group) const {
    return main_stage(b) + groups_.of(b).size() + 1 + group;
  }
  sim::CollectiveSpec reduction_of(std::size_t b, const SumGroup& group) const;
  /// What a bucket would have carried.
  void charge(StepTraffic& traffic, std::size_t b) const {
    settings_.server ? charge_server(traffic, b) : charge_workers(traffic, b);
  }

 private:
  void charge_each(StepTraffic& traffic, std::size_t b, std::size_t stage, std::size_t size,
                   std::int64_t times, std::size_t shard) const;
  void charge_server(StepTraffic& traffic, std::size_t b) const;
  void charge_workers(StepTraffic& traffic, std::size_t b) const;

  const ExchangeSettings& settings_;
  const Layout& layout_;
  const SumGroups& groups_;
};

}  // namespace gradwire::trainers
