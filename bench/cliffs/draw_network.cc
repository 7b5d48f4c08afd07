#include <algorithm>
#include <cmath>
#include <cstdio>

#include "bench/cliffs/draw_parts.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

double draw_rate(Draws& draws) {
  const double which = draws.uniform(0, 1);
  if (which < 0.15) return draws.log_uniform(64e3, 10e6);
  return which < 0.8 ? draws.log_uniform(10e6, 1e9) : draws.log_uniform(1e9, 400e9);
}

double draw_delay(Draws& draws) {
  const double which = draws.uniform(0, 1);
  if (which < 0.5) return draws.log_uniform(5e-6, 1e-3);
  return which < 0.9 ? draws.log_uniform(1e-3, 40e-3) : draws.log_uniform(40e-3, 150e-3);
}

ordered_json link(double rate, double delay) {
  return {{"bandwidth", rate_text(rate)}, {"delay", seconds_text(delay)}};
}

struct Base {
  double rate = 0, delay = 0;
  ordered_json usual() const { return link(rate, delay); }
  /// Another of the same network: much faster, alike, or much slower.
  ordered_json other(Draws& draws) const {
    const double times = draws.log_uniform(0.1, 100);
    return link(rate * times, delay * draws.log_uniform(0.1, 10));
  }
};

/// A star whose links are each their own, and a server.
ordered_json explicit_star(Draws& draws, const Base& base, int workers) {
  ordered_json hosts = ordered_json::array(), links = ordered_json::array();
  const double spread = draws.chance(0.5) ? 1 : draws.log_uniform(1, 10);
  for (int w = 0; w < workers; ++w) {
    const std::string name = "worker" + std::to_string(w);
    hosts.push_back(name);
    ordered_json one = {{"a", name}, {"b", "switch"}};
    const double times = draws.log_uniform(1 / spread, spread);
    one.update(link(base.rate * times, base.delay * draws.log_uniform(1 / spread, spread)));
    links.push_back(one);
  }
  hosts.push_back("server");
  ordered_json server = {{"a", "server"}, {"b", "switch"}};
  server.update(base.other(draws));
  links.push_back(server);
  return {{"topology", "explicit"},
          {"hosts", hosts},
          {"switches", ordered_json::array({"switch"})},
          {"links", links}};
}

ordered_json wide_area(Draws& draws, const Base& base, DrawnNetwork& drawn) {
  const int sites = draws.integer(2, 4), each = draws.integer(1, 6);
  ordered_json list = ordered_json::array(), links = ordered_json::array();
  for (int s = 0; s < sites; ++s) {
    list.push_back({{"name", "site" + std::to_string(s)}, {"workers", each}});
    if (s == 0) continue;
    ordered_json one = {{"a", "site" + std::to_string(s - 1)}, {"b", "site" + std::to_string(s)}};
    const double rate = draws.log_uniform(20e6, 1e9);
    one.update(link(rate, draws.log_uniform(2e-3, 80e-3)));
    links.push_back(one);
  }
  drawn.workers = sites * each;
  return {{"topology", "wan"}, {"link", base.usual()}, {"sites", list}, {"site_links", links}};
}

ordered_json cell(Draws& draws, DrawnNetwork& drawn) {
  const bool wifi = draws.chance(0.5);
  drawn.workers = draws.integer(1, 30);
  drawn.rate = wifi ? 50e6 : 20e6;
  ordered_json places = ordered_json::array();
  for (int place = draws.integer(1, 3); place > 0; --place)
    places.push_back({{"distance", std::round(draws.log_uniform(5, wifi ? 40 : 250))}});
  return {{"topology", wifi ? "wifi-cell" : "lte-cell"},
          {"link", {{"bandwidth", "1Gbps"}, {"delay", "50us"}}},
          {"cell", {{"stations", places}}}};
}

ordered_json topology(Draws& draws, const Base& base, DrawnNetwork& drawn) {
  switch (draws.integer(0, 11)) {
    case 0:
      return {{"topology", "two-tier"},
              {"racks", draws.integer(2, std::min(4, drawn.workers))},
              {"spines", draws.integer(1, 3)},
              {"link", base.usual()},
              {"uplink", base.other(draws)}};
    case 1:
      drawn.workers = std::min(drawn.workers, 16);
      return {{"topology", "fat-tree"}, {"link", base.usual()}};
    case 2:
      drawn.workers = std::min(drawn.workers, 12);
      return {{"topology", "ring"}, {"link", base.usual()}};
    case 3: {
      const int columns = draws.integer(2, 4), rows = draws.integer(2, 4);
      drawn.workers = columns * rows;
      return {{"topology", "torus"}, {"columns", columns}, {"rows", rows}, {"link", base.usual()}};
    }
    case 4:
      return {{"topology", "dumb-bell"}, {"link", base.usual()}, {"bottleneck", base.other(draws)}};
    case 5:
      return {{"topology", "gpu-nodes"},
              {"gpus_per_node", draws.integer(2, 8)},
              {"adapters", draws.integer(1, 2)},
              {"link", base.usual()}};
    case 6:
      return wide_area(draws, base, drawn);
    case 7:
      return cell(draws, drawn);
    case 8:
    case 9:
      drawn.server = "server";
      return explicit_star(draws, base, drawn.workers);
    default:
      return {{"topology", "star"}, {"link", base.usual()}, {"server_link", base.other(draws)}};
  }
}

