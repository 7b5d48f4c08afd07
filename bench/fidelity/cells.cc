// Radio cells: stations around a base, a server on a wire behind it.
#include <string>

#include "bench/fidelity/case_parts.h"
#include "sim/cluster/topologies/topologies.h"

namespace gradwire::bench {
namespace {

enum class Way { kUp, kDown, kBoth };

struct CellDraw {
  sim::Cell::Kind kind = sim::Cell::Kind::kWifi;
  double width = 80e6;    ///< Hz
  double nearest = 5;     ///< m
  double farthest = 40;   ///< m
  double least = 2e5;     ///< bytes
  double most = 4e6;      ///< bytes
  double round_trip = 0;  ///< s
  int fewest = 1;         ///< stations
  int most_stations = 8;
};

sim::RadioCellPlan plan_of(Draws& draws, const CellDraw& draw) {
  sim::RadioCellPlan plan;
  plan.kind = draw.kind;
  plan.width = draw.width;
  plan.workers = draws.integer(draw.fewest, draw.most_stations);
  plan.places.clear();
  for (int station = 0; station < plan.workers; ++station)
    plan.places.push_back({draws.log_uniform(draw.nearest, draw.farthest), 0});
  return plan;
}

std::string name_of(const sim::RadioCellPlan& plan, Way way, Bytes bytes) {
  double near = plan.places[0].distance, far = near;
  for (const auto& place : plan.places) {
    near = std::min(near, place.distance);
    far = std::max(far, place.distance);
  }
  char text[96];
  std::snprintf(text, sizeof text, "%d at %.0f-%.0f m, %.0f MHz, %lld kB %s", plan.workers, near,
                far, plan.width / 1e6, static_cast<long long>(bytes.count() / 1000),
                way == Way::kUp     ? "up"
                : way == Way::kDown ? "down"
                                    : "both ways");
  return text;
}

FidelityCase cell_case(Draws& draws, const CellDraw& draw) {
  const sim::RadioCellPlan plan = plan_of(draws, draw);
  const Bytes bytes = draws.bytes(draw.least, draw.most);
  const Way way = static_cast<Way>(draws.integer(0, 2));
  FidelityCase result{{.name = name_of(plan, way, bytes),
                       .cluster = sim::radio_cell(plan, {.present = true, .link = {}})},
                      draw.round_trip};
  const int server = plan.workers;
  for (int station = 0; station < plan.workers; ++station) {
    if (way != Way::kDown) result.experiment.chains.push_back({station, server, bytes});
    if (way != Way::kUp) result.experiment.chains.push_back({server, station, bytes});
  }
  result.experiment.together = true;
  result.experiment.gap = Seconds(0.1);
  return result;
}

}  // namespace

std::vector<FidelityCase> wifi_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 8, count, [](Draws& draws, int) {
    CellDraw draw;
    draw.width = 20e6 * (1 << draws.integer(0, 2));
    draw.round_trip = 1e-3;
    return cell_case(draws, draw);
  });
}

std::vector<FidelityCase> lte_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 9, count, [](Draws& draws, int) {
    CellDraw draw{sim::Cell::Kind::kLte, 10e6, 20, 300, 1e5, 1e6, 20e-3};
    if (draws.chance(0.3)) draw.width = 20e6;
    return cell_case(draws, draw);
  });
}

std::vector<FidelityCase> crowded_cell_cases(std::uint64_t seed, int count) {
  return cases_of(seed, 21, count, [](Draws& draws, int number) {
    CellDraw draw;
    if (number % 2 == 0) {
      draw = {sim::Cell::Kind::kWifi, 80e6, 5, 40, 2e4, 2e5, 1e-3};
    } else {
      draw = {sim::Cell::Kind::kLte, 10e6, 20, 300, 2e4, 1e5, 20e-3};
    }
    draw.fewest = 9;
    draw.most_stations = 40;
    return cell_case(draws, draw);
  });
}

}  // namespace gradwire::bench
