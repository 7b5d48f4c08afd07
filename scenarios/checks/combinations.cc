#include "scenarios/checks/combinations.h"

#include <algorithm>
#include <set>

#include "scenarios/checks/executor_checks.h"
#include "scenarios/methods.h"
#include "trainers/updates/catalogue.h"

namespace gradwire::scenarios {
namespace {

using Protocol = sim::TransportSettings::Protocol;
using Places = std::vector<std::string>;

Places at(std::string pointer, bool meets) {
  return meets ? Places{std::move(pointer)} : Places{};
}

bool trains(const Scenario& scenario) {
  return scenario.workload.kind == WorkloadKind::kTraining;
}
/// Of training, with a server that talks to each client.
bool by_server(const Scenario& scenario) {
  return trains(scenario) &&
         (scenario.schedule.kind == "rounds" || scenario.schedule.kind == "asynchronous");
}
bool is_kind(const Scenario& scenario, const char* kind) {
  return trains(scenario) && scenario.schedule.kind == kind;
}
bool gossips(const Scenario& scenario) {
  return is_kind(scenario, "gossip");
}
bool pipelines(const Scenario& scenario) {
  return is_kind(scenario, "pipeline");
}
/// Workers that gossip use late neighbours as they last were.
bool is_late(const Scenario& scenario) {
  return gossips(scenario) && scenario.schedule.patience.has_value();
}
bool has_local_steps(const Scenario& scenario) {
  return is_kind(scenario, "lockstep") && scenario.schedule.local_steps != 1;
}
bool corrects_momentum(const Scenario& scenario) {
  return training_method(scenario)->plan(0, 0).up.momentum_correction.has_value();
}
bool sums_gradients(const Scenario& scenario) {
  const trainers::UpdateInfo* const update = trainers::find_update(scenario.workload.optimizer);
  return !update || update->sums_gradients;
}
bool has_phases(const Scenario& scenario) {
  return training_method(scenario)->phases() > 1;
}
bool acts_on_model(const Scenario& scenario) {
  return training_method(scenario)->acts_on_model();
}
bool loses(const Scenario& scenario) {
  return trains(scenario) && scenario.network.transport.protocol == Protocol::kUdpLossy;
}
/// A method all of whose workers must know the same mean, or the server's own weights.
bool needs_all(const Scenario& scenario) {
  const auto method = training_method(scenario);
  return method->computes() || method->buffers() > 0 || method->decides_every() > 0 ||
         method->plan(0, 0).weights_down;
}
/// A method that a schedule other than plain lockstep would leave out a part of.
bool has_steps_of_its_own(const Scenario& scenario) {
  const auto method = training_method(scenario);
  const bool answers = method->plan(0, 0).down.has_value() &&
                       (scenario.schedule.kind != "rounds" || method->stored_messages() == 0);
  return needs_all(scenario) || answers || method->copies() > 1;
}
bool is_radio(const Scenario& scenario) {
  const std::string& topology = scenario.network.topology;
  return topology == "wifi-cell" || topology == "lte-cell";
}
bool runs_tcp(const Scenario& scenario) {
  return scenario.network.transport.protocol == Protocol::kTcp;
}
bool is_by(const Scenario& scenario, std::initializer_list<std::string_view> executors) {
  return std::ranges::find(executors, scenario.executor) != executors.end();
}

/// Links that no emulated link can be.
Places shared_media(const Scenario& scenario) {
  Places found;
  if (scenario.executor != "emulator") return found;
  for (const auto& [pointer, link] : given_links(scenario.network))
    if (link.half_duplex) found.push_back(pointer);
  return found;
}

constexpr std::array<std::string_view, 3> kOfSchedule = {"/schedule", "/exchange", "/executor"};
constexpr std::array<std::string_view, 3> kOfClients = {"/schedule", "/cluster/workers",
                                                        "/workload"};
constexpr std::array<std::string_view, 3> kOfTransport = {"/schedule", "/network", "/executor"};
constexpr std::array<std::string_view, 3> kOfTransportAndMethod = {"/network", "/method",
                                                                   "/executor"};
constexpr std::array<std::string_view, 3> kOfWorkers = {"/cluster", "/method", "/workload"};
constexpr std::array<std::string_view, 3> kOfMethod = {"/schedule", "/method", "/workload"};
constexpr std::array<std::string_view, 3> kOfStateParts = {"/exchange", "/method", "/workload"};
constexpr std::array<std::string_view, 3> kOfExecutor = {"/executor", "/network", "/cluster"};

const Combination kCombinations[] = {
    // Who works when.
    {"schedule rounds, asynchronous", "any collective but parameter-server",
     "schedule {schedule} is of a server and its clients, who know nothing of each other",
     "parameter-server",
     [](const Scenario& s) {
       return at("/exchange/collective",
                 by_server(s) && s.exchange.collective != "parameter-server");
     },
     kOfSchedule},
    {"schedule rounds, asynchronous", "several shards", "schedule {schedule} has one server", "1",
     [](const Scenario& s) {
       return at("/exchange/shards", by_server(s) && s.exchange.shards != 1 &&
                                         s.exchange.collective == "parameter-server");
     },
     kOfSchedule},
    {"schedule rounds, asynchronous", "transport udp-lossy",
     "schedule {schedule} waits for whole messages, and udp-lossy sends none again",
     "tcp or ideal, or schedule lockstep",
     [](const Scenario& s) {
       return at("/network/transport/protocol",
                 by_server(s) && s.network.transport.protocol == Protocol::kUdpLossy);
     },
     kOfTransport},
    {"schedule asynchronous", "executor model",
     "schedule asynchronous has workers' messages share the server's link at times that closed "
     "forms do not know",
     "flow, packet or emulator",
     [](const Scenario& s) {
       return at("/executor", is_kind(s, "asynchronous") && is_by(s, {"model"}));
     },
     kOfSchedule},
    {"schedule rounds with late kept", "no deadline", "without a deadline nobody is late",
     "dropped, or a /schedule/deadline",
     [](const Scenario& s) {
       return at("/schedule/late", is_kind(s, "rounds") && s.schedule.late == "kept" &&
                                       s.schedule.deadline == Seconds(0));
     },
     kOfSchedule},
    {"schedule rounds with a buffer", "a deadline, or clients that drop out",
     "a round of a buffer ends with its last update and cuts nobody off",
     "no buffer, or neither of the two",
     [](const Scenario& s) {
       return at("/schedule/buffer",
                 is_kind(s, "rounds") && s.schedule.buffer > 0 &&
                     (s.schedule.deadline > Seconds(0) || s.schedule.drop_out > 0));
     },
     kOfSchedule},
    {"schedule rounds with a buffer", "fewer clients under way",
     "a round would wait for more updates than there are clients under way",
     "at most /schedule/sample",
     [](const Scenario& s) {
       const int under_way = s.schedule.sample > 0 ? s.schedule.sample : s.cluster.workers;
       return at("/schedule/buffer", is_kind(s, "rounds") && s.schedule.buffer > under_way);
     },
     kOfClients},
    {"local_epochs", "local_steps", "local_steps says the same in another way", "one of the two",
     [](const Scenario& s) {
       return at("/schedule/local_epochs",
                 is_kind(s, "rounds") && s.schedule.local_epochs && s.schedule.local_steps != 1);
     },
     kOfSchedule},
    // Workers that gossip.
    {"schedule gossip", "any collective but gossip",
     "workers that gossip send their neighbours weights, and add up nothing among all", "gossip",
     [](const Scenario& s) {
       return at("/exchange/collective", gossips(s) && s.exchange.collective != "gossip");
     },
     kOfSchedule},
    {"collective gossip", "any schedule but gossip",
     "without schedule gossip every worker needs what all the others send",
     "another collective, or /schedule/kind gossip",
     [](const Scenario& s) {
       return at("/exchange/collective", s.exchange.collective == "gossip" && !gossips(s));
     },
     kOfSchedule},
    {"schedule gossip", "transport udp-lossy",
     "schedule gossip waits for whole messages, and udp-lossy sends none again", "tcp or ideal",
     [](const Scenario& s) { return at("/network/transport/protocol", gossips(s) && loses(s)); },
     kOfTransport},
    {"schedule gossip with patience", "executor model",
     "who is late depends on how messages share links, which closed forms do not know",
     "flow, packet or emulator, or no patience",
     [](const Scenario& s) { return at("/executor", is_late(s) && is_by(s, {"model"})); },
     kOfSchedule},
    {"schedule gossip with patience", "steps that only mix",
     "workers that wait for nobody would mix what they know over and over", "0, or no patience",
     [](const Scenario& s) {
       return at("/schedule/final_mixing", is_late(s) && s.schedule.final_mixing > 0);
     },
     kOfSchedule},
    {"schedule gossip", "a method of gradients that all workers add up",
     "{method} is of gradients that all workers add up, and workers that gossip send weights",
     "a codec by name, a method for gossip, or schedule lockstep",
     [](const Scenario& s) {
       return at("/method/name", gossips(s) && !training_method(s)->gossip());
     },
     kOfMethod},
    {"any schedule but gossip, or a profile", "a method for gossip",
     "{method} is of workers that send their neighbours weights",
     "schedule gossip, or another method",
     [](const Scenario& s) {
       const bool steps = trains(s) || s.workload.kind == WorkloadKind::kProfile;
       return at("/method/name", steps && !gossips(s) && training_method(s)->of_gossip());
     },
     kOfMethod},
    {"any schedule but gossip", "optimiser quasi-global",
     "{optimizer} looks at what neighbours made of a worker's weights",
     "schedule gossip, or another optimiser",
     [](const Scenario& s) {
       const auto* const rule = trainers::find_update(s.workload.optimizer);
       return at("/workload/optimizer/name", trains(s) && !gossips(s) && rule && rule->of_gossip);
     },
     kOfMethod},
    {"schedule gossip", "exchange zero, offload",
     "a worker that gossips updates all of its weights", "neither of the two",
     [](const Scenario& s) {
       Places places = at("/exchange/zero", gossips(s) && s.exchange.zero > 0);
       if (gossips(s) && s.exchange.offload) places.emplace_back("/exchange/offload");
       return places;
     },
     kOfSchedule},
    // A model in stages.
    {"schedule pipeline", "collective parameter-server, scatter-reduce, in-network, gossip, auto",
     "replicas of a pipeline add up a stage's gradients among the workers that have it",
     "ring, tree, halving-doubling, two-level or direct",
     [](const Scenario& s) {
       constexpr std::string_view kAmongWorkers[] = {"ring", "tree", "halving-doubling",
                                                     "two-level", "direct"};
       return at("/exchange/collective",
                 pipelines(s) && std::ranges::find(kAmongWorkers, s.exchange.collective) ==
                                     std::end(kAmongWorkers));
     },
     kOfSchedule},
    {"schedule pipeline", "transport udp-lossy",
     "schedule pipeline waits for whole messages, and udp-lossy sends none again", "tcp or ideal",
     [](const Scenario& s) { return at("/network/transport/protocol", pipelines(s) && loses(s)); },
     kOfTransport},
    {"schedule pipeline", "exchange zero, offload", "a stage's worker updates all of its weights",
     "neither of the two",
     [](const Scenario& s) {
       Places places = at("/exchange/zero", pipelines(s) && s.exchange.zero > 0);
       if (pipelines(s) && s.exchange.offload) places.emplace_back("/exchange/offload");
       return places;
     },
     kOfSchedule},
    {"schedule pipeline", "activation checkpointing",
     "a stage keeps the activations of its own parts alone", "0",
     [](const Scenario& s) {
       return at("/workload/checkpoint_activations",
                 pipelines(s) && s.workload.checkpoint_activations > 0);
     },
     kOfMethod},
    {"schedule pipeline",
     "a method with phases, that looks at whole steps or models, or changes samples",
     "{method} looks at more than the stage that a worker has",
     "a codec by name, or schedule lockstep",
     [](const Scenario& s) {
       return at(
           "/method/name",
           pipelines(s) && (has_phases(s) || has_steps_of_its_own(s) || acts_on_model(s) ||
                            training_method(s)->updates_at_server() ||
                            training_method(s)->augments() || training_method(s)->of_rounds()));
     },
     kOfMethod},
    {"any schedule but pipeline, or a profile", "a method for pipelines",
     "{method} is of stages that send each other activations",
     "schedule pipeline, or another method",
     [](const Scenario& s) {
       const bool steps = trains(s) || s.workload.kind == WorkloadKind::kProfile;
       return at("/method/name", steps && !pipelines(s) && training_method(s)->of_pipeline());
     },
     kOfMethod},
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
       return at("/workload/micro_batches",
                 trains(s) && s.workload.micro_batches > s.workload.batch_per_worker);
     },
     kOfMethod},
    // What executors know.
    {"transport rdma", "links that lose packets",
     "rdma is InfiniBand or RoCE on a network without loss: no packet is sent again", "0, or tcp",
     [](const Scenario& s) {
       Places found;
       if (s.network.transport.protocol != Protocol::kRdma) return found;
       for (const auto& [pointer, link] : given_links(s.network))
         if (link.loss > 0 || link.burst.enter > 0) found.push_back(pointer);
       return found;
     },
     kOfTransport},
    {"executor packet", "transport rdma", "executor packet has no model of RDMA", "flow or model",
     [](const Scenario& s) {
       return at("/network/transport/protocol",
                 is_by(s, {"packet"}) && s.network.transport.protocol == Protocol::kRdma);
     },
     kOfExecutor},
    {"executor packet", "transport ideal", "executor packet sends packets, and they take time",
     "tcp or udp-lossy, or executor flow",
     [](const Scenario& s) {
       return at("/network/transport/protocol",
                 is_by(s, {"packet"}) && s.network.transport.protocol == Protocol::kIdeal);
     },
     kOfExecutor},
    {"executor packet", "absences in a radio cell",
     "executor packet lets no station of a radio cell go away", "flow",
     [](const Scenario& s) {
       return at("/cluster/absences",
                 is_by(s, {"packet"}) && is_radio(s) && !s.cluster.absences.empty());
     },
     kOfExecutor},
    {"executor model, emulator", "any transport but tcp (model: or rdma)",
     "executor {executor} speaks TCP (and model RDMA)", "flow, or packet but for ideal and rdma",
     [](const Scenario& s) {
       const bool modelled = is_by(s, {"model"}) && s.network.transport.protocol == Protocol::kRdma;
       return at("/network/transport/protocol",
                 is_by(s, {"model", "emulator"}) && !runs_tcp(s) && !modelled);
     },
     kOfExecutor},
    {"executor model, emulator", "background traffic",
     "executor {executor} has no background traffic", "flow or packet",
     [](const Scenario& s) {
       return at("/network/background",
                 is_by(s, {"model", "emulator"}) && !s.network.background.empty());
     },
     kOfExecutor},
    {"executor emulator", "absences", "executor {executor} lets no worker fail",
     "flow, packet or model",
     [](const Scenario& s) {
       return at("/cluster/absences", is_by(s, {"emulator"}) && !s.cluster.absences.empty());
     },
     kOfExecutor},
    {"executor emulator", "a spread of compute times", "executor {executor} has no spread of times",
     "flow, packet or model",
     [](const Scenario& s) {
       return at("/cluster/spread", is_by(s, {"emulator"}) && s.cluster.spread > 0);
     },
     kOfExecutor},
    {"executor emulator", "radio cells", "the emulator has no radio cells", "flow or packet",
     [](const Scenario& s) {
       return at("/network/topology", is_by(s, {"emulator"}) && is_radio(s));
     },
     kOfExecutor},
    {"executor emulator", "half-duplex links", "the emulator's links are full duplex",
     "flow or packet", shared_media, kOfExecutor},
    {"executor flow", "bbr with a calibration against Linux",
     "flow models bbr as ns-3 has it, not by Linux's rules", "cubic, reno, or calibration packet",
     [](const Scenario& s) {
       const sim::TransportSettings& transport = s.network.transport;
       return at(
           "/network/transport/congestion_control",
           is_by(s, {"flow"}) && transport.constants.kernel_recovery &&
               transport.congestion_control == sim::TransportSettings::CongestionControl::kBbr);
     },
     kOfExecutor},
};

