#include "scenarios/checks/network_checks.h"

#include "scenarios/checks/executor_checks.h"
#include "scenarios/checks/topology_checks.h"
#include "scenarios/document/pointer.h"
#include "scenarios/networks/calibrations.h"

namespace gradwire::scenarios {
namespace {

void check_queue(const Rules& rules, const std::string& pointer, const sim::LinkSpec& link) {
  const Bytes segment = rules.scenario.network.transport.wire_segment;
  if (link.queue > Bytes(0) && link.queue < segment)
    rules.refuse(pointer + "/queue", "not one full segment fits into the queue",
                 "0B (automatic) or >= " + std::to_string(segment.count()) + "B");
}

}  // namespace

void check_background(const Rules& rules) {
  if (!rules.sound({"/network", "/cluster", "/workload", "/exchange"})) return;
  const std::vector<NetworkPlan::Background>& background = rules.scenario.network.background;
  for (std::size_t i = 0; i < background.size(); ++i) {
    const std::string at = child_pointer("/network/background", i);
    const bool from = check_host(rules, at + "/from", background[i].from);
    const bool to = check_host(rules, at + "/to", background[i].to);
    if (from && to && background[i].from == background[i].to)
      rules.refuse(at + "/to", "a host sends to itself");
  }
}

void check_transfers(const Rules& rules) {
  if (!rules.sound({"/workload/transfers", "/network", "/cluster"})) return;
  const std::vector<Workload::Transfer>& transfers = rules.scenario.workload.transfers;
  for (std::size_t i = 0; i < transfers.size(); ++i) {
    const std::string at = child_pointer("/workload/transfers", i);
    const bool from = check_host(rules, at + "/from", transfers[i].source);
    const bool to = check_host(rules, at + "/to", transfers[i].destination);
    if (from && to && transfers[i].source == transfers[i].destination)
      rules.refuse(at + "/to", "a host sends to itself");
  }
}

void check_network_files(const Rules& rules) {
  if (!rules.sound({"/network"})) return;
  const auto refuse = [&](const std::string& at, const std::string& reason) {
    rules.refuse(at, reason);
  };
  const auto& network = rules.scenario.json["network"];
  check_schedules(network, rules.scenario.file, rules.files, refuse);
  check_calibration(network, rules.scenario.file, refuse);
}

void check_in_network(const Rules& rules) {
  if (!rules.sound({"/network", "/workload", "/exchange", "/cluster"})) return;
  if (collective_of(rules.scenario) != "in-network") return;
  const bool steps = rules.scenario.workload.kind != WorkloadKind::kCollective;
  const std::string pointer = steps ? "/exchange/collective" : "/workload/collective";
  const std::string& topology = rules.scenario.network.topology;
  if (topology != "star" && topology != "two-tier")
    rules.refuse(pointer, "switches of a " + topology + " network are not known to form a tree",
                 "topology star or two-tier");
  if (rules.scenario.executor == "emulator")
    rules.refuse(pointer, "the emulator has no switches that add",
                 "another collective, or executor model, flow or packet");
}

void check_server_link(const Rules& rules) {
  if (rules.scenario.network.server_link && collective_of(rules.scenario) != "parameter-server" &&
      rules.scenario.workload.kind != WorkloadKind::kFederated &&
      rules.sound({"/exchange", "/workload"}))
    rules.refuse("/network/server_link", "no parameter server takes part",
                 "only with collective parameter-server, or federated rounds");
}

void check_transport(const Rules& rules) {
  const sim::TransportSettings& transport = rules.scenario.network.transport;
  if (rules.sound({"/network/transport"}) && transport.wire_segment < transport.segment)
    rules.refuse("/network/transport/wire_segment",
                 "a segment on the wire is smaller than its payload",
                 ">= " + std::to_string(transport.segment.count()) + "B");
  if (transport.protocol == sim::TransportSettings::Protocol::kUdpLossy &&
      transport.connections > 1)
    rules.refuse("/network/transport/connections", "datagrams of udp-lossy need no connection",
                 "1, or protocol tcp, ideal or rdma");
}

void check_queues(const Rules& rules) {
  if (!rules.sound({"/network"})) return;
  for (const auto& [pointer, link] : given_links(rules.scenario.network))
    check_queue(rules, pointer, link);
}

}  // namespace gradwire::scenarios
