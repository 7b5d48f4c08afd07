#include "bench/cliffs/draw.h"

#include "bench/cliffs/draw_parts.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kDraws = 301;
constexpr int kMostFeatures = 3;

void add_stragglers(Draws& draws, ordered_json& scenario) {
  ordered_json list = ordered_json::array();
  const int workers = scenario["cluster"].value("workers", 2);
  for (int i = 0; i < draws.integer(1, 3); ++i)
    list.push_back({{"worker", draws.integer(0, workers - 1)},
                    {"factor", rounded(draws.log_uniform(0.5, 5))}});
  scenario["cluster"]["stragglers"] = list;
}

void add_absence(Draws& draws, ordered_json& scenario) {
  const double from = draws.log_uniform(1e-3, 1);
  scenario["cluster"]["absences"] = {
      {{"worker", draws.integer(0, scenario["cluster"].value("workers", 2) - 1)},
       {"from", seconds_text(from)},
       {"to", seconds_text(from + draws.log_uniform(20e-3, 0.5))}}};
}

void add_background(Draws& draws, ordered_json& scenario) {
  const int workers = scenario["cluster"].value("workers", 2);
  if (workers < 2) return;
  const int from = draws.integer(0, workers - 1);
  const int to = (from + draws.integer(1, workers - 1)) % workers;
  ordered_json source = {{"from", "worker" + std::to_string(from)},
                         {"to", "worker" + std::to_string(to)},
                         {"bandwidth", rate_text(draws.log_uniform(1e6, 3e8))},
                         {"size", bytes_text(draws.log_uniform(2e4, 1e6))}};
  if (draws.chance(0.5)) {
    source["pattern"] = "on-off";
    source["on"] = seconds_text(draws.log_uniform(10e-3, 1));
    source["off"] = seconds_text(draws.log_uniform(10e-3, 1));
  }
  scenario["network"]["background"] = ordered_json::array({source});
}

bool has_server(const ordered_json& workload) {
  return workload.contains("federated") ||
         workload.value("collective", std::string()) == "parameter-server";
}

/// Drawn last: other scenarios of a seed stay as they are.
void add_connections(Draws& draws, ordered_json& scenario) {
  const auto protocol =
      scenario.value(ordered_json::json_pointer("/network/transport/protocol"), std::string());
  if (draws.chance(0.05) && protocol != "udp-lossy")
    scenario["network"]["transport"]["connections"] = draws.integer(2, 4);
}

void add_feature(Draws& draws, ordered_json& scenario) {
  const double which = draws.uniform(0, 1);
  if (which < 0.6)
    add_link_feature(draws, scenario["network"]);
  else if (which < 0.85)
    add_transport_feature(draws, scenario["network"]);
  else if (which < 0.92)
    add_background(draws, scenario);
  else if (which < 0.97)
    add_stragglers(draws, scenario);
  else
    add_absence(draws, scenario);
}

}  // namespace

ordered_json draw_scenario(std::uint64_t seed, int number) {
  Draws draws(seed, kDraws, number);
  ordered_json scenario = {{"schema_version", 1}, {"name", "cliff"}};
  const DrawnNetwork drawn = draw_network(draws);
  scenario["workload"] = draw_workload(draws, drawn);
  scenario["cluster"] = ordered_json::object();
  if (drawn.server.empty()) scenario["cluster"]["workers"] = drawn.workers;  // hosts say it else
  scenario["network"] = drawn.network;
  if (!has_server(scenario["workload"])) scenario["network"].erase("server_link");
  for (int left = draws.integer(0, kMostFeatures); left > 0; --left) add_feature(draws, scenario);
  add_connections(draws, scenario);
  return scenario;
}

}  // namespace gradwire::bench
