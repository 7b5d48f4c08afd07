#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What iperf3 prints, as text, by --json or by --json-stream: TCP transfers between two hosts.
namespace gradwire::results {

struct IperfLog {
  double bytes_per_s = 0;  ///< that the receiver got (the sender's where nothing else is there)
  double seconds = 0;
  std::optional<double> retransmits;   ///< of segments; not a loss rate: full queues cause them too
  std::optional<double> round_trip_s;  ///< the least one, by JSON only
  int line = 0;                        ///< where the test begins; 0 = the log has no other
};

struct IperfLogs {
  std::vector<IperfLog> tests;      ///< at least one
  std::vector<std::string> unread;  ///< what the log has and is not used
};

/// Every test in the log. Throws Error with what is wrong: UDP and rates that were limited by -b or
/// --fq-rate (what arrives is what was asked for), interrupted or failed tests, no summary, iperf
/// 2, damaged JSON.
IperfLogs read_iperf_log(std::string_view text, const std::string& file);

}  // namespace gradwire::results
