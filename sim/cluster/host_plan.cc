#include "sim/cluster/host_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/philox.h"
#include "sim/sim_error.h"

namespace gradwire::sim {
namespace {

/// Stream of compute times (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kSpreadStream = kFirstReservedTensor + 0x10000005u;

}  // namespace

void check_host_plan(const std::string& subject, const HostPlan& plan) {
  if (!(plan.spread >= 0) || !(plan.spread <= 10)) {
    throw SimError("use", subject, "the spread of its times is not in 0..10", "0.1 is 10 %");
  }
  Seconds last{0};
  for (const HostPlan::Absence& absence : plan.absences) {
    if (!(absence.begin >= last) || !(absence.end > absence.begin)) {
      throw SimError("use", subject, "its absences overlap, go back in time, or do not last",
                     "list them in order, each with its end after its begin");
    }
    last = absence.end;
  }
}

double spread_seconds(const HostPlan& plan, double seconds, std::uint64_t seed, std::uint32_t host,
                      std::uint64_t graph, std::uint32_t op) {
  if (plan.spread == 0) return seconds;
  const RandomStream stream{seed, static_cast<std::uint32_t>(graph), host, kSpreadStream};
  const double u = static_cast<double>(uniform(stream, 2 * std::uint64_t{op}));
  const double v = static_cast<double>(uniform(stream, 2 * std::uint64_t{op} + 1));
  const double normal = std::sqrt(-2 * std::log1p(-u)) * std::cos(2 * std::numbers::pi * v);
  return seconds * std::exp(plan.spread * (normal - plan.spread / 2));
}

double end_of_work(const HostPlan& plan, double now, double seconds) {
  double end = now + seconds;
  for (const HostPlan::Absence& absence : plan.absences) {
    if (absence.end.value() <= now) continue;
    if (absence.begin.value() >= end) break;
    if (absence.end >= kNeverReturns) return std::numeric_limits<double>::infinity();
    end += absence.end.value() - std::max(absence.begin.value(), now);
  }
  return end;
}

}  // namespace gradwire::sim
