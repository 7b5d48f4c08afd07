#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/fidelity/case_parts.h"

/// Parts of drawn scenarios.
namespace gradwire::bench {

/// Three digits: scenarios are read by people.
double rounded(double value);
std::string rate_text(double bits_per_second);
std::string seconds_text(double seconds);
std::string bytes_text(double bytes);

struct DrawnNetwork {
  nlohmann::ordered_json network;
  int workers = 2;
  double rate = 0;     ///< bits/s of a usual link
  std::string server;  ///< a host of that name stands behind a link of its own; empty: none
};

/// Topology, workers, and links that are alike but for one.
DrawnNetwork draw_network(Draws& draws);
/// Losses, bursts, jitter, outages, changes, a queue or half duplex on some of the links.
void add_link_feature(Draws& draws, nlohmann::ordered_json& network);
/// Of TCP's constants, or another protocol.
void add_transport_feature(Draws& draws, nlohmann::ordered_json& network);

nlohmann::ordered_json draw_workload(Draws& draws, const DrawnNetwork& drawn);

}  // namespace gradwire::bench
