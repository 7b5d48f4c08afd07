#include "scenarios/checks/checks.h"

#include "scenarios/checks/combinations.h"
#include "scenarios/checks/device_checks.h"
#include "scenarios/checks/executor_checks.h"
#include "scenarios/checks/method_checks.h"
#include "scenarios/checks/network_checks.h"
#include "scenarios/checks/optimizer_checks.h"
#include "scenarios/checks/repeated_checks.h"
#include "scenarios/checks/schedule_checks.h"
#include "scenarios/checks/topology_checks.h"

namespace gradwire::scenarios {
namespace {

void check_workload(const Rules& rules) {
  const WorkloadKind kind = rules.scenario.workload.kind;
  if (kind == WorkloadKind::kTraining) check_data(rules);
  if (kind == WorkloadKind::kTraining) check_optimizer(rules);
  if (kind == WorkloadKind::kTraining || kind == WorkloadKind::kProfile) check_method(rules);
  check_schedule(rules);
  if (kind == WorkloadKind::kProfile) check_profile(rules);
  if (kind == WorkloadKind::kTransfers) check_transfers(rules);
  if (rules.sound({"/workload", "/cluster/workers"})) check_repeated(rules);
}

void check_cluster(const Rules& rules) {
  check_stragglers(rules);
  if (rules.sound({"/cluster"})) check_absences(rules);
  check_background(rules);
  check_device(rules);
  check_offload(rules);
}

void check_network(const Rules& rules) {
  if (rules.scenario.network.topology == "explicit") check_explicit(rules);
  if (rules.scenario.network.topology == "wan") check_sites(rules);
  check_network_files(rules);
  check_in_network(rules);
  check_size(rules);
  check_server_link(rules);
  check_transport(rules);
  if (rules.sound({"/executor", "/network"})) check_executor(rules);
  check_queues(rules);
}

}  // namespace

void check_rules(const Rules& rules) {
  check_workload(rules);
  check_cluster(rules);
  check_network(rules);
  check_combinations(rules);
}

}  // namespace gradwire::scenarios
