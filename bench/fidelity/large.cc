// Exchanges of 10 to 100 times as many packets as `flow` simulates by itself: beside its own
// packets, which need no ns-3.
#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

constexpr double kLeastEvents = 3e7, kMostEvents = 3e8;  // packets over links
constexpr double kLinksOfStar = 2, kPacketsASegment = 1.5;

enum class Pattern { kRing, kAllToAll, kTree, kServer, kPairs };
constexpr const char* kNames[] = {"ring", "all-to-all", "tree", "server", "pairs"};

/// Bytes that cross a star's links beside one byte of each message.
double messages_of(Pattern pattern, int workers) {
  const double n = workers;
  switch (pattern) {
    case Pattern::kRing:
    case Pattern::kTree:
      return 2 * (n - 1);
    case Pattern::kAllToAll:
      return n * (n - 1);
    default:
      return n;
  }
}

sim::CollectiveKind kind_of(Pattern pattern) {
  return pattern == Pattern::kRing   ? sim::CollectiveKind::kRingAllReduce
         : pattern == Pattern::kTree ? sim::CollectiveKind::kTreeAllReduce
                                     : sim::CollectiveKind::kAllToAll;
}

void add_chains(Experiment& experiment, Pattern pattern, int workers, Bytes bytes) {
  for (int w = 0; w < workers; ++w)
    experiment.chains.push_back(
        {w, pattern == Pattern::kServer ? workers : (w + workers / 2) % workers, bytes});
  experiment.together = true;
  experiment.means = true;
}

FidelityCase large_case(Draws& draws, int number) {
  const auto pattern = static_cast<Pattern>(number % 5);
  const bool lossy = number % 2 == 1, wide = draws.chance(0.3);
  const int workers = 2 * draws.integer(4, 32);
  const double round_trip = wide ? draws.log_uniform(5e-3, 40e-3) : draws.log_uniform(0.1e-3, 2e-3);
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(100e6, wide ? 1e9 : 25e9));
  link.delay = Seconds(round_trip / 4);
  if (lossy) link.loss = draws.log_uniform(1e-4, 2e-3);
  const double segments =
      draws.log_uniform(kLeastEvents, kMostEvents) / kLinksOfStar / kPacketsASegment;
  const sim::TransportSettings tcp;
  const Bytes bytes(std::llround(segments * static_cast<double>(tcp.segment.count()) /
                                 messages_of(pattern, workers)));
  FidelityCase result{
      {.name = std::string(kNames[number % 5]) + " of " + std::to_string(workers) + ", " +
               describe(link, round_trip, link.loss, bytes),
       .cluster = pattern == Pattern::kServer ? sim::Cluster::star(workers, link, 1, link)
                                              : sim::Cluster::star(workers, link)},
      round_trip};
  Experiment& experiment = result.experiment;
  experiment.repeats = 1;
  experiment.options.detail = sim::Detail::kFluid;
  result.by_own_packets = true;
  if (pattern == Pattern::kServer || pattern == Pattern::kPairs) {
    add_chains(experiment, pattern, workers, bytes);
    return result;
  }
  experiment.collective = collective_of(kind_of(pattern), workers, bytes);
  experiment.collective_bytes = bytes;
  return result;
}

}  // namespace

std::vector<FidelityCase> large_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 26, count, large_case);
}

}  // namespace gradwire::bench
