#include "scenarios/checks/executor_checks.h"

#include <map>

#include "scenarios/document/pointer.h"

namespace gradwire::scenarios {
namespace {

void warn_steady(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  bool changes = is_radio(scenario) || scenario.json["network"].contains("traces");
  for (const auto& [pointer, link] : given_links(scenario.network))
    changes = changes || link.half_duplex || link.jitter > Seconds(0) || link.schedule ||
              link.schedule_back || !link.outages.empty();
  if (changes)
    rules.warn(
        "/network",
        "the model executor gives every link its mean rate, no jitter, and to itself; use flow "
        "or packet");
}

void warn_model(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  for (const auto& [pointer, link] : given_links(scenario.network)) {
    if (link.mean_loss() <= 0) continue;
    rules.warn(scenario.network.topology == "explicit" ? "/network/links" : pointer + "/loss",
               "the model executor does not know loss; use flow, packet or emulator");
    break;
  }
  warn_steady(rules);
  if (scenario.json["network"].contains("transport") &&
      scenario.json["network"]["transport"]["congestion_control"] != "cubic")
    rules.warn("/network/transport/congestion_control",
               "the model executor does not know congestion control");
  if (scenario.network.transport.connections > 1)
    rules.warn("/network/transport/connections",
               "the model executor sends a pair's transfers one after another; use flow or packet");
}

/// What of its links only packets have.
void check_fluid(const Rules& rules) {
  const NetworkPlan& network = rules.scenario.network;
  const bool fluid = rules.scenario.executor == "flow" && network.detail == sim::Detail::kFluid;
  if (!fluid || network.transport.protocol != sim::TransportSettings::Protocol::kTcp) return;
  constexpr const char* kRemedy = "without it, or detail auto or per-packet";
  for (const auto& [pointer, link] : given_links(network)) {
    if (link.queue.count() > 0)
      rules.refuse(pointer + "/queue", "detail fluid has no queue that fills", kRemedy);
    if (link.jitter > Seconds(0))
      rules.refuse(pointer + "/jitter", "detail fluid has no jitter of TCP's packets", kRemedy);
  }
}

}  // namespace

std::vector<std::pair<std::string, sim::LinkSpec>> given_links(const NetworkPlan& network) {
  std::vector<std::pair<std::string, sim::LinkSpec>> links;
  if (network.topology != "explicit") links.emplace_back("/network/link", network.link);
  if (network.server_link) links.emplace_back("/network/server_link", *network.server_link);
  if (network.uplink) links.emplace_back("/network/uplink", *network.uplink);
  if (network.topology == "dumb-bell")
    links.emplace_back("/network/bottleneck", network.bottleneck);
  if (network.topology == "gpu-nodes")
    links.emplace_back("/network/intra_link", network.intra_link);
  for (std::size_t i = 0; i < network.site_links.size(); ++i)
    links.emplace_back(child_pointer("/network/site_links", i), network.site_links[i].spec);
  for (std::size_t i = 0; i < network.links.size(); ++i)
    links.emplace_back(child_pointer("/network/links", i), network.links[i].spec);
  return links;
}

void check_executor(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  const sim::TransportSettings& given = scenario.network.transport;
  const sim::TransportSettings usual;
  if (scenario.executor == "emulator") {
    const char* reason = "the emulator runs on the kernel's TCP, whose value is fixed";
    const auto fixed = [&](bool changed, const char* name) {
      if (changed) rules.refuse(std::string("/network/transport/") + name, reason, "the default");
    };
    fixed(given.segment != usual.segment, "segment");
    fixed(given.wire_segment != usual.wire_segment, "wire_segment");
    fixed(given.delayed_ack != usual.delayed_ack, "delayed_ack");
    fixed(given.initial_rto != usual.initial_rto, "initial_rto");
    if (given.connections != usual.connections)
      rules.refuse("/network/transport/connections",
                   "the emulator's workers open one connection to each other", "1");
  }
  if (scenario.executor == "model") warn_model(rules);
  if (scenario.executor != "flow" && scenario.network.detail)
    rules.warn("/network/detail", "only the flow executor has a choice of details; " +
                                      scenario.executor + " runs as it always does");
  check_fluid(rules);
  const WorkloadKind kind = scenario.workload.kind;
  const bool rounds = kind == WorkloadKind::kFederated ||
                      (kind == WorkloadKind::kTraining && scenario.schedule.kind == "rounds");
  if (scenario.executor == "model" && rounds)
    rules.warn("/executor",
               "the model executor gives each client's trip the server's link to itself: rounds of "
               "several clients take longer; use flow or packet");
}

void check_absences(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  std::map<int, sim::HostPlan> plans;
  const std::vector<ClusterPlan::Absence>& absences = scenario.cluster.absences;
  for (std::size_t i = 0; i < absences.size(); ++i) {
    const std::string at = child_pointer("/cluster/absences", i);
    const int worker = absences[i].worker;
    if (worker >= scenario.cluster.workers)
      rules.refuse(at + "/worker", "there is no worker " + std::to_string(worker),
                   "0 to " + std::to_string(scenario.cluster.workers - 1));
    plans[worker].absences.push_back(absences[i].time);
    try {
      sim::check_host_plan("worker " + std::to_string(worker), plans[worker]);
    } catch (const sim::SimError& error) {
      rules.refuse(at, error.what());
    }
  }
}

}  // namespace gradwire::scenarios
