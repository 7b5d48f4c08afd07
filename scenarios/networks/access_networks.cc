#include "scenarios/networks/access_networks.h"

#include "scenarios/networks/links.h"

namespace gradwire::scenarios {

std::span<const AccessNetwork> access_networks() {
  // Where early 5G was measured its round trips were no shorter than 4G's, whose core it used
  // (Narayanan et al., "A first look at commercial 5G performance on smartphones", 2020).
  static constexpr AccessNetwork kNetworks[] = {
      {"adsl", "384kbps", "1.5Mbps", "25ms", "WebPageTest's profile DSL"},
      {"cable", "1Mbps", "5Mbps", "14ms", "WebPageTest's profile Cable"},
      {"fibre", "5Mbps", "20Mbps", "2ms", "WebPageTest's profile FIOS"},
      {"4g", "6.3Mbps", "21.3Mbps", "27.5ms", "Opensignal, State of Mobile: USA, 2019 (means)"},
      {"5g", "21.08Mbps", "166.13Mbps", "27.5ms",
       "Ookla, third quarter of 2021 (medians, worldwide); delay as 4g"}};
  return kNetworks;
}

void add_access_networks(nlohmann::ordered_json& network) {
  for_links(network, [](const std::string&, nlohmann::ordered_json& link) {
    const auto named = link.find("access");
    if (named == link.end() || !named->is_string()) return;
    const std::string name = named->get<std::string>();
    for (const AccessNetwork& access : access_networks()) {
      if (access.name != name) continue;
      const auto fill = [&link](const char* key, std::string_view value) {
        if (!link.contains(key)) link[key] = std::string(value);
      };
      fill("bandwidth", access.up);
      fill("delay", access.delay);
      const bool has_back = link.contains("changes_back") || link.contains("schedule_back");
      if (!has_back) fill("bandwidth_back", access.down);
    }
  });
}

}  // namespace gradwire::scenarios
