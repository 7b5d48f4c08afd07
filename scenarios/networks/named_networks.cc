#include "scenarios/networks/named_networks.h"

#include <vector>

#include "base/error.h"
#include "base/joined_texts.h"
#include "base/options.h"

namespace gradwire::scenarios {

std::span<const NamedNetwork> named_networks() {
  // Delays of Ethernet are assumed: hosts' stacks, and switches that store a packet. Those of
  // InfiniBand are half of an application's one-way latency between two hosts through a switch
  // (about 1 us; vendors' figures), those of NVLink stay below a hop
  // of NCCL's LL, all in (0.6 us in its tuner).
  static constexpr NamedNetwork kNetworks[] = {
      {"1gbe", "1Gbps", "50us", "tcp", "IEEE 802.3ab; delay assumed"},
      {"10gbe", "10Gbps", "10us", "tcp", "IEEE 802.3ae; delay assumed"},
      {"25gbe", "25Gbps", "10us", "tcp", "IEEE 802.3by; delay assumed"},
      {"40gbe", "40Gbps", "10us", "tcp", "IEEE 802.3ba; delay assumed"},
      {"100gbe", "100Gbps", "5us", "tcp", "IEEE 802.3ba; delay assumed"},
      {"roce-100", "100Gbps", "1us", "rdma", "IEEE 802.3ba, RoCEv2; delay assumed"},
      {"ib-edr", "100Gbps", "0.5us", "rdma", "InfiniBand EDR, four lanes"},
      {"ib-hdr", "200Gbps", "0.5us", "rdma", "InfiniBand HDR, four lanes"},
      {"ib-ndr", "400Gbps", "0.5us", "rdma", "InfiniBand NDR, four lanes"},
      {"nvlink-v100", "1200Gbps", "0.25us", "rdma", "V100 data sheet: 300 GB/s both ways together",
       "v100"},
      {"nvlink-a100", "2400Gbps", "0.25us", "rdma", "A100 data sheet: 600 GB/s both ways together",
       "a100"},
      {"nvlink-h100", "3600Gbps", "0.25us", "rdma", "H100 data sheet: 900 GB/s both ways together",
       "h100"},
      {"nvlink-b200", "7200Gbps", "0.25us", "rdma", "B200 data sheet: 1.8 TB/s both ways together",
       "b200"}};
  return kNetworks;
}

namespace {

Overrides overrides_of(const NamedNetwork& network) {
  Overrides values;
  const auto set = [&](const char* pointer, std::string_view value) {
    values.push_back({pointer, std::string(value), "--network"});
  };
  set("/network/link/bandwidth", network.bandwidth);
  set("/network/link/delay", network.delay);
  set("/network/transport/protocol", network.protocol);
  if (network.protocol == "rdma") set("/network/library/name", "nccl");
  if (!network.gpu.empty()) set("/network/library/gpu", network.gpu);
  return values;
}

/// GPUs with the links of another.
std::string_view linked_as(std::string_view device) {
  if (device == "a100-80gb") return "a100";
  return device == "h200" ? "h100" : device;
}

Overrides overrides_of_node(std::string_view device) {
  std::string names;
  for (const NamedNetwork& each : named_networks()) {
    if (each.gpu.empty()) continue;
    if (each.gpu == linked_as(device)) {
      NamedNetwork own = each;
      own.gpu = device;
      return overrides_of(own);
    }
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  throw Error(ErrorKind::kUsage, "use --network", std::string(kNvlinkNode),
              device.empty() ? "the scenario names no device"
                             : "the NVLink of device \"" + std::string(device) + "\" is not known",
              "name the network of the GPUs: " + names);
}

}  // namespace

std::string names_of_networks() {
  return joined_texts(named_networks(), ", ", &NamedNetwork::name) + ", " +
         std::string(kNvlinkNode);
}

Overrides overrides_of_network(std::string_view name, std::string_view device) {
  if (name == kNvlinkNode) return overrides_of_node(device);
  std::vector<std::string> names = {std::string(kNvlinkNode)};
  for (const NamedNetwork& each : named_networks()) {
    if (each.name == name) return overrides_of(each);
    names.emplace_back(each.name);
  }
  const std::string near = nearest_name(name, names);
  throw Error(ErrorKind::kUsage, "use --network", "\"" + std::string(name) + "\"",
              "no network has that name",
              (near.empty() ? "" : "did you mean \"" + near + "\"? ") +
                  ("there are " + names_of_networks()));
}

}  // namespace gradwire::scenarios
