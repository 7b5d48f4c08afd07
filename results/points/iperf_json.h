#pragma once
#include <string>
#include <string_view>

#include "results/points/iperf_log.h"

namespace gradwire::results {

/// Tests that iperf3 wrote with --json or --json-stream. Throws Error as read_iperf_log.
IperfLogs read_iperf_json(std::string_view text, const std::string& file);

/// Throws Error where `arrived` (B/s) is what each of the streams was limited to (bit/s; 0 = not).
void refuse_limited(double arrived, double limit, double streams, const std::string& file,
                    int line);

}  // namespace gradwire::results
