#include "scenarios/checks/combination_facts.h"

namespace gradwire::scenarios::combined {
namespace {

const Combination kMethodCombinations[] = {
    // Methods and who works when.
    {"schedule rounds, asynchronous", "a method with an update at the server",
     "{method} has an update of its own at the server, and so has schedule {schedule}",
     "another method, or schedule lockstep",
     [](const Scenario& s) {
       return at("/method/name", by_server(s) && training_method(s)->updates_at_server());
     },
     kOfMethod},
    {"schedule rounds, asynchronous", "a method that looks at whole steps",
     "{method} looks at the mean of all workers' gradients before the update, and schedule "
     "{schedule} has none",
     "another method, or schedule lockstep",
     [](const Scenario& s) { return at("/method/name", by_server(s) && acts_on_model(s)); },
     kOfMethod},
    {"local steps in lockstep", "a method that looks at whole steps",
     "method {method} is of one gradient a step", "1, or a codec by name",
     [](const Scenario& s) {
       return at("/schedule/local_steps", has_local_steps(s) && acts_on_model(s));
     },
     kOfMethod},
    {"transport udp-lossy",
     "a method that looks at whole steps",
     "with method {method} all workers must hold the same mean, and udp-lossy sends nothing again",
     "tcp or ideal, or another method",
     [](const Scenario& s) {
       return at(
           "/network/transport/protocol",
           trains(s) && s.network.transport.protocol == Protocol::kUdpLossy && acts_on_model(s));
     },
     {"/method", "/network", "/workload"}},
    {"schedule rounds, asynchronous", "a method with phases",
     "{method} changes what it sends from step to step, which schedule {schedule} does not count",
     "its codec by name, without a warm-up, or schedule lockstep",
     [](const Scenario& s) { return at("/method/name", by_server(s) && has_phases(s)); },
     kOfMethod},
    {"schedule rounds, asynchronous",
     "a method that says what a server sends back, or computes "
     "what workers send",
     "{method} is of steps in lockstep", "another method, or schedule lockstep",
     [](const Scenario& s) {
       return at("/method/name", by_server(s) && !has_phases(s) && has_steps_of_its_own(s));
     },
     kOfMethod},
    {"schedule lockstep, asynchronous, or a profile", "a method of federated rounds",
     "{method} is of clients that train by themselves", "schedule rounds, or another method",
     [](const Scenario& s) {
       const bool steps = trains(s) || s.workload.kind == WorkloadKind::kProfile;
       return at("/method/name", steps && !is_kind(s, "rounds") && training_method(s)->of_rounds());
     },
     kOfMethod},
    {"transport udp-lossy", "a method whose workers must all know the same",
     "{method} needs what every worker knows alike, and udp-lossy loses some of it for good",
     "tcp or ideal, or another method",
     [](const Scenario& s) { return at("/network/transport/protocol", loses(s) && needs_all(s)); },
     kOfTransportAndMethod},
    {"a method whose workers see the same samples", "a number of workers that is no multiple",
     "{method} has groups of workers that see the same samples", "a multiple of /method/copies",
     [](const Scenario& s) {
       return at("/cluster/workers",
                 trains(s) && s.cluster.workers % training_method(s)->copies() != 0);
     },
     kOfWorkers},
    {"schedule rounds", "momentum correction",
     "momentum correction is of one gradient a step; clients of schedule {schedule} send what they "
     "changed",
     "error feedback alone, or schedule lockstep",
     [](const Scenario& s) {
       return at("/method", is_kind(s, "rounds") && !has_phases(s) && corrects_momentum(s));
     },
     kOfMethod},
    {"local steps in lockstep", "an optimiser that is not sgd",
     "local steps are of sgd, and the optimiser is {optimizer}",
     "1, or /workload/optimizer/name sgd",
     [](const Scenario& s) {
       return at("/schedule/local_steps", has_local_steps(s) && !sums_gradients(s));
     },
     kOfMethod},
    {"local steps in lockstep", "a method with phases, or momentum correction",
     "method {method} is of one gradient a step", "1, or a codec by name",
     [](const Scenario& s) {
       return at("/schedule/local_steps",
                 has_local_steps(s) && (has_phases(s) || corrects_momentum(s) || needs_all(s)));
     },
     kOfMethod},
    // Parts of the model's state at each worker.
    {"exchange zero", "collective parameter-server",
     "a server holds the optimiser's state and the weights, so there is nothing to part",
     "another collective, or zero 0",
     [](const Scenario& s) {
       return at("/exchange/zero",
                 s.exchange.zero > 0 && s.exchange.collective == "parameter-server");
     },
     kOfSchedule},
    {"exchange zero", "schedule rounds, asynchronous",
     "in schedule {schedule} the server makes the updates, or each client by itself",
     "0, or schedule lockstep",
     [](const Scenario& s) { return at("/exchange/zero", s.exchange.zero > 0 && by_server(s)); },
     kOfSchedule},
    {"exchange zero", "optimiser lars, lamb",
     "{optimizer} takes norms of whole tensors, and a worker would have a part of each",
     "sgd, adam, amsgrad or adamax, or zero 0",
     [](const Scenario& s) {
       const auto* const rule = trainers::find_update(s.workload.optimizer);
       return at("/exchange/zero", trains(s) && s.exchange.zero > 0 && rule && rule->whole_tensors);
     },
     kOfStateParts},
    {"exchange zero", "a method with an update at the server",
     "{method} has an update of its own, whose state every worker would hold whole",
     "another method, or zero 0",
     [](const Scenario& s) {
       return at("/exchange/zero",
                 trains(s) && s.exchange.zero > 0 && training_method(s)->updates_at_server());
     },
     kOfStateParts},
    {"exchange zero",
     "transport udp-lossy",
     "a worker that misses another's weights has no others to go on with",
     "tcp or ideal, or zero 0",
     [](const Scenario& s) { return at("/exchange/zero", s.exchange.zero > 0 && loses(s)); },
     {"/exchange", "/network", "/workload"}},
    {"exchange zero 2, 3", "local steps in lockstep",
     "over several local steps a worker needs all weights, and the sum of all its gradients",
     "0 or 1, or /schedule/local_steps 1",
     [](const Scenario& s) {
       return at("/exchange/zero", s.exchange.zero > 1 && has_local_steps(s));
     },
     kOfSchedule},
    {"exchange zero 2, 3", "any collective but ring",
     "only a ring's reduce-scatter leaves each worker with its part of the sum", "ring, or zero 1",
     [](const Scenario& s) {
       return at("/exchange/zero", s.exchange.zero > 1 && s.exchange.collective != "ring");
     },
     kOfStateParts},
    {"exchange zero 2, 3",
     "a method that looks at whole steps, or whose messages do not add up on the way",
     "{method} leaves every worker with the whole mean gradient", "0 or 1, or method none",
     [](const Scenario& s) {
       return at("/exchange/zero", s.exchange.zero > 1 && !why_no_gradient_parts(s).empty());
     },
     kOfStateParts},
    {"exchange offload", "schedule rounds, asynchronous",
     "in schedule {schedule} the server makes the updates, or each client by itself",
     "none, or schedule lockstep",
     [](const Scenario& s) { return at("/exchange/offload", s.exchange.offload && by_server(s)); },
     kOfSchedule},
    {"exchange offload", "a method whose server sends new weights",
     "with {method} the server makes the update", "none, or another method",
     [](const Scenario& s) {
       return at("/exchange/offload", trains(s) && s.exchange.offload &&
                                          s.exchange.collective == "parameter-server" &&
                                          training_method(s)->plan(0, 0).weights_down);
     },
     kOfStateParts},
    {"micro-batches", "schedule rounds, asynchronous, gossip, or local steps",
     "steps of a worker by itself are of whole batches", "1, or lockstep without local steps",
     [](const Scenario& s) {
       return at("/workload/micro_batches", s.workload.micro_batches > 1 &&
                                                (by_server(s) || gossips(s) || has_local_steps(s)));
     },
     kOfMethod},
    {"micro-batches", "a method that changes samples, or computes what workers send",
     "{method} looks at whole batches", "1, or another method",
     [](const Scenario& s) {
       return at("/workload/micro_batches",
                 trains(s) && s.workload.micro_batches > 1 &&
                     (training_method(s)->augments() || training_method(s)->computes()));
     },
     kOfMethod},
    {"micro-batches", "fewer samples in a batch", "a part would have no sample",
     "at most /workload/batch_per_worker",
     [](const Scenario& s) {
       return at("/workload/micro_batches", s.workload.micro_batches > s.workload.batch_per_worker);
     },
     kOfMethod},
};

}  // namespace

std::span<const Combination> method_combinations() {
  return kMethodCombinations;
}

}  // namespace gradwire::scenarios::combined
