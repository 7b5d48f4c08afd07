#include "sim/transport/nccl.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

enum Protocol { kLl, kLl128, kSimple, kProtocols };
constexpr std::string_view kNames[] = {"LL", "LL128", "Simple"};
/// Bytes on the way for one of payload: LL sends a flag of 4 B with each 4 B.
constexpr double kSent[] = {2, 1 / 0.92, 1};

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

constexpr double kNvlinkRing = 22.5e9;  // bytes/s: 25 GB/s less headers and flags
constexpr double kInfinityLink = 45e9;  // bytes/s: one of the links from each MI300X to each other

constexpr std::array<double, 3> kVolta = {39e9, 39e9, 20.4e9}, kAmpere = {87.7e9, 22.5e9, 19e9},
                                kHopper = {141e9, 45e9, 35e9}, kBlackwell = {282e9, 90e9, 70e9};

/// A rate of one link times how many rings, that share none, go at once.
constexpr std::array<double, 7> times(double rate, std::array<double, 7> rings) {
  for (double& one : rings) one *= rate;
  return rings;
}

/// Rings without a common link among the first n GPUs of a DGX-1; among five GPUs no ring is whole:
/// the figure is what NCCL reached.
constexpr std::array<double, 7> kDgx1 = times(kNvlinkRing, {1, 2, 4, 1.65, 2, 4, 6});
constexpr std::array<double, 7> kAll = {1, 1, 1, 1, 1, 1, 1};
/// Rings, and from 5 GPUs on sums inside the switches (NVLS), as NCCL takes them (8 GiB,
/// stas00/ml-engineering, network/README.md).
constexpr std::array<double, 7> kNvlink4 = {363e9, 363e9, 363e9, 414e9, 436e9, 460e9, 473e9};

constexpr NcclGpu kGpus[] = {
    {"v100", kDgx1, false, kVolta},
    {"a100", times(230e9, kAll), false, kAmpere},
    {"a100-80gb", times(230e9, kAll), false, kAmpere},
    {"h100", kNvlink4, true, kHopper},
    {"h200", kNvlink4, true, kHopper},
    {"b200", times(800e9, kAll), false, kBlackwell},
    {"mi300x", times(kInfinityLink, {1, 2, 3, 4, 5, 6, 7}), false, kVolta},
};

NcclPlan ring_plan(const NcclCall& call, const NcclRates& rates, int protocol) {
  const int passes = call.all_reduce ? 2 : 1;
  const double steps = passes * (call.workers - 1), between = passes * (call.nodes - 1);
  const bool flags = protocol == kLl && call.nodes > 1;
  const double plateau = protocol == kSimple && call.nodes > 1 ? kPlateau : 1;
  const double rate = protocol == kLl      ? std::min(rates.bandwidth / 2, rates.most_ll)
                      : protocol == kLl128 ? rates.bandwidth * kLl128Share
                                           : rates.bandwidth;
  return {"ring",
          kNames[protocol],
          rates.latency * plateau * kRing.base[protocol],
          rates.latency * plateau *
              ((steps - between) * kRing.hop[protocol] * (flags ? kHopOfFlags : 1) +
               between * kRing.net[protocol] * rates.network),
          call.share * call.bytes / rate,
          kSent[protocol]};
}

NcclPlan tree_plan(const NcclCall& call, const NcclRates& rates, int protocol) {
  const double hop = kTree.hop[protocol] * (protocol == kLl ? kHopOfFlags : 1);
  const double most = rates.bandwidth * kTreeShare;
  const double rate = protocol == kLl      ? std::min(most * kTreeLlShare, rates.most_ll)
                      : protocol == kLl128 ? most * kLl128Share
                                           : most;
  return {"tree",
          kNames[protocol],
          rates.latency * kTree.base[protocol],
          rates.latency * 2 *
              ((call.gpus_per_node - 1) * hop +
               std::log2(call.nodes) * kTree.net[protocol] * rates.network),
          2 * call.bytes / rate,
          kSent[protocol]};
}

}  // namespace

double NcclGpu::bytes_per_second(int gpus, bool all_reduce) const {
  const int shared = all_reduce || !sums_in_switch ? gpus : 2;
  return ring[static_cast<std::size_t>(std::clamp(shared, 2, 8) - 2)];
}

std::span<const NcclGpu> nccl_gpus() {
  return kGpus;
}

const NcclGpu* nccl_gpu(std::string_view name) {
  const auto* found = std::ranges::find(kGpus, name, &NcclGpu::name);
  return found == std::end(kGpus) ? nullptr : found;
}

const std::array<double, 3>& most_of_ll(const NcclGpu* gpu) {
  return gpu ? gpu->most_of_ll : kVolta;
}

NcclPlan nccl_plan(const NcclCall& call, const NcclRates& rates) {
  NcclPlan fastest = ring_plan(call, rates, kLl);
  const auto consider = [&](const NcclPlan& plan) {
    if (plan.seconds() < fastest.seconds()) fastest = plan;
  };
  for (int protocol = kLl; protocol < kProtocols; ++protocol) {
    consider(ring_plan(call, rates, protocol));
    if (call.nodes > 1 && call.all_reduce) consider(tree_plan(call, rates, protocol));
  }
  return fastest;
}

double nccl_message_latency(bool between_nodes, double network) {
  return kRing.base[kSimple] + (between_nodes ? kRing.net[kSimple] * network : kRing.hop[kSimple]);
}

}  // namespace gradwire::sim
