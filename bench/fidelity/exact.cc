// Wired links on which `flow` simulates TCP packet by packet (sim/flow/choose_detail.h), with and
// without losses: transfer by transfer, as the reference draws the same losses and delays.
#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

constexpr int kKinds = 4;

/// What makes it go packet by packet, and what it is called.
const char* draw_kind(Draws& draws, int kind, double round_trip, sim::LinkSpec& link) {
  switch (kind) {
    case 0:
      link.queue = draws.bytes(2e4, 3e5);
      return "queue";
    case 1:
      link.jitter = Seconds(round_trip * draws.log_uniform(1e-3, 0.2));
      return "jitter";
    case 2:
      link.half_duplex = true;
      return "half duplex";
    default:
      link.rate = BitsPerSecond(draws.log_uniform(64e3, 600e3));
      return "slow";
  }
}

/// One to the next, many to one, or each to its neighbour.
FidelityCase exact_case(Draws& draws, int number) {
  const double round_trip = draws.log_uniform(0.2e-3, 60e-3), span = draws.log_uniform(0.05, 1);
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(5e6, 1e9));
  link.delay = Seconds(round_trip / 4);
  const char* const what = draw_kind(draws, number % kKinds, round_trip, link);
  const double loss = draws.chance(0.5) ? draws.log_uniform(1e-3, 0.02) : 0;
  link.loss = 1 - std::sqrt(1 - loss);
  const int shape = number / kKinds % 3, flows = shape == 0 ? 1 : draws.integer(2, 8);
  const double fair = link.rate.value() / 8 * span / (shape == 1 ? flows : 1);
  const Bytes bytes(std::llround(std::clamp(fair, 2e3, 3e6)));
  FidelityCase result =
      shape == 1 ? incast_of(flows, link, round_trip, bytes) : pairs(link, round_trip, bytes, 1);
  if (shape == 2) {
    result.experiment.cluster = sim::Cluster::star(flows, link);
    result.experiment.chains.clear();
    for (int h = 0; h < flows; ++h) result.experiment.chains.push_back({h, (h + 1) % flows, bytes});
    result.experiment.name =
        "ring of " + std::to_string(flows) + ", " + describe(link, round_trip, 0, bytes);
  }
  result.experiment.name = std::string(what) + ": " + result.experiment.name;
  if (loss > 0) result.experiment.name += ", " + words(100 * loss, "% lost");
  draw_control(draws, result.experiment);
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.3));
  result.experiment.together = true;
  return result;
}

}  // namespace

std::vector<FidelityCase> exact_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 24, count, [](Draws& draws, int i) { return exact_case(draws, i); });
}

}  // namespace gradwire::bench
