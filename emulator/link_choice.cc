#include "emulator/link_choice.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::emulator {
namespace {

constexpr double kFrameBits = 8 * 1538;
/// Of the frames that the link process passes on where nobody waits for them. The kernel does a
/// receiver's TCP within the sending of its frame, which takes four times as long; but links are
/// seldom full all at once, and where they are and it is too much, their lateness tells.
constexpr double kShareOfFrames = 0.5;

[[noreturn]] void refuse_network(const std::string& reason, const std::string& remedy) {
  throw Error(ErrorKind::kCapability, "emulate", "this network", reason, remedy);
}

/// Why the kernel alone cannot make the links; "": it can.
std::string kernel_flaw(const sim::Cluster& cluster) {
  for (const sim::Link& link : cluster.links()) {
    const sim::LinkSpec& spec = link.spec;
    if (spec.schedule || spec.schedule_back) return "a link follows a schedule or a trace";
    if (spec.jitter > Seconds(0)) return "a link has jitter";
    if (spec.burst.enter > 0) return "a link loses in bursts";
    if (!spec.outages.empty()) return "a link goes out";
    if (spec.half_duplex) return "a link is half-duplex";
  }
  return star_flaw(cluster);
}

}  // namespace

LinkChoice choose_links(const sim::Cluster& cluster, const std::string& shaper,
                        const sim::TransportSettings& transport, std::uint64_t seed) {
  LinkChoice choice;
  choice.hosts = cluster.host_count();
  const std::string kernel = kernel_flaw(cluster), process = wire_flaw(cluster);
  if (kernel.empty() && shaper != "link") choice.star = star_links(cluster);
  if (process.empty() && (shaper == "link" || shaper == "auto"))
    choice.wires = plan_wires(cluster, transport, seed);
  if (!choice.star.empty() || choice.wires) return choice;
  if (shaper == "link")
    refuse_network("the link process cannot: " + process, "use --shaper tbf, or --executor flow");
  if (shaper != "auto") refuse_network("the kernel cannot: " + kernel, "use --shaper link");
  refuse_network("the kernel cannot (" + kernel + "), nor can the link process (" + process + ")",
                 "use --executor flow or packet");
}

void require_hold(const WirePlan& plan, double frame_rate) {
  const BitsPerSecond held(kShareOfFrames * frame_rate * kFrameBits);
  if (plan.load() <= held.value()) return;
  refuse_network(
      "its links carry " + format_rate(BitsPerSecond(plan.load())) +
          " together, and the link process holds " + format_rate(held) + " here and now",
      "use slower links, --shaper tbf where the kernel can make them, or --executor flow");
}

void require_hold(const std::vector<HostLink>& star, int processors) {
  double all = 0;
  for (const HostLink& link : star) all += link.rate.value();
  const double most = kMostOfProcessor.value() * processors;
  if (all <= most) return;
  refuse_network("its hosts send " + format_rate(BitsPerSecond(all)) + " together, and " +
                     std::to_string(processors) + (processors == 1 ? " processor" : " processors") +
                     " here carry " + format_rate(BitsPerSecond(most)) + " at the very most",
                 "use fewer hosts, slower links, or --executor flow");
}

void require_delays(const std::vector<HostLink>& star, const std::string& shaper) {
  const Seconds longest = longest_delay(star);
  if (shaper != "auto" || 2 * longest.value() < kLeastDelay) return;
  refuse_network("its links have delays of up to " + format_duration(longest) +
                     ", this kernel has no netem (module sch_netem), and the link process has at "
                     "most " +
                     std::to_string(kMostWireHosts) + " hosts",
                 "use fewer hosts, --executor flow, or --shaper tbf, which leaves delays out");
}

}  // namespace gradwire::emulator
