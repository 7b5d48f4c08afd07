#include "bench/cliffs/shrink.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "base/units.h"
#include "bench/cliffs/draw_parts.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;
using Scenarios = std::vector<ordered_json>;

/// Fields that a scenario can do without, wherever they stand.
constexpr const char* kDroppable[] = {
    "background",  "transport",      "stragglers",  "absences",  "spread",       "loss",
    "burst",       "jitter",         "outages",     "changes",   "changes_back", "queue",
    "half_duplex", "changes_repeat", "server_link", "uplink",    "compute",      "repetitions",
    "deadline",    "drop_out",       "sample",      "aggregate", "shards",       "adapters",
    "start",       "bandwidth_back", "connections", "window"};
/// Whole numbers that can be halved, and the least that they may be.
constexpr std::pair<const char*, int> kCounts[] = {
    {"workers", 1},       {"repetitions", 1}, {"shards", 1}, {"micro_batches", 1},
    {"gpus_per_node", 1}, {"racks", 1},       {"spines", 1}, {"columns", 1},
    {"rows", 1},          {"sample", 1},      {"group", 1},  {"initial_window", 1}};
constexpr const char* kSizes[] = {"bytes", "download", "upload", "activations", "size"};

/// Calls each(object, key) for every member of every object in it.
template <typename Each>
void for_members(ordered_json& value, const Each& each) {
  if (value.is_array())
    for (ordered_json& element : value) for_members(element, each);
  if (!value.is_object()) return;
  std::vector<std::string> keys;
  for (const auto& [key, unused] : value.items()) keys.push_back(key);
  for (const std::string& key : keys) each(value, key);
  for (auto& [key, member] : value.items()) for_members(member, each);
}

void add_if_changed(const ordered_json& scenario, ordered_json changed, Scenarios& list) {
  if (changed != scenario) list.push_back(std::move(changed));
}

/// The same field goes everywhere, and then from the last object that has it.
void drop_fields(const ordered_json& scenario, Scenarios& list) {
  for (const std::string drop : kDroppable) {
    ordered_json all = scenario;
    int found = 0;
    for_members(all, [&](ordered_json& object, const std::string& key) {
      if (key == drop) object.erase(key), ++found;
    });
    add_if_changed(scenario, std::move(all), list);
    if (found < 2) continue;
    ordered_json one = scenario;
    for_members(one, [&](ordered_json& object, const std::string& key) {
      if (key == drop && --found == 0) object.erase(key);
    });
    list.push_back(std::move(one));
  }
}

/// One of TCP's constants less.
void drop_constants(const ordered_json& scenario, Scenarios& list) {
  const auto at = "/network/transport"_json_pointer;
  if (!scenario.contains(at) || scenario.at(at).size() < 2) return;
  for (const auto& [key, unused] : scenario.at(at).items()) {
    ordered_json changed = scenario;
    changed.at(at).erase(key);
    list.push_back(std::move(changed));
  }
}

void halve_counts(const ordered_json& scenario, Scenarios& list) {
  for (const auto& [name, least] : kCounts) {
    ordered_json changed = scenario;
    for_members(changed, [&, name = std::string(name), least = least](ordered_json& object,
                                                                      const std::string& key) {
      if (key == name && object[key].is_number_integer())
        object[key] = std::max(least, object[key].get<int>() / 2);
    });
    add_if_changed(scenario, std::move(changed), list);
  }
}

void halve_sizes(const ordered_json& scenario, Scenarios& list) {
  ordered_json changed = scenario;
  for_members(changed["workload"], [&](ordered_json& object, const std::string& key) {
    if (std::ranges::find(kSizes, key) == std::end(kSizes) || !object[key].is_string()) return;
    const auto bytes = parse_bytes(object[key].get<std::string>()).count();
    if (bytes > 1) object[key] = bytes_text(static_cast<double>(bytes / 2));
  });
  add_if_changed(scenario, std::move(changed), list);
}

/// Half of a list's elements, either half, and one less.
void cut_list(const ordered_json& scenario, const ordered_json::json_pointer& at, Scenarios& list) {
  if (!scenario.contains(at) || !scenario.at(at).is_array()) return;
  const auto size = static_cast<std::ptrdiff_t>(scenario.at(at).size());
  if (size < 2) return;
  std::set<std::pair<std::ptrdiff_t, std::ptrdiff_t>> parts = {
      {0, size / 2}, {size / 2, size}, {0, size - 1}, {1, size}};
  for (const auto& [begin, end] : parts) {
    ordered_json changed = scenario;
    const ordered_json& old = scenario.at(at);
    ordered_json kept = ordered_json::array();
    for (std::ptrdiff_t i = begin; i < end; ++i) kept.push_back(old[static_cast<std::size_t>(i)]);
    changed.at(at) = std::move(kept);
    list.push_back(std::move(changed));
  }
}

