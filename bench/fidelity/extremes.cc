// One thing at a time far from what is usual: sizes, rates, delays, buffers, constants.
#include <iterator>

#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

/// What the others are, while one is extreme.
struct Usual {
  sim::LinkSpec link;
  double round_trip = 0;
  Bytes bytes{0};
  sim::TransportSettings transport = {};
  int flows = 1;
};

Usual draw_usual(Draws& draws) {
  Usual usual;
  usual.link.rate = BitsPerSecond(draws.log_uniform(50e6, 1e9));
  usual.round_trip = draws.log_uniform(1e-3, 30e-3);
  usual.bytes = draws.bytes(1e5, 3e6);
  usual.flows = draws.chance(0.3) ? draws.integer(2, 8) : 1;
  return usual;
}

using Extreme = const char* (*)(Draws&, Usual&);

constexpr Extreme kExtremes[] = {[](Draws& draws, Usual& usual) {
                                   usual.bytes =
                                       Bytes(draws.chance(0.5) ? 1 : draws.integer(2, 1447));
                                   return "less than a segment";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.link.rate = BitsPerSecond(draws.log_uniform(1e9, 40e9));
                                   usual.bytes = draws.bytes(3e8, 1e9);
                                   usual.flows = 1;
                                   return "large";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.link.rate = BitsPerSecond(draws.log_uniform(64e3, 500e3));
                                   usual.bytes = draws.bytes(2e3, 1e5);
                                   usual.flows = 1;
                                   return "slow";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.link.rate = BitsPerSecond(draws.log_uniform(40e9, 400e9));
                                   usual.round_trip = draws.log_uniform(10e-6, 5e-3);
                                   usual.bytes = draws.bytes(1e6, 5e7);
                                   return "fast";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.round_trip = draws.log_uniform(10e-6, 100e-6);
                                   return "near";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.round_trip = draws.uniform(0.2, 0.6);
                                   return "far";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.link.queue = draws.bytes(2e4, 3e5);
                                   return "small queue";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.transport.buffer = draws.bytes(16e3, 128e3);
                                   return "small buffer";
                                 },
                                 [](Draws&, Usual& usual) {
                                   usual.transport.delayed_ack = Seconds(0);
                                   return "each segment acknowledged";
                                 },
                                 [](Draws& draws, Usual& usual) {
                                   usual.transport.initial_window = draws.integer(1, 3);
                                   return "small first window";
                                 }};

FidelityCase extreme_case(Draws& draws, int number) {
  Usual usual = draw_usual(draws);
  const std::string what =
      kExtremes[static_cast<std::size_t>(number) % std::size(kExtremes)](draws, usual);
  FidelityCase result = pairs(usual.link, usual.round_trip, usual.bytes, 1);
  if (usual.flows > 1) {
    usual.link.delay = Seconds(usual.round_trip / 4);
    result = incast_of(usual.flows, usual.link, usual.round_trip, usual.bytes);
  }
  result.experiment.name = what + ": " + result.experiment.name;
  result.experiment.options.transport = usual.transport;
  result.experiment.repeats = what == "large" ? 1 : 3;
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.3));
  result.experiment.together = true;
  return result;
}

}  // namespace

std::vector<FidelityCase> extreme_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 18, count, [](Draws& draws, int i) { return extreme_case(draws, i); });
}

}  // namespace gradwire::bench
