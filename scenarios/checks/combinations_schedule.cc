#include "scenarios/checks/combination_facts.h"

namespace gradwire::scenarios::combined {
namespace {

const Combination kScheduleCombinations[] = {
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
};

}  // namespace

std::span<const Combination> schedule_combinations() {
  return kScheduleCombinations;
}

}  // namespace gradwire::scenarios::combined
