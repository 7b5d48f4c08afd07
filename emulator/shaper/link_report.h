#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "emulator/shaper/lateness.h"
#include "emulator/shaper/wire_network.h"

namespace gradwire::emulator {

/// What the process saw.
struct LinkReport {
  bool by_process = false;  ///< false: the kernel makes the links, and nothing was seen
  double late_50 = 0;       ///< s: how late frames left the links
  double late_99 = 0;
  double late_most = 0;
  double late_worst = 0;  ///< s: since it was asked last
  std::vector<Lateness::Bin> late;
  WireNetwork::Counts counts;
  std::vector<WireChannel::Counts> channels;
  std::int64_t missed = 0;
  std::int64_t missed_opportunities = 0;
};

nlohmann::json to_json(const LinkReport& report);
/// Throws Error where it makes no sense.
LinkReport link_report_from_json(const nlohmann::json& message);

}  // namespace gradwire::emulator
