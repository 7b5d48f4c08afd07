#pragma once
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/graphs.h"

/// Cases of radio cells, run in `flow` and beside ns-3's figures.
namespace gradwire::sim::testing {

struct CellCase {
  Cell::Kind kind = Cell::Kind::kWifi;
  double distance = 10;  ///< m, of all stations
  int stations = 1;
  std::int64_t bytes = 0;  ///< of each station's message
  bool up = true;
};

inline Cluster cell_of(const CellCase& one) {
  RadioCellPlan plan;
  plan.kind = one.kind;
  plan.workers = one.stations;
  plan.width = one.kind == Cell::Kind::kWifi ? 80e6 : 10e6;
  plan.places = {{one.distance, 0}};
  return radio_cell(plan, {true, 1, link(1e9, 50e-6)});
}

inline ExecutorOptions options_of(std::uint64_t seed, TransportSettings::Protocol protocol) {
  ExecutorOptions options;
  options.seed = seed;
  options.transport.protocol = protocol;
  return options;
}

/// ms, the mean over three rounds, each of which begins when the one before has ended and 150 ms
/// more have passed, and over the stations.
inline double mean_ms(const CellCase& one, std::uint64_t seed,
                      TransportSettings::Protocol protocol = TransportSettings::Protocol::kTcp) {
  const auto executor = make("flow", cell_of(one), options_of(seed, protocol));
  std::vector<Route> routes;
  for (int s = 0; s < one.stations; ++s)
    routes.push_back({one.up ? s : one.stations, one.up ? one.stations : s, one.bytes});
  double sum = 0, start = 0;
  const Step step = transfers(routes);
  for (int round = 0; round < 3; ++round) {
    const Timeline timeline = run_to_end(*executor, submit(*executor, step, Seconds(start)));
    for (const OpRecord& op : timeline.ops) sum += op.end.value() - start;
    start = timeline.end.value() + 0.15;
  }
  return 1e3 * sum / (3 * one.stations);
}

/// A case and what ns-3 3.44 takes for it, ms: mean_ms() of `packet`, one run.
struct Figure {
  CellCase one;
  double packet_ms = 0;
};

inline constexpr auto kLte = Cell::Kind::kLte;
inline constexpr auto kWifi = Cell::Kind::kWifi;

/// How many of the figures `ms` meets within that share of them.
template <std::size_t N, typename Ms>
int count_met(const Figure (&figures)[N], double share, Ms ms) {
  int met = 0;
  for (const Figure& figure : figures) {
    const double got = ms(figure.one);
    UNSCOPED_INFO(figure.one.distance
                  << " m, " << figure.one.stations << " stations, " << figure.one.bytes << " B "
                  << (figure.one.up ? "up" : "down") << ": " << got << " ms, ns-3 "
                  << figure.packet_ms);
    met += std::abs(got / figure.packet_ms - 1) <= share;
  }
  return met;
}

}  // namespace gradwire::sim::testing
