#include "bench/measured/collective_form.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "bench/measured/profiles.h"
#include "results/points/nccl_fit.h"
#include "sim/transport/nccl.h"

namespace gradwire::bench {
namespace {

constexpr double kOfHostLink = 0.65;  // that a ring reaches of PCIe, both ways at once

/// Of a device profile, bytes/s; 0 = there is no such profile.
double host_link(const std::string& device) {
  const scenarios::DeviceProfile* profile = shipped_device(device);
  return profile && profile->host ? profile->host->link_bytes_per_second : 0;
}

int nodes_of(const MeasuredCollective& one) {
  return (one.workers + one.gpus_per_node - 1) / one.gpus_per_node;
}

/// Over NVLink inside a node, or over the link to the host.
double within_node(const MeasuredCollective& one) {
  const int workers = std::min(one.workers, one.gpus_per_node);
  const sim::NcclGpu* gpu = sim::nccl_gpu(one.device);
  return gpu ? gpu->bytes_per_second(workers, one.collective == "all-reduce")
             : node_bytes_per_second(one.device, workers);
}

/// Each GPU sends to all others at once; what leaves a node shares its adapters.
double exchange_time(const MeasuredCollective& one, const sim::NcclRates& links, double between) {
  const bool several = one.workers > one.gpus_per_node;
  const double part = static_cast<double>(one.bytes.count()) / one.workers;
  const int own = std::min(one.workers, one.gpus_per_node);
  double moving = own > 1 ? part * (own - 1) / links.bandwidth : 0;
  if (several) moving = std::max(moving, part * (one.workers - own) * own / between);
  return links.latency * sim::nccl_message_latency(several, links.network) + moving;
}

}  // namespace

double bus_share(const std::string& collective, int workers) {
  if (collective == "all-reduce") return ring_share(workers);
  if (collective == "broadcast" || collective == "reduce") return 1;
  return ring_share(workers) / 2;
}

double node_bytes_per_second(const std::string& device, int workers) {
  GRADWIRE_ASSERT(workers >= 1);
  if (const sim::NcclGpu* gpu = sim::nccl_gpu(device)) return gpu->bytes_per_second(workers, true);
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
  return results::nccl_unknowns();
}

Seconds collective_time(const MeasuredCollective& one, std::span<const double> logarithms) {
  const int nodes = nodes_of(one);
  const double between = one.between_nodes.value() / 8, factor = std::exp(logarithms[2]);
  double bandwidth = one.gpus_per_node > 1 ? within_node(one) : between;
  const bool exchange = one.collective == "all-to-all";
  if (nodes > 1 && !exchange) bandwidth = std::min(bandwidth, between);
  const auto place = static_cast<std::size_t>(std::min(nodes, 3) - 1);
  const sim::NcclRates links = {bandwidth * factor,
                                sim::most_of_ll(sim::nccl_gpu(one.device))[place],
                                std::exp(logarithms[1]), std::exp(logarithms[3])};
  if (exchange)
    return Seconds(std::exp(logarithms[0]) + exchange_time(one, links, between * factor));
  const sim::NcclCall call = {one.collective == "all-reduce",
                              bus_share(one.collective, one.workers),
                              one.workers,
                              nodes,
                              one.gpus_per_node,
                              static_cast<double>(one.bytes.count())};
  return Seconds(std::exp(logarithms[0]) + sim::nccl_plan(call, links).seconds());
}

}  // namespace gradwire::bench
