#include "bench/prediction/unequal_networks.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;
using Kind = UnequalNetwork::Kind;

ordered_json link_of(double rate, double delay, double loss) {
  ordered_json link = {{"bandwidth", with_unit(rate, "bps")},
                       {"delay", with_unit(delay * 1e6, "us")}};
  if (loss > 0) link["loss"] = loss;
  return link;
}

/// As even as can be, larger ones first.
int share_of(int workers, int groups, int group) {
  return workers / groups + (group < workers % groups ? 1 : 0);
}

}  // namespace

std::string UnequalNetwork::name() const {
  constexpr std::array<const char*, kKinds> kNames = {"racks", "GPU nodes", "sites", "odd host",
                                                      "dumb-bell"};
  char text[120];
  std::snprintf(text, sizeof text, "%s, 1:%.3g, %.2g ms", kNames[static_cast<std::size_t>(kind)],
                kind == Kind::kTwoTier ? oversubscribed : rate / slow_rate, 1e3 * far_delay);
  std::string name = text;
  if (loss > 0)
    name += ", " + with_unit(100 * loss, " % lost", 2) + (lossy_everywhere ? " everywhere" : "");
  return name;
}

ordered_json UnequalNetwork::for_workers(int workers, bool served) const {
  const double usual_loss = lossy_everywhere ? loss : 0;
  const ordered_json link = link_of(rate, delay, usual_loss);
  const ordered_json slow = link_of(slow_rate, far_delay, loss);
  const int used = std::min(groups, workers);
  switch (kind) {
    case Kind::kTwoTier: {
      const double up = rate * share_of(workers, used, 0) / oversubscribed;
      return {{"topology", "two-tier"},
              {"racks", used},
              {"spines", 1},
              {"link", link},
              {"uplink", link_of(up, far_delay, loss)}};
    }
    case Kind::kGpuNodes:
      return {{"topology", "gpu-nodes"},
              {"gpus_per_node", per_node},
              {"intra_link", link_of(rate, delay, 0)},
              {"link", slow}};
    case Kind::kSites: {
      ordered_json sites = ordered_json::array(), links = ordered_json::array();
      for (int s = 0; s < used; ++s) {
        sites.push_back(
            {{"name", "site" + std::to_string(s)}, {"workers", share_of(workers, used, s)}});
        if (s == 0) continue;
        ordered_json joined = {{"a", "site0"}, {"b", "site" + std::to_string(s)}};
        joined.update(link_of(slow_rate * (1 + 0.5 * s), far_delay / s, loss));
        links.push_back(joined);
      }
      ordered_json network = {{"topology", "wan"}, {"sites", sites}, {"link", link}};
      if (!links.empty()) network["site_links"] = links;
      return network;
    }
    case Kind::kOddHost: {
      ordered_json hosts = ordered_json::array(), links = ordered_json::array();
      for (int h = 0; h < workers + (served ? 1 : 0); ++h) {
        hosts.push_back("host" + std::to_string(h));
        ordered_json joined = {{"a", hosts.back()}, {"b", "switch"}};
        joined.update(h == 1 ? slow : link);
        links.push_back(joined);
      }
      return {
          {"topology", "explicit"}, {"hosts", hosts}, {"switches", {"switch"}}, {"links", links}};
    }
    case Kind::kDumbBell:
      return {{"topology", "dumb-bell"}, {"link", link}, {"bottleneck", slow}};
  }
  return {};
}

UnequalNetwork draw_network(Draws& draws, Kind kind, bool lossy) {
  UnequalNetwork network;
  network.kind = kind;
  const bool wide = kind == Kind::kSites;
  network.rate = lossy ? draws.log_uniform(2e8, 2e9) : draws.log_uniform(1e9, 25e9);
  network.delay = draws.log_uniform(5e-6, 1e-4);
  network.slow_rate = network.rate / draws.log_uniform(1.5, 12);
  network.far_delay = wide ? draws.log_uniform(1e-3, 2e-2) : draws.log_uniform(5e-6, 4e-4);
  network.groups = draws.integer(2, 4);
  network.oversubscribed = 1 << draws.integer(0, 3);
  network.per_node = 1 << draws.integer(1, 3);
  if (kind == Kind::kGpuNodes) network.rate = draws.log_uniform(1e11, 1.2e12);
  network.odd = draws.chance(0.5) ? UnequalNetwork::Odd::kSlow : UnequalNetwork::Odd::kFar;
  if (lossy) {
    network.odd = UnequalNetwork::Odd::kLossy;
    network.loss = draws.log_uniform(5e-4, 1e-2);
    network.lossy_everywhere = kind != Kind::kOddHost && draws.chance(0.5);
  }
  if (kind == Kind::kOddHost) {
    if (network.odd != UnequalNetwork::Odd::kSlow) network.slow_rate = network.rate;
    if (network.odd != UnequalNetwork::Odd::kFar) network.far_delay = network.delay;
    if (network.odd == UnequalNetwork::Odd::kFar) network.far_delay = draws.log_uniform(5e-4, 1e-2);
  }
  return network;
}

}  // namespace gradwire::bench
