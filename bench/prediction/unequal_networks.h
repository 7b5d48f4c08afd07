#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "bench/fidelity/case_parts.h"

/// Networks whose links differ, for cases of `bench prediction --unequal`.
namespace gradwire::bench {

/// A network that can be built for any number of workers: racks, machines of several GPUs, sites,
/// a star with one host unlike the others, two switches with a bottleneck.
struct UnequalNetwork {
  enum class Kind { kTwoTier, kGpuNodes, kSites, kOddHost, kDumbBell };
  static constexpr int kKinds = 5;
  enum class Odd { kSlow, kFar, kLossy };  ///< kOddHost: in what it is unlike

  Kind kind{};
  Odd odd{};
  double rate = 0, delay = 0;           ///< bits/s and s, of most links
  double slow_rate = 0, far_delay = 0;  ///< of uplinks, adapters, site links, the odd host
  double loss = 0;                      ///< of these, or of all links
  bool lossy_everywhere = false;
  int groups = 2;          ///< racks, or sites
  int oversubscribed = 1;  ///< two-tier: a rack's links over its uplinks
  int per_node = 4;        ///< GPUs of a machine

  /// "sites, 0.3 % lost"
  std::string name() const;
  /// /network of a scenario. `served`: the parameter server has a host, too.
  nlohmann::ordered_json for_workers(int workers, bool served) const;
};

UnequalNetwork draw_network(Draws& draws, UnequalNetwork::Kind kind, bool lossy);

}  // namespace gradwire::bench
