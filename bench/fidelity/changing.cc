// Links that change under way: outages, schedules, bursts of losses.
#include <algorithm>
#include <cmath>

#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

using Pieces = std::vector<sim::RateSchedule::Piece>;

sim::RateSchedulePtr schedule_of(Pieces pieces, Seconds period) {
  return sim::RateSchedule::from_pieces("drawn", std::move(pieces), period);
}

/// What the shared link does while transfers that would take `span` seconds pass. Returns what it
/// is called.
std::string draw_change(Draws& draws, int kind, double span, sim::LinkSpec& link) {
  const BitsPerSecond rate = link.rate;
  const Seconds at(span * draws.uniform(0.1, 0.8));
  const double factor = draws.log_uniform(2, 10);
  if (kind == 0 || kind == 1) {
    Seconds begin = at;
    for (int outage = 0; outage <= kind; ++outage) {
      const Seconds end = begin + Seconds(draws.log_uniform(20e-3, 0.4));
      link.outages.push_back({begin, end});
      begin = end + Seconds(span * draws.uniform(0.1, 0.4));
    }
    return kind == 0 ? "one outage" : "two outages";
  }
  const BitsPerSecond slow = rate * (1 / factor);
  std::string name = "slower";
  Seconds period{0};
  Pieces pieces = {{Seconds(0), rate}, {at, slow}};
  if (kind == 3) pieces = {{Seconds(0), slow}, {at, rate}}, name = "faster";
  if (kind == 4) {
    period = Seconds(draws.log_uniform(20e-3, 0.5));
    pieces[1].begin = period * draws.uniform(0.3, 0.7);
    name = "a period";
  }
  link.schedule = link.schedule_back = schedule_of(std::move(pieces), period);
  return name;
}

/// One flow, or many that share the link that changes.
FidelityCase changing_case(Draws& draws, int number) {
  const int flows = number % 2 == 0 ? 1 : static_cast<int>(draws.log_uniform(2, 65));
  const double round_trip = draws.log_uniform(1e-3, 60e-3), span = draws.log_uniform(0.3, 2);
  sim::LinkSpec link, server;
  link.rate = server.rate = BitsPerSecond(draws.log_uniform(10e6, 200e6));
  link.delay = Seconds(0.45 * round_trip);
  server.delay = Seconds(0.05 * round_trip);
  const Bytes bytes(
      std::max<std::int64_t>(20'000, std::llround(server.rate.value() / 8 * span / flows)));
  const std::string what = draw_change(draws, number / 2 % 5, span, server);
  FidelityCase result{{.name = std::to_string(flows) + " flows, " + what + ", " +
                               describe(server, round_trip, 0, bytes),
                       .cluster = sim::Cluster::star(flows, link, 1, server)},
                      round_trip};
  for (int flow = 0; flow < flows; ++flow) result.experiment.chains.push_back({flow, flows, bytes});
  result.experiment.repeats = 1;
  result.experiment.together = true;
  result.experiment.means = true;
  return result;
}

FidelityCase burst_case(Draws& draws) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(10e6, 200e6));
  link.burst.enter = draws.log_uniform(3e-4, 3e-3);
  link.burst.leave = draws.uniform(0.15, 0.5);
  link.burst.loss = draws.uniform(0.5, 1);
  const double round_trip = draws.log_uniform(1e-3, 60e-3);
  FidelityCase result = pairs(link, round_trip, draws.bytes(1e5, 1e6), 8);
  result.experiment.name += ", bursts of " + words(1 / link.burst.leave, "packets") + " after " +
                            words(1 / link.burst.enter, "");
  result.experiment.repeats = 8;
  result.experiment.gap = Seconds(draws.log_uniform(1e-3, 0.1));
  return result;
}

}  // namespace

std::vector<FidelityCase> changing_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 16, count, [](Draws& draws, int i) { return changing_case(draws, i); });
}

std::vector<FidelityCase> burst_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 17, count, [](Draws& draws, int) { return burst_case(draws); });
}

}  // namespace gradwire::bench
