#include "scenarios/networks/named_networks.h"

#include <vector>

#include "base/error.h"
#include "base/joined_texts.h"
#include "base/options.h"

namespace gradwire::scenarios {

std::span<const NamedNetwork> named_networks() {
  // Delays of Ethernet are assumed: hosts' stacks, and switches that store a packet. Those of
  // InfiniBand are half of an application's one-way latency between two hosts through a switch
  // (about 1 us; vendors' figures), those of NVLink of a peer-to-peer write (about 1 us).
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
      {"nvlink-v100", "1200Gbps", "0.5us", "rdma", "V100 data sheet: 300 GB/s both ways together"},
      {"nvlink-a100", "2400Gbps", "0.5us", "rdma", "A100 data sheet: 600 GB/s both ways together"},
      {"nvlink-h100", "3600Gbps", "0.5us", "rdma", "H100 data sheet: 900 GB/s both ways together"}};
  return kNetworks;
}

std::string names_of_networks() {
  return joined_texts(named_networks(), ", ", &NamedNetwork::name);
}

Overrides overrides_of_network(std::string_view name) {
  std::vector<std::string> names;
  for (const NamedNetwork& each : named_networks()) {
    if (each.name == name)
      return {{"/network/link/bandwidth", std::string(each.bandwidth), "--network"},
              {"/network/link/delay", std::string(each.delay), "--network"},
              {"/network/transport/protocol", std::string(each.protocol), "--network"}};
    names.emplace_back(each.name);
  }
  const std::string near = nearest_name(name, names);
  throw Error(ErrorKind::kUsage, "use --network", "\"" + std::string(name) + "\"",
              "no network has that name",
              (near.empty() ? "" : "did you mean \"" + near + "\"? ") +
                  ("there are " + names_of_networks()));
}

}  // namespace gradwire::scenarios
