#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/rate_schedule.h"

namespace gradwire::sim {

/// Lines of two cells, a time and the rate from then on, with a comma, a semicolon, a tab or blanks
/// between them. A head names the units ("time_s,throughput_mbps", "rate (MB/s),t [ms]"), in any
/// order; without one they are seconds and bits per second, or stand in the cells ("1min,24.5
/// Mbps"). A comment (#) before the first line is a head where it names both. Throws SimError
/// naming `name` and the line: a head that does not say a unit, a cell that is no number, rates so
/// small that a unit must be missing.
std::vector<RateSchedule::Piece> read_rate_table(const std::string& name, std::string_view text);

}  // namespace gradwire::sim
