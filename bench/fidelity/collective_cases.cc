// Collectives other than the ring, with and without losses.
#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

constexpr sim::CollectiveKind kKinds[] = {
    sim::CollectiveKind::kTreeAllReduce, sim::CollectiveKind::kHalvingDoublingAllReduce,
    sim::CollectiveKind::kTwoLevelAllReduce, sim::CollectiveKind::kAllToAll};

FidelityCase collective_case(Draws& draws, int number, bool lossy) {
  const sim::CollectiveKind kind = kKinds[static_cast<std::size_t>(number) % std::size(kKinds)];
  const int workers = draws.integer(8, 32);
  const bool wide = draws.chance(0.3);
  const double round_trip = wide ? draws.log_uniform(5e-3, 40e-3) : draws.log_uniform(0.1e-3, 2e-3);
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(100e6, wide ? 1e9 : 10e9));
  link.delay = Seconds(round_trip / 4);
  const double loss = lossy ? draws.log_uniform(2e-4, 3e-3) : 0;
  link.loss = loss / 2;
  const Bytes bytes = draws.bytes(1e5, 1e6);
  FidelityCase result{{.name = std::string(name_of(kind)) + " of " + std::to_string(workers) +
                               ", " + describe(link, round_trip, loss, bytes),
                       .cluster = sim::Cluster::star(workers, link)},
                      round_trip};
  result.experiment.collective = collective_of(kind, workers, bytes);
  result.experiment.collective_bytes = bytes;
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.1));
  return result;
}

}  // namespace

std::vector<FidelityCase> collective_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 14, count,
                  [](Draws& draws, int i) { return collective_case(draws, i, false); });
}

std::vector<FidelityCase> collective_lossy_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 15, count,
                  [](Draws& draws, int i) { return collective_case(draws, i, true); });
}

}  // namespace gradwire::bench
