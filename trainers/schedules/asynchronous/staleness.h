#pragma once
#include <cstdint>
#include <iosfwd>
#include <map>

#include "scenarios/scenario.h"

/// How old the weights are that a gradient was taken at.
namespace gradwire::trainers {

/// By what the rate of an update is multiplied. none: 1; divide: 1 / staleness, for a staleness of
/// 0 or 1: 1 (Zhang, Gupta, Lian, Liu: "Staleness-aware async-SGD for distributed deep learning",
/// IJCAI 2016); power: (1 + staleness)^-power (Xie, Koyejo, Gupta: "Asynchronous federated
/// optimization", 2019, as its polynomial).
double rate_factor(const scenarios::ScheduleChoice& choice, std::int64_t staleness);

/// The stalenesses of a run's updates.
class StalenessCounts {
 public:
  void add(std::int64_t staleness) { ++counts_[staleness]; }
  std::int64_t updates() const;
  /// Of no updates: 0.
  double mean() const;
  std::int64_t largest() const;
  /// The smallest staleness that at least a share `q` of all updates do not exceed.
  std::int64_t quantile(double q) const;

  void save(std::ostream& out) const;
  void load(std::istream& in);

 private:
  std::map<std::int64_t, std::int64_t> counts_;
};

}  // namespace gradwire::trainers
