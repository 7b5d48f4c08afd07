#include "trainers/schedules/asynchronous/staleness.h"

#include <algorithm>
#include <cmath>

#include "base/serial.h"

namespace gradwire::trainers {

double rate_factor(const scenarios::ScheduleChoice& choice, std::int64_t staleness) {
  const auto age = static_cast<double>(staleness);
  if (choice.staleness == "divide") return 1 / std::max(1.0, age);
  if (choice.staleness == "power") return std::pow(1 + age, -choice.staleness_power);
  return 1;
}

std::int64_t StalenessCounts::updates() const {
  std::int64_t sum = 0;
  for (const auto& [staleness, count] : counts_) sum += count;
  return sum;
}

double StalenessCounts::mean() const {
  double sum = 0;
  for (const auto& [staleness, count] : counts_)
    sum += static_cast<double>(staleness) * static_cast<double>(count);
  return counts_.empty() ? 0 : sum / static_cast<double>(updates());
}

std::int64_t StalenessCounts::largest() const {
  return counts_.empty() ? 0 : counts_.rbegin()->first;
}

std::int64_t StalenessCounts::quantile(double q) const {
  const double wanted = q * static_cast<double>(updates());
  std::int64_t seen = 0;
  for (const auto& [staleness, count] : counts_) {
    seen += count;
    if (static_cast<double>(seen) >= wanted) return staleness;
  }
  return largest();
}

void StalenessCounts::save(std::ostream& out) const {
  put<std::uint64_t>(out, counts_.size());
  for (const auto& [staleness, count] : counts_) {
    put(out, staleness);
    put(out, count);
  }
}

void StalenessCounts::load(std::istream& in) {
  counts_.clear();
  for (auto left = get<std::uint64_t>(in); left > 0; --left) {
    const auto staleness = get<std::int64_t>(in);
    counts_[staleness] = get<std::int64_t>(in);
  }
}

}  // namespace gradwire::trainers
