#pragma once
#include <string>
#include <vector>

#include "results/store/store.h"

/// How full a run's links were, and whose bytes they carried.
namespace gradwire::results {

/// An interval counts as full from this share of the nominal rate on: what headers of the link
/// layer and gaps between bursts leave.
inline constexpr double kFull = 0.9;

struct LinkLoad {
  std::string name;  ///< "leaf0 -> spine0"
  double rate_bps = 0;
  double mean = 0;        ///< bytes over what the nominal rate could carry in the whole run
  double peak = 0;        ///< of its busiest interval
  double full_share = 0;  ///< of the run's time, in intervals of kFull or more
  double wire_bytes = 0;
  double start_s = 0, end_s = 0;  ///< the busiest interval
  /// "worker0", "from worker0 to worker3 (4)": who sends or receives what crosses it, as far as the
  /// stored links show. Of a link between switches: the hosts on its outer side.
  std::string flows;
};

/// The most congested first: by mean, then by peak. At most as many as are stored (the 64 busiest).
std::vector<LinkLoad> link_loads(const std::vector<LinkSeries>& links);

}  // namespace gradwire::results
