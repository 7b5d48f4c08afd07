#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"

/// What the kernel is asked to build: a star. Host h has a network namespace with a veth `eth0`
/// whose peer `gw<h>` is a port of the bridge `gwbr` in the hub's namespace. Both ends of the pair
/// shape what they send: eth0 the direction host to switch, gw<h> switch to host.
///
/// Framing. A full segment is 1,514 bytes to the shaper and 1,538 on an Ethernet wire (FCS,
/// preamble, gap), which `packet` and `flow` charge; shapers are therefore set to
/// rate * 1514 / 1538. An acknowledgement (66 against 84 bytes with padding) is charged 20 % short.
///
/// Burst. A token bucket gives an idle link credit: up to `burst` bytes of what follows pass at
/// once (a short exchange is then shorter than it should be). A bucket that is too small loses
/// capacity instead, whenever the kernel's timer is late by more than it holds. It is 125 us of the
/// rate, 95 us with real-time priority, three quarters of that where every host has a processor of
/// its own; at least one frame, at most 16,000 bytes. docs/emulator.md has the figures behind that.
///
/// GSO packets are of 200 us at most under htb (25,000 bytes; 125 us with real-time priority), and
/// of the bucket under tbf: fewer packets spare the processor, which an ordinary user's processes
/// share.
///
/// htb may run into debt by one packet, so that its whole bucket covers a late timer; tbf sends a
/// packet only when the bucket holds all of it. Where the kernel has both, htb is used: on a busy
/// machine tbf was 5 to 20 % slower than its rate.
namespace gradwire::emulator {

struct HostLink {
  BitsPerSecond rate{1e9};
  Seconds delay{0};
  double loss = 0;
  Bytes queue{0};  ///< never 0 here: the automatic size is resolved
};

/// Why it is no star that the kernel can make; "": it is one.
std::string star_flaw(const sim::Cluster& cluster);
/// The links of a star by host. Throws Error(kCapability) for any other topology.
std::vector<HostLink> star_links(const sim::Cluster& cluster);
Seconds longest_delay(const std::vector<HostLink>& star);

/// How late the kernel's shaping may be without losing capacity: processes of ordinary priority
/// wait for each other, real-time ones less.
inline constexpr double kLateTimers = 125e-6;
inline constexpr double kLateTimersRealTime = 95e-6;
/// Where every host has a processor of its own, they wait less.
inline constexpr double kOwnProcessor = 0.75;

/// What this kernel offers, and what follows from it.
struct Shaping {
  std::string shaper = "htb";        ///< or "tbf"
  bool netem = false;                ///< link delays are emulated
  Seconds timers_late{kLateTimers};  ///< what a link's bucket holds, in time
};

Bytes burst_of(const HostLink& link, const Shaping& shaping);
int gso_segments(const HostLink& link, const Shaping& shaping);
BitsPerSecond shaper_rate(const HostLink& link);
std::string host_address(int host);
/// MAC of a host's eth0, and of the bridge's port to it.
std::string host_mac(int host);
std::string port_mac(int host);
std::string port_name(int host);

/// A host's neighbours, written down: no address resolution whose loss would hold a transfer up.
std::string neighbours_script(int host, int hosts);

/// Input of `ip -batch -`, `tc -batch -` and `nft -f -` in the hub's namespace and in a host's.
std::string bridge_ip_script();
std::string hub_ip_script(const std::vector<HostLink>& links, const std::vector<int>& pids,
                          const Shaping& shaping);
std::string hub_tc_script(const std::vector<HostLink>& links, const Shaping& shaping);
std::string hub_nft_script(const std::vector<HostLink>& links);
std::string host_ip_script(const std::vector<HostLink>& links, int host, const Shaping& shaping);
std::string host_tc_script(const HostLink& link, const Shaping& shaping);
std::string host_nft_script(const HostLink& link);

nlohmann::json to_json(const std::vector<HostLink>& links);
std::vector<HostLink> links_from_json(const nlohmann::json& json);

}  // namespace gradwire::emulator
