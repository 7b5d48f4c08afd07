#include "emulator/shaper/link_plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace gradwire::emulator {
namespace {

constexpr double kFrame = 1514;      // a full frame to the shaper
constexpr double kWireFrame = 1538;  // and on the wire
constexpr std::size_t kMostHosts = 250 * 250;

/// The automatic queue: two bandwidth-delay products of a path across the star (two links), or 256
/// packets.
Bytes resolved_queue(const sim::LinkSpec& spec) {
  if (spec.queue.count() > 0) return spec.queue;
  const double path = 4 * spec.delay.value() * spec.rate.value() / 8;
  return Bytes(static_cast<std::int64_t>(std::max(2 * path, 256 * kFrame)));
}

/// Whole frames that the link sends in `time`: at least one, at most `most` bytes of them.
double frames_in(const HostLink& link, double time, double most) {
  return std::floor(std::clamp(link.rate.value() / 8 * time, kFrame, most) / kFrame);
}

std::string text(double value) {
  char buffer[40];
  std::snprintf(buffer, sizeof buffer, "%.0f", value);
  return buffer;
}

std::string mac(int kind, int host) {
  char buffer[24];
  std::snprintf(buffer, sizeof buffer, "02:47:57:%02x:%02x:%02x", kind, host >> 8, host & 255);
  return buffer;
}

std::string shape_script(const std::string& device, const HostLink& link, const Shaping& shaping) {
  const std::string rate = text(shaper_rate(link).value()) + "bit";
  const std::string burst = text(static_cast<double>(burst_of(link, shaping).count()));
  const std::string queue = text(static_cast<double>(link.queue.count()));
  const std::string add = "qdisc add dev " + device;
  std::string script;
  if (shaping.shaper == "tbf") {
    script =
        add + " root handle 1: tbf rate " + rate + " burst " + burst + " limit " + queue + "\n";
  } else {
    script = add + " root handle 1: htb default 1\n" + "class add dev " + device +
             " parent 1: classid 1:1 htb rate " + rate + " burst " + burst + " cburst " + burst +
             " quantum 1514\n";
    if (!shaping.netem) script += add + " parent 1:1 handle 2: bfifo limit " + queue + "\n";
  }
  if (shaping.netem) {
    const double flying = link.delay.value() * link.rate.value() / 8;
    const double packets = std::ceil((static_cast<double>(link.queue.count()) + flying) / kFrame);
    script += add + " parent 1:1 handle 2: netem delay " +
              text(std::round(link.delay.value() * 1e9)) + "ns limit " + text(packets) + "\n";
  }
  return script;
}

std::string loss_chain(const std::string& device, double loss) {
  // Drawn anew for each packet; a step of 1e-7 is finer than any run can tell.
  return "  chain loss_" + device + " {\n    type filter hook ingress device \"" + device +
         "\" priority 0;\n    numgen random mod 10000000 < " + text(std::round(loss * 1e7)) +
         " counter drop;\n  }\n";
}

}  // namespace

std::string star_flaw(const sim::Cluster& cluster) {
  const auto hosts = static_cast<std::size_t>(cluster.host_count());
  if (hosts > kMostHosts) return "it has more than " + std::to_string(kMostHosts) + " hosts";
  if (cluster.node_names().size() != hosts + 1) return "it does not have exactly one switch";
  if (cluster.links().size() != hosts) return "not every host has exactly one link";
  std::vector<bool> seen(cluster.node_names().size(), false);
  for (const sim::Link& link : cluster.links()) {
    if (cluster.is_host(link.a) == cluster.is_host(link.b)) return "a link joins two hosts";
    const sim::NodeId host = cluster.is_host(link.a) ? link.a : link.b;
    if (seen[static_cast<std::size_t>(host)]) return "not every host has exactly one link";
    seen[static_cast<std::size_t>(host)] = true;
  }
  return {};
}

std::vector<HostLink> star_links(const sim::Cluster& cluster) {
  if (const std::string flaw = star_flaw(cluster); !flaw.empty())
    throw Error(ErrorKind::kCapability, "emulate", "this topology", flaw,
                "the kernel makes stars (hosts on one switch); use --shaper link");
  std::vector<int> host_of(cluster.node_names().size(), -1);
  for (int host = 0; host < cluster.host_count(); ++host)
    host_of[static_cast<std::size_t>(cluster.host_node(host))] = host;
  std::vector<HostLink> links(static_cast<std::size_t>(cluster.host_count()));
  for (const sim::Link& link : cluster.links()) {
    const sim::NodeId end = cluster.is_host(link.a) ? link.a : link.b;
    const auto host = static_cast<std::size_t>(host_of[static_cast<std::size_t>(end)]);
    links[host] = {link.spec.rate, link.spec.delay, link.spec.loss, resolved_queue(link.spec)};
  }
  return links;
}

