#include "scenarios/schedule_checks.h"

#include "scenarios/methods.h"
#include "scenarios/repeated_checks.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

/// What only a server that talks to each client can serve.
void check_server(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  const std::string& kind = scenario.schedule.kind;
  if (scenario.exchange.collective != "parameter-server")
    rules.refuse("/exchange/collective",
                 "schedule " + kind +
                     " is of a server and its clients, who know nothing of each "
                     "other",
                 "parameter-server");
  else if (scenario.exchange.shards != 1)
    rules.refuse("/exchange/shards", "schedule " + kind + " has one server", "1");
  if (scenario.network.transport.protocol == sim::TransportSettings::Protocol::kUdpLossy)
    rules.refuse("/network/transport/protocol",
                 "schedule " + kind + " waits for whole messages, and udp-lossy sends none again",
                 "tcp or ideal, or schedule lockstep");
  if (scenario.executor == "emulator")
    rules.refuse(
        "/executor",
        "schedule " + kind + " obeys virtual time, and the emulator trains before it sends",
        "flow, packet or model");
}

/// A method whose steps, updates or momentum are of lockstep.
void check_method_of(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  const std::string& kind = scenario.schedule.kind;
  const auto method = training_method(scenario);
  const std::string name = scenario.method.name;
  if (method->updates_at_server())
    rules.refuse("/method/name",
                 name + " has an update of its own at the server, and so has schedule " + kind,
                 "another method, or schedule lockstep");
  else if (method->phases() > 1)
    rules.refuse("/method/name",
                 name + " changes what it sends from step to step, which schedule " + kind +
                     " does not count",
                 "its codec by name, without a warm-up, or schedule lockstep");
  else if (kind == "rounds" && method->plan(0, 0).up.momentum_correction)
    rules.refuse("/method",
                 "momentum correction is of one gradient a step; clients of schedule " + kind +
                     " send what they changed",
                 "error feedback alone, or schedule lockstep");
}

void check_rounds(const Rules& rules) {
  const ScheduleChoice& schedule = rules.scenario.schedule;
  check_clients(rules, "/schedule", schedule.sample, schedule.drop_out, schedule.deadline,
                "flow or packet");
  if (schedule.late == "kept" && schedule.deadline == Seconds(0))
    rules.refuse("/schedule/late", "without a deadline nobody is late",
                 "dropped, or a /schedule/deadline");
  if (schedule.local_epochs && schedule.local_steps != 1)
    rules.refuse("/schedule/local_epochs", "local_steps says the same in another way",
                 "one of the two");
  if (schedule.local_epochs && *schedule.local_epochs == 0)
    rules.refuse("/schedule/local_epochs", "a client that does not train changes nothing", "> 0");
}

void check_asynchronous(const Rules& rules) {
  if (rules.scenario.executor == "model")
    rules.refuse(
        "/executor",
        "schedule asynchronous has workers' messages share the server's link at times that "
        "closed forms do not know",
        "flow or packet");
}

/// Local steps are plain sgd; what the exchange gives goes through the optimiser.
void check_local_steps(const Rules& rules) {
  const Scenario& scenario = rules.scenario;
  if (scenario.schedule.local_steps == 1) return;
  const trainers::UpdateInfo* const update = trainers::find_update(scenario.workload.optimizer);
  if (update && !update->sums_gradients)
    rules.refuse("/schedule/local_steps",
                 "local steps are of sgd, and the optimiser is " + scenario.workload.optimizer,
                 "1, or /workload/optimizer/name sgd");
  const auto method = training_method(scenario);
  if (method->phases() > 1 || method->plan(0, 0).up.momentum_correction)
    rules.refuse("/schedule/local_steps",
                 "method " + scenario.method.name + " is of one gradient a step",
                 "1, or a codec by name");
}

}  // namespace

void check_schedule(const Rules& rules) {
  if (rules.scenario.workload.kind != WorkloadKind::kTraining) return;
  if (!rules.sound({"/schedule", "/method", "/cluster/workers", "/exchange", "/workload"})) return;
  const std::string& kind = rules.scenario.schedule.kind;
  try {
    if (kind == "lockstep") return check_local_steps(rules);
    check_server(rules);
    check_method_of(rules);
    kind == "rounds" ? check_rounds(rules) : check_asynchronous(rules);
  } catch (const Error&) {
    return;  // a method whose options do not go together: its own check says so
  }
}

}  // namespace gradwire::scenarios