/// Hosts of an explicit topology that nobody sends to or from, and their links.
void drop_idle_hosts(const ordered_json& scenario, Scenarios& list) {
  if (!scenario["workload"].contains("transfers") || !scenario["network"].contains("hosts")) return;
  std::set<std::string> used;
  for (const ordered_json& transfer : scenario["workload"]["transfers"])
    for (const char* end : {"from", "to"}) used.insert(transfer.at(end).get<std::string>());
  if (scenario["network"].contains("background"))
    for (const ordered_json& source : scenario["network"]["background"])
      for (const char* end : {"from", "to"}) used.insert(source.at(end).get<std::string>());
  ordered_json changed = scenario;
  std::set<std::string> idle;
  ordered_json hosts = ordered_json::array(), links = ordered_json::array();
  for (const ordered_json& host : scenario["network"]["hosts"]) {
    if (used.contains(host.get<std::string>()))
      hosts.push_back(host);
    else
      idle.insert(host.get<std::string>());
  }
  for (const ordered_json& link : scenario["network"]["links"])
    if (!idle.contains(link.at("a").get<std::string>()) &&
        !idle.contains(link.at("b").get<std::string>()))
      links.push_back(link);
  changed["network"]["hosts"] = hosts;
  changed["network"]["links"] = links;
  add_if_changed(scenario, std::move(changed), list);
}

/// Two workers fewer hosts of an explicit star: the first half goes, links and transfers with it.
void halve_hosts(const ordered_json& scenario, Scenarios& list) {
  if (!scenario["network"].contains("hosts") || scenario["workload"].contains("transfers")) return;
  const ordered_json& hosts = scenario["network"]["hosts"];
  if (hosts.size() < 4) return;
  std::set<std::string> gone;
  for (std::size_t i = 0; i < hosts.size() / 2; ++i) gone.insert(hosts[i].get<std::string>());
  ordered_json changed = scenario;
  ordered_json kept = ordered_json::array(), links = ordered_json::array();
  for (const ordered_json& host : hosts)
    if (!gone.contains(host.get<std::string>())) kept.push_back(host);
  for (const ordered_json& link : scenario["network"]["links"])
    if (!gone.contains(link.at("a").get<std::string>()) &&
        !gone.contains(link.at("b").get<std::string>()))
      links.push_back(link);
  changed["network"]["hosts"] = kept;
  changed["network"]["links"] = links;
  list.push_back(std::move(changed));
}

/// A star of the same links in place of what it is.
void make_star(const ordered_json& scenario, Scenarios& list) {
  const std::string topology = scenario["network"].value("topology", "star");
  if (topology == "star" || !scenario["network"].contains("link") || topology.ends_with("-cell"))
    return;
  ordered_json changed = scenario;
  ordered_json network = {{"topology", "star"}};
  for (const char* keep : {"link", "server_link", "transport", "background"})
    if (scenario["network"].contains(keep)) network[keep] = scenario["network"][keep];
  changed["network"] = network;
  list.push_back(std::move(changed));
}

/// One digit in place of three, all at once.
double one_digit(double value) {
  if (value <= 0) return value;
  const double unit = std::pow(10, std::floor(std::log10(value)));
  return std::round(value / unit) * unit;
}

void round_figures(const ordered_json& scenario, Scenarios& list) {
  ordered_json changed = scenario;
  for_members(changed, [&](ordered_json& object, const std::string& key) {
    ordered_json& value = object[key];
    if (!value.is_string()) return;
    const std::string text = value.get<std::string>();
    if (key.starts_with("bandwidth")) value = rate_text(one_digit(parse_rate(text).value()));
    if (key == "delay") value = seconds_text(one_digit(parse_duration(text).value()));
    if (std::ranges::find(kSizes, key) != std::end(kSizes))
      value = bytes_text(one_digit(static_cast<double>(parse_bytes(text).count())));
  });
  add_if_changed(scenario, std::move(changed), list);
}

/// Empty objects say nothing.
void drop_empty(ordered_json& value) {
  if (value.is_object()) {
    std::vector<std::string> empty;
    for (auto& [key, member] : value.items()) {
      drop_empty(member);
      if ((member.is_object() || member.is_array()) && member.empty()) empty.push_back(key);
    }
    for (const std::string& key : empty) value.erase(key);
  }
  if (value.is_array())
    for (ordered_json& element : value) drop_empty(element);
}

}  // namespace

Scenarios smaller_than(const ordered_json& scenario) {
  Scenarios list;
  cut_list(scenario, "/workload/transfers"_json_pointer, list);
  halve_counts(scenario, list);
  halve_hosts(scenario, list);
  drop_idle_hosts(scenario, list);
  drop_fields(scenario, list);
  drop_constants(scenario, list);
  make_star(scenario, list);
  halve_sizes(scenario, list);
  cut_list(scenario, "/network/cell/stations"_json_pointer, list);
  cut_list(scenario, "/network/sites"_json_pointer, list);
  cut_list(scenario, "/network/background"_json_pointer, list);
  round_figures(scenario, list);
  for (ordered_json& each : list) drop_empty(each);
  return list;
}

ordered_json shrink(ordered_json scenario,
                    const std::function<bool(const ordered_json&)>& still_shows) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (ordered_json& candidate : smaller_than(scenario)) {
      if (!still_shows(candidate)) continue;
      scenario = std::move(candidate);
      smaller = true;
      break;
    }
  }
  return scenario;
}

}  // namespace gradwire::bench