using Words = std::vector<std::pair<std::string_view, std::string>>;

std::string replaced(std::string_view reason, const Words& words) {
  std::string text(reason);
  for (const auto& [word, value] : words)
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += value.size())
      text.replace(at, word.size(), value);
  return text;
}

/// The reason with the scenario's own words.
std::string filled(std::string_view reason, const Scenario& scenario) {
  return replaced(reason, {{"{schedule}", scenario.schedule.kind},
                           {"{executor}", scenario.executor},
                           {"{method}", scenario.method.name},
                           {"{optimizer}", scenario.workload.optimizer}});
}

/// The reason without a scenario.
std::string in_general(std::string_view reason) {
  return replaced(reason, {{"schedule {schedule}", "such a schedule"},
                           {"executor {executor}", "such an executor"},
                           {"method {method}", "the method"},
                           {"{method}", "the method"},
                           {"{optimizer}", "another"}});
}

bool is_sound(const Rules& rules, const Combination& row) {
  return std::ranges::all_of(row.looks_at,
                             [&](std::string_view pointer) { return rules.sound({pointer}); });
}

Places met_at(const Combination& row, const Scenario& scenario) {
  try {
    return row.where(scenario);
  } catch (const Error&) {
    return {};  // a method whose options do not go together: its own check says so
  }
}

}  // namespace

std::span<const Combination> combinations() {
  return kCombinations;
}

void check_combinations(const Rules& rules) {
  std::set<std::string> refused;
  for (const Combination& row : kCombinations) {
    if (!is_sound(rules, row)) continue;
    for (const std::string& pointer : met_at(row, rules.scenario))
      if (refused.insert(pointer).second)
        rules.refuse(pointer, filled(row.reason, rules.scenario), std::string(row.instead));
  }
}

std::string combinations_docs() {
  std::string page = "\n| this | with this | why not | instead |\n|---|---|---|---|\n";
  for (const Combination& row : kCombinations)
    page += "| " + std::string(row.one) + " | " + std::string(row.other) + " | " +
            in_general(row.reason) + " | " + std::string(row.instead) + " |\n";
  return page;
}

}  // namespace gradwire::scenarios