Seconds longest_delay(const std::vector<HostLink>& star) {
  Seconds longest{0};
  for (const HostLink& link : star) longest = std::max(longest, link.delay);
  return longest;
}

Bytes burst_of(const HostLink& link, const Shaping& shaping) {
  const double frames = frames_in(link, shaping.timers_late.value(), 16000);
  return Bytes(static_cast<std::int64_t>(frames * kFrame) + 86);
}

int gso_segments(const HostLink& link, const Shaping& shaping) {
  // A lost packet must be one segment, not a super-packet of several.
  if (link.loss > 0) return 1;
  if (shaping.shaper != "htb") return static_cast<int>(burst_of(link, shaping).count() / 1514);
  const bool real_time = shaping.timers_late < Seconds(kLateTimers);
  return static_cast<int>(frames_in(link, real_time ? 125e-6 : 200e-6, 25000));
}

BitsPerSecond shaper_rate(const HostLink& link) {
  return link.rate * (kFrame / kWireFrame);
}

std::string host_address(int host) {
  return "10.77." + std::to_string(host / 250) + "." + std::to_string(host % 250 + 1);
}
std::string host_mac(int host) {
  return mac(1, host);
}
std::string port_mac(int host) {
  return mac(2, host);
}
std::string port_name(int host) {
  return "gw" + std::to_string(host);
}

std::string neighbours_script(int host, int hosts) {
  std::string script;
  for (int other = 0; other < hosts; ++other)
    if (other != host)
      script += "neigh replace " + host_address(other) + " lladdr " + host_mac(other) +
                " dev eth0 nud permanent\n";
  return script;
}

std::string bridge_ip_script() {
  return "link set lo up\nlink add gwbr type bridge\nlink set gwbr up\n";
}

std::string hub_ip_script(const std::vector<HostLink>& links, const std::vector<int>& pids,
                          const Shaping& shaping) {
  std::string script;
  for (std::size_t h = 0; h < links.size(); ++h) {
    const int host = static_cast<int>(h);
    const std::string port = port_name(host);
    const std::string gso = std::to_string(gso_segments(links[h], shaping));
    script += "link add " + port + " address " + port_mac(host) +
              " type veth peer name eth0 address " + host_mac(host) + " netns " +
              std::to_string(pids[h]) + "\n";
    script += "link set " + port + " mtu 1500 gso_max_segs " + gso + " master gwbr up\n";
  }
  return script;
}

std::string hub_tc_script(const std::vector<HostLink>& links, const Shaping& shaping) {
  std::string script;
  for (std::size_t h = 0; h < links.size(); ++h)
    script += shape_script(port_name(static_cast<int>(h)), links[h], shaping);
  return script;
}

std::string hub_nft_script(const std::vector<HostLink>& links) {
  std::string chains;
  for (std::size_t h = 0; h < links.size(); ++h)
    if (links[h].loss > 0) chains += loss_chain(port_name(static_cast<int>(h)), links[h].loss);
  return chains.empty() ? chains : "table netdev gradwire {\n" + chains + "}\n";
}

std::string host_ip_script(const std::vector<HostLink>& links, int host, const Shaping& shaping) {
  const std::string gso =
      std::to_string(gso_segments(links[static_cast<std::size_t>(host)], shaping));
  std::string script = "link set lo up\nlink set eth0 mtu 1500 gso_max_segs " + gso + "\n" +
                       "addr add " + host_address(host) + "/16 dev eth0\nlink set eth0 up\n";
  return script + neighbours_script(host, static_cast<int>(links.size()));
}

std::string host_tc_script(const HostLink& link, const Shaping& shaping) {
  return shape_script("eth0", link, shaping);
}

std::string host_nft_script(const HostLink& link) {
  if (!(link.loss > 0)) return {};
  return "table netdev gradwire {\n" + loss_chain("eth0", link.loss) + "}\n";
}

nlohmann::json to_json(const std::vector<HostLink>& links) {
  nlohmann::json list = nlohmann::json::array();
  for (const HostLink& link : links)
    list.push_back({link.rate.value(), link.delay.value(), link.loss, link.queue.count()});
  return list;
}

std::vector<HostLink> links_from_json(const nlohmann::json& json) {
  std::vector<HostLink> links;
  for (const nlohmann::json& item : json)
    links.push_back({BitsPerSecond(item[0].get<double>()), Seconds(item[1].get<double>()),
                     item[2].get<double>(), Bytes(item[3].get<std::int64_t>())});
  return links;
}

}  // namespace gradwire::emulator
