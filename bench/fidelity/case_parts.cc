#include "bench/fidelity/case_parts.h"

#include <cstdio>
#include <numeric>

namespace gradwire::bench {
namespace {

constexpr int kHopsOfStar = 2;

}  // namespace

std::string words(double value, const char* unit) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", value, unit);
  return text;
}

std::string with_unit(double value, const char* unit, int digits) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*g%s", digits, value, unit);
  return text;
}

std::string describe(const sim::LinkSpec& link, double round_trip, double loss, Bytes bytes) {
  std::string text = words(link.rate.value() / 1e6, "Mbps") + ", " + words(1e3 * round_trip, "ms") +
                     ", " + words(static_cast<double>(bytes.count()) / 1e3, "kB");
  if (loss > 0) text += ", " + words(100 * loss, "% loss");
  return text;
}

/// Pairs of hosts, each with links of its own, on one switch.
FidelityCase pairs(sim::LinkSpec link, double round_trip, Bytes bytes, int pairs) {
  link.delay = Seconds(round_trip / (2 * kHopsOfStar));
  const double loss = 1 - std::pow(1 - link.loss, kHopsOfStar);
  FidelityCase result{{.name = describe(link, round_trip, loss, bytes),
                       .cluster = sim::Cluster::star(2 * pairs, link)},
                      round_trip};
  for (int pair = 0; pair < pairs; ++pair)
    result.experiment.chains.push_back({pair, pairs + pair, bytes});
  return result;
}

void draw_control(Draws& draws, Experiment& experiment) {
  if (!draws.chance(0.3)) return;
  experiment.options.transport.congestion_control =
      sim::TransportSettings::CongestionControl::kReno;
  experiment.name += ", reno";
}

void use_bbr(Experiment& experiment) {
  experiment.options.transport.congestion_control = sim::TransportSettings::CongestionControl::kBbr;
  constexpr std::string_view kReno = ", reno";
  std::string& name = experiment.name;
  if (name.ends_with(kReno)) name.resize(name.size() - kReno.size());
  name += ", bbr";
}

FidelityCase incast_of(int senders, const sim::LinkSpec& link, double round_trip, Bytes bytes) {
  FidelityCase result{
      {.name = "incast of " + std::to_string(senders) + ", " + describe(link, round_trip, 0, bytes),
       .cluster = sim::Cluster::star(senders + 1, link)},
      round_trip};
  for (int sender = 0; sender < senders; ++sender)
    result.experiment.chains.push_back({sender, senders, bytes});
  result.experiment.together = true;
  return result;
}

sim::CollectiveSpec collective_of(sim::CollectiveKind kind, int workers, Bytes bytes) {
  sim::CollectiveSpec spec;
  spec.kind = kind;
  spec.members.resize(static_cast<std::size_t>(workers));
  std::iota(spec.members.begin(), spec.members.end(), 0);
  if (spec.is_reduction()) spec.elements = bytes.count() / 4;
  if (kind == sim::CollectiveKind::kTwoLevelAllReduce) spec.group = 4;
  return spec;
}

}  // namespace gradwire::bench
