#include "bench/measured/collective_form.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "bench/measured/profiles.h"

namespace gradwire::bench {
namespace {

constexpr double kNvlinkRing = 22.5e9;  // bytes/s: 25 GB/s less headers and flags

/// Rings without a common link, [GPUs - 2].
constexpr double kDgx1Rings[] = {1, 2, 4, 1.65, 2, 4, 6};

/// By [GPUs - 2], bytes/s: rings, and from 5 GPUs on sums inside the switches (NVLS), as NCCL takes
/// them (8 GiB, stas00/ml-engineering, network/README.md).
constexpr double kNvlink4[] = {363e9, 363e9, 363e9, 414e9, 436e9, 460e9, 473e9};

constexpr double kInfinityLink = 45e9;  // bytes/s: one of the links from each MI300X to each other
constexpr double kOfHostLink = 0.65;    // that a ring reaches of PCIe, both ways at once

/// NVLink 4 with a switch that sums.
bool has_switch_sums(const std::string& device) {
  return device == "h100" || device == "h200";
}

/// Of a device profile, bytes/s; 0 = there is no such profile.
double host_link(const std::string& device) {
  const scenarios::DeviceProfile* profile = shipped_device(device);
  return profile && profile->host ? profile->host->link_bytes_per_second : 0;
}

enum Protocol { kLl, kLl128, kSimple, kProtocols };
/// Of an algorithm by protocol, s.
struct Latencies {
  double base[kProtocols], hop[kProtocols], net[kProtocols];
};
constexpr Latencies kRing = {
    {6.6e-6, 14e-6, 8.4e-6}, {0.6e-6, 1.9e-6, 3.4e-6}, {2.7e-6, 4e-6, 14e-6}};
constexpr Latencies kTree = {
    {6.8e-6, 14e-6, 8.4e-6}, {0.6e-6, 1.25e-6, 4e-6}, {5e-6, 8.5e-6, 14e-6}};
constexpr double kLl128Share = 0.92, kTreeShare = 0.92, kTreeLlShare = 1 / 3.8;
constexpr double kHopOfFlags = 1.8;  // LL's hops where there are several nodes
constexpr double kPlateau = 1.4;     // Simple's latency of a ring between nodes

/// The most that LL reaches on one, two and more nodes, bytes/s.
const std::array<double, 3>& most_of_ll(const std::string& device) {
  static const std::array<double, 3> volta = {39e9, 39e9, 20.4e9}, ampere = {87.7e9, 22.5e9, 19e9},
                                     hopper = {141e9, 45e9, 35e9}, blackwell = {282e9, 90e9, 70e9};
  static const std::map<std::string, std::array<double, 3>> rates = {{"a100", ampere},
                                                                     {"a100-80gb", ampere},
                                                                     {"h100", hopper},
                                                                     {"h200", hopper},
                                                                     {"b200", blackwell}};
  const auto found = rates.find(device);
  return found == rates.end() ? volta : found->second;
}

int nodes_of(const MeasuredCollective& one) {
  return (one.workers + one.gpus_per_node - 1) / one.gpus_per_node;
}

double passes(const MeasuredCollective& one) {
  return one.collective == "all-reduce" ? 2 : 1;
}

/// Over NVLink inside a node, or over the link to the host.
double within_node(const MeasuredCollective& one) {
  // Sums inside switches are an all-reduce's.
  const int workers = std::min(one.workers, one.gpus_per_node);
  const bool sums = one.collective == "all-reduce" || !has_switch_sums(one.device);
  return node_bytes_per_second(one.device, sums ? workers : 2);
}

struct Links {
  double bandwidth;  // of the bus, bytes/s
  double most_ll;
  double latency;  // multiple
  double network;  // of the latency between nodes, over that of InfiniBand
};

double ring_time(const MeasuredCollective& one, const Links& links, int protocol) {
  const int nodes = nodes_of(one);
  const double steps = passes(one) * (one.workers - 1), between = passes(one) * (nodes - 1);
  const bool flags = protocol == kLl && nodes > 1;
  double latency = kRing.base[protocol] +
                   (steps - between) * kRing.hop[protocol] * (flags ? kHopOfFlags : 1) +
                   between * kRing.net[protocol] * links.network;
  if (protocol == kSimple && nodes > 1) latency *= kPlateau;
  const double rate = protocol == kLl      ? std::min(links.bandwidth / 2, links.most_ll)
                      : protocol == kLl128 ? links.bandwidth * kLl128Share
                                           : links.bandwidth;
  const double share = bus_share(one.collective, one.workers);
  return links.latency * latency + share * static_cast<double>(one.bytes.count()) / rate;
}

double tree_time(const MeasuredCollective& one, const Links& links, int protocol) {
  const int nodes = nodes_of(one);
  const double hop = kTree.hop[protocol] * (protocol == kLl ? kHopOfFlags : 1);
  const double latency =
      kTree.base[protocol] +
      2 * ((one.gpus_per_node - 1) * hop + std::log2(nodes) * kTree.net[protocol] * links.network);
  const double most = links.bandwidth * kTreeShare;
  const double rate = protocol == kLl      ? std::min(most * kTreeLlShare, links.most_ll)
                      : protocol == kLl128 ? most * kLl128Share
                                           : most;
  return links.latency * latency + 2 * static_cast<double>(one.bytes.count()) / rate;
}

/// Each GPU sends to all others at once; what leaves a node shares its adapters.
double exchange_time(const MeasuredCollective& one, const Links& links, double between) {
  const bool several = one.workers > one.gpus_per_node;
  const double latency =
      kRing.base[kSimple] + (several ? kRing.net[kSimple] * links.network : kRing.hop[kSimple]);
  const double part = static_cast<double>(one.bytes.count()) / one.workers;
  const int own = std::min(one.workers, one.gpus_per_node);
  double moving = own > 1 ? part * (own - 1) / links.bandwidth : 0;
  if (several) moving = std::max(moving, part * (one.workers - own) * own / between);
  return links.latency * latency + moving;
}

}  // namespace

double bus_share(const std::string& collective, int workers) {
  if (collective == "all-reduce") return ring_share(workers);
  if (collective == "broadcast" || collective == "reduce") return 1;
  return ring_share(workers) / 2;
}

double node_bytes_per_second(const std::string& device, int workers) {
  GRADWIRE_ASSERT(workers >= 1);
  if (device == "v100")
    return kNvlinkRing * (workers > 8 ? 6 : kDgx1Rings[workers < 2 ? 0 : workers - 2]);
  if (device == "a100" || device == "a100-80gb") return 230e9;
  if (has_switch_sums(device)) return kNvlink4[std::clamp(workers, 2, 8) - 2];
  if (device == "b200") return 800e9;
  if (device == "mi300x") return kInfinityLink * std::clamp(workers - 1, 1, 7);
  return kOfHostLink * host_link(device);
}

std::string why_no_collective_form(const MeasuredCollective& one) {
  static const std::set<std::string> known = {"all-reduce", "all-gather", "reduce-scatter",
                                              "broadcast",  "reduce",     "all-to-all"};
  if (!known.contains(one.collective)) return one.collective + " is not in this form";
  if (one.workers > one.gpus_per_node && one.between_nodes.value() == 0)
    return "the bandwidth between its nodes is not stated";
  if (one.gpus_per_node > 1 && node_bytes_per_second(one.device, one.workers) == 0)
    return "the bandwidth between GPUs of a node of " + one.device + " is not known";
  return "";
}

std::vector<results::Unknown> collective_unknowns() {
  return {{"start", std::log(25e-6), std::log(25e-6), 0.5},
          {"latency", 0, 0, 0.3},
          {"bandwidth", 0, 0, 0.05},
          {"network", 0, 0, 1}};
}

Seconds collective_time(const MeasuredCollective& one, std::span<const double> logarithms) {
  const int nodes = nodes_of(one);
  const double between = one.between_nodes.value() / 8, factor = std::exp(logarithms[2]);
  double bandwidth = one.gpus_per_node > 1 ? within_node(one) : between;
  const bool exchange = one.collective == "all-to-all";
  if (nodes > 1 && !exchange) bandwidth = std::min(bandwidth, between);
  const Links links = {bandwidth * factor,
                       most_of_ll(one.device)[static_cast<std::size_t>(std::min(nodes, 3) - 1)],
                       std::exp(logarithms[1]), std::exp(logarithms[3])};
  if (exchange)
    return Seconds(std::exp(logarithms[0]) + exchange_time(one, links, between * factor));
  double fastest = std::numeric_limits<double>::infinity();
  for (int protocol = 0; protocol < kProtocols; ++protocol) {
    fastest = std::min(fastest, ring_time(one, links, protocol));
    if (nodes > 1 && one.collective == "all-reduce")
      fastest = std::min(fastest, tree_time(one, links, protocol));
  }
  return Seconds(std::exp(logarithms[0]) + fastest);
}

}  // namespace gradwire::bench