/// Links of which one is to be changed: an object, or a list of them.
std::vector<ordered_json*> links_of(ordered_json& network) {
  std::vector<ordered_json*> links;
  for (const char* name : {"link", "server_link", "uplink", "bottleneck"})
    if (network.contains(name)) links.push_back(&network[name]);
  for (const char* name : {"site_links", "links"})
    if (network.contains(name)) links.push_back(&network[name]);
  return links;
}

/// Adds one thing to a link.
ordered_json draw_feature(Draws& draws) {
  switch (draws.integer(0, 9)) {
    case 9:
      return {{"bandwidth_back", rate_text(draws.log_uniform(100e3, 1e9))}};
    case 0:
    case 1:
      return {{"loss", rounded(draws.log_uniform(1e-4, 5e-2))}};
    case 2:
      return {{"burst",
               {{"enter", rounded(draws.log_uniform(1e-4, 1e-2))},
                {"leave", rounded(draws.log_uniform(0.1, 0.7))},
                {"loss", rounded(draws.uniform(0.3, 1))}}}};
    case 3:
      return {{"jitter", seconds_text(draws.log_uniform(10e-6, 20e-3))}};
    case 4: {
      const double begin = draws.log_uniform(1e-3, 1);
      return {{"outages",
               {{{"begin", seconds_text(begin)},
                 {"end", seconds_text(begin + draws.log_uniform(5e-3, 0.5))}}}}};
    }
    case 5: {
      const double at = draws.log_uniform(5e-3, 1);
      ordered_json changes = {
          {{"at", "0s"}, {"bandwidth", rate_text(draws.log_uniform(5e6, 1e9))}},
          {{"at", seconds_text(at)}, {"bandwidth", rate_text(draws.log_uniform(5e6, 1e9))}}};
      ordered_json feature = {{"changes", changes}, {"changes_back", changes}};
      if (draws.chance(0.5)) feature["changes_repeat"] = seconds_text(at * draws.uniform(1.3, 3));
      return feature;
    }
    case 6:
    case 7:
      return {{"queue", bytes_text(draws.log_uniform(8e3, 2e6))}};
    default:
      return {{"half_duplex", true}};
  }
}

}  // namespace

double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::stod(text);
}

std::string rate_text(double bits_per_second) {
  const bool mega = bits_per_second >= 1e6;
  char text[40];
  std::snprintf(text, sizeof text, "%.10g%s", rounded(bits_per_second / (mega ? 1e6 : 1e3)),
                mega ? "Mbps" : "kbps");
  return text;
}

std::string seconds_text(double seconds) {
  const bool milli = seconds >= 1e-3;
  char text[40];
  std::snprintf(text, sizeof text, "%.10g%s", rounded(seconds * (milli ? 1e3 : 1e6)),
                milli ? "ms" : "us");
  return text;
}

std::string bytes_text(double bytes) {
  if (bytes < 1000) return std::to_string(std::llround(bytes)) + "B";
  char text[40];
  std::snprintf(text, sizeof text, "%.10gkB", rounded(bytes / 1e3));
  return text;
}

DrawnNetwork draw_network(Draws& draws) {
  DrawnNetwork drawn;
  const Base base{draw_rate(draws), draw_delay(draws)};
  drawn.rate = base.rate;
  drawn.workers = static_cast<int>(std::lround(draws.log_uniform(2, 80)));
  drawn.network = topology(draws, base, drawn);
  return drawn;
}

void add_link_feature(Draws& draws, ordered_json& network) {
  const std::vector<ordered_json*> links = links_of(network);
  if (links.empty()) return;
  ordered_json& chosen =
      *links[static_cast<std::size_t>(draws.integer(0, static_cast<int>(links.size()) - 1))];
  const ordered_json feature = draw_feature(draws);
  if (chosen.is_object()) {
    chosen.update(feature);
    return;
  }
  const int which = draws.integer(0, 2);  // of a list: all, the last, or all but the last
  for (std::size_t i = 0; i < chosen.size(); ++i)
    if (which == 0 || (which == 1) == (i + 1 == chosen.size())) chosen[i].update(feature);
}

void add_transport_feature(Draws& draws, ordered_json& network) {
  ordered_json& transport = network["transport"];
  switch (draws.integer(0, 7)) {
    case 0:
      transport["congestion_control"] = "reno";
      return;
    case 1:
      transport["congestion_control"] = "bbr";
      return;
    case 2:
      transport["initial_window"] = static_cast<int>(draws.log_uniform(1, 50));
      return;
    case 3:
      transport["delayed_ack"] = draws.chance(0.5) ? "0s" : seconds_text(draws.uniform(5e-3, 0.2));
      return;
    case 4:
      transport["buffer"] = bytes_text(draws.log_uniform(16e3, 1e6));
      return;
    case 5: {
      const int segment = draws.chance(0.5) ? 8948 : draws.integer(400, 6000);
      transport["segment"] = std::to_string(segment) + "B";
      transport["wire_segment"] = std::to_string(segment + 90) + "B";
      return;
    }
    case 6:
      transport["min_rto"] = seconds_text(draws.log_uniform(20e-3, 1));
      return;
    default:
      transport["protocol"] = "udp-lossy";
  }
}

}  // namespace gradwire::bench
