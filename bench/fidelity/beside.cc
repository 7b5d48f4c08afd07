// Transfers beside what else is going on: background traffic, and rounds that are cut off.
#include <algorithm>
#include <cmath>

#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

/// Senders to one server, and sources of traffic to it: one of its own, perhaps one of a sender's.
FidelityCase background_case(Draws& draws) {
  const int senders = draws.integer(1, 8);
  const double round_trip = draws.log_uniform(0.5e-3, 40e-3);
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(100e6, 1e9));
  link.delay = Seconds(round_trip / 4);
  const Bytes bytes = draws.bytes(3e5, 3e6);
  sim::BackgroundTraffic traffic;
  traffic.source = senders;
  traffic.destination = senders + 1;
  traffic.rate = link.rate * draws.uniform(0.1, 0.6);
  traffic.size = draws.bytes(2e4, 5e5);
  const bool bursts = draws.chance(0.5);
  if (bursts) {
    traffic.pattern = sim::BackgroundTraffic::Pattern::kOnOff;
    traffic.on = Seconds(draws.log_uniform(20e-3, 0.3));
    traffic.off = Seconds(draws.log_uniform(20e-3, 0.3));
  }
  FidelityCase result{
      {.name = std::to_string(senders) + " senders beside " + (bursts ? "bursts of " : "") +
               words(traffic.rate.value() / 1e6, "Mbps") + ", " +
               describe(link, round_trip, 0, bytes),
       .cluster = sim::Cluster::star(senders + 1, link, 1)},
      round_trip};
  result.experiment.cluster.add_background(traffic);
  if (draws.chance(0.3)) {
    traffic.source = 0;
    traffic.rate = link.rate * draws.uniform(0.05, 0.3);
    result.experiment.cluster.add_background(traffic);
  }
  for (int sender = 0; sender < senders; ++sender)
    result.experiment.chains.push_back({sender, senders + 1, bytes});
  result.experiment.repeats = 4;
  result.experiment.gap = Seconds(draws.log_uniform(1e-2, 0.3));
  result.experiment.together = true;
  return result;
}

/// When a client's transfer ends, about: it starts, opens its window, sends at its rate.
double usual_end(const Chain& chain, const sim::LinkSpec& link) {
  return chain.start.value() + 10 * link.delay.value() +
         1.07 * 8 * static_cast<double>(chain.bytes.count()) / link.rate.value();
}

/// Clients upload after computing for a time of their own; the deadline leaves some of them out.
FidelityCase round_case(Draws& draws, int number) {
  const int clients = draws.integer(8, 60);
  const bool shared = number % 3 == 0;
  const Bytes bytes = draws.bytes(1e5, 5e5);
  sim::Cluster cluster;
  FidelityCase result;
  std::vector<double> ends;
  double together = 0;  // bits/s of all clients
  for (int c = 0; c < clients; ++c) cluster.add_host("client" + std::to_string(c));
  const sim::NodeId host = cluster.add_host("server"), middle = cluster.add_switch("switch");
  for (int c = 0; c < clients; ++c) {
    sim::LinkSpec link;
    link.rate = BitsPerSecond(draws.log_uniform(5e6, 100e6));
    link.delay = Seconds(draws.log_uniform(2e-3, 40e-3));
    cluster.add_link(c, middle, link);
    together += link.rate.value();
    result.round_trip = std::max(result.round_trip, 2 * link.delay.value());
    const Chain chain{c, clients, bytes, Seconds(draws.uniform(0, 1))};
    ends.push_back(usual_end(chain, link));
    result.experiment.chains.push_back(chain);
  }
  sim::LinkSpec server;
  server.rate = BitsPerSecond(shared ? together / draws.uniform(2, 5) : 2 * together);
  server.delay = Seconds(10e-6);
  cluster.add_link(host, middle, server);
  cluster.finish();
  std::sort(ends.begin(), ends.end());
  const double late = draws.uniform(0.05, 0.5);
  const auto first_late = static_cast<std::size_t>((1 - late) * static_cast<double>(clients - 1));
  result.experiment.deadline = Seconds(ends[first_late]);
  result.experiment.name = std::to_string(clients) + " clients, " +
                           words(static_cast<double>(bytes.count()) / 1e3, "kB") + " in " +
                           words(ends[first_late], "s") + (shared ? ", shared" : "");
  result.experiment.cluster = std::move(cluster);
  result.experiment.gap = Seconds(draws.log_uniform(1e-2, 0.5));
  result.experiment.together = true;
  return result;
}

}  // namespace

std::vector<FidelityCase> background_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 19, count, [](Draws& draws, int) { return background_case(draws); });
}

std::vector<FidelityCase> round_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 20, count, [](Draws& draws, int i) { return round_case(draws, i); });
}

}  // namespace gradwire::bench
