#include "bench/fidelity/comparison.h"

#include <cmath>

#include "bench/timing.h"

namespace gradwire::bench {
namespace {

constexpr std::uint64_t kReferenceSeed = 1000;
constexpr std::uint64_t kFlowSeed = 2'000'000;

}  // namespace

void add_difference(Comparison& result, double flow, double reference) {
  result.differences.push_back(std::abs(flow - reference));
  result.errors.push_back(std::abs(flow / reference - 1));
}

Comparison compare_clean(const FidelityCase& c, const std::string& reference) {
  Comparison result;
  result.name = c.experiment.name;
  result.round_trip = c.round_trip;
  const double start = now_s();
  const std::vector<double> expected =
      by_reference([&] { return clean_figures(c.experiment, reference, kReferenceSeed); });
  result.wall_s = now_s() - start;
  const std::vector<double> flow = clean_figures(c.experiment, "flow", kFlowSeed);
  for (std::size_t i = 0; i < expected.size(); ++i) add_difference(result, flow[i], expected[i]);
  return result;
}

}  // namespace gradwire::bench
