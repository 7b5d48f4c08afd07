#pragma once
#include <optional>
#include <string>
#include <string_view>

/// What iperf3 prints, as text or by --json: one TCP transfer between two hosts.
namespace gradwire::results {

struct IperfLog {
  double bytes_per_s = 0;  ///< that the receiver got (the sender's where nothing else is there)
  double seconds = 0;
  std::optional<double> retransmits;   ///< of segments; not a loss rate: full queues cause them too
  std::optional<double> round_trip_s;  ///< the least one, by JSON only
};

/// Throws Error with what is wrong: UDP (its rate is what was asked for), interrupted or failed
/// tests, no summary, iperf 2, damaged JSON.
IperfLog read_iperf_log(std::string_view text, const std::string& file);

}  // namespace gradwire::results
