// Who works when, in virtual time.
#include "scenarios/fields/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

const Condition kInRounds{"/schedule/kind", {"rounds"}};
const Condition kInRoundsOrLockstep{"/schedule/kind", {"lockstep", "rounds"}};

/// How many clients a round draws, and of which.
void add_sampling(Rows& rows) {
  rows.push_back({.pointer = "/schedule/sample_decay",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "b: round t = 0, 1, ... draws ceil(sample e^(-b t)) clients, or "
                                   "`sample_least` (dynamic sampling, arXiv 2003.09603).",
                           .min = 0,
                           .max = 10},
                  .kinds = kTraining,
                  .when = kInRounds});
  rows.push_back({.pointer = "/schedule/sample_least",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "1",
                           .help = "With `sample_decay`: so many clients at least.",
                           .min = 1,
                           .max = 65536},
                  .unit = "clients",
                  .kinds = kTraining,
                  .when = kInRounds});
  rows.push_back({.pointer = "/schedule/draw",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "all",
                           .help = "Of whom clients are drawn, all alike. all: of all; available: "
                                   "of those that are not away (/cluster/absences) at the round's "
                                   "start, of which there may be fewer than `sample`.",
                           .choices = {"all", "available"}},
                  .kinds = kTraining,
                  .when = kInRounds});
  rows.push_back({.pointer = "/schedule/buffer",
                  .spec = {.type = OptionType::kInteger,
                           .help = "A round ends with so many updates (FedBuff, arXiv 2106.06639). "
                                   "Clients whose updates are still to come go on, and the next "
                                   "round draws others until `sample` are under way.",
                           .min = 1,
                           .max = 65536},
                  .unit = "updates",
                  .kinds = kTraining,
                  .when = kInRounds,
                  .computed_default = "none: a round's own, all of them"});
}

void add_clients(Rows& rows) {
  rows.push_back({.pointer = "/schedule/sample",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Clients of a round, drawn anew each time by the seed.",
                           .min = 1,
                           .max = 65536},
                  .unit = "clients",
                  .kinds = kTraining,
                  .when = kInRounds,
                  .computed_default = "all workers"});
  add_sampling(rows);
  rows.push_back(
      {.pointer = "/schedule/proximal",
       .spec = {.type = OptionType::kNumber,
                .default_text = "0",
                .help = "mu of FedProx (arXiv 1812.06127): clients minimise their loss + "
                        "mu/2 |w - w of the server|^2.",
                .min = 0,
                .max = 1e6},
       .kinds = kTraining,
       .when = kInRounds});
  rows.push_back({.pointer = "/schedule/deadline",
                  .spec = {.type = OptionType::kDuration,
                           .default_text = "0s",
                           .help = "From a round's start: the server waits no longer for what has "
                                   "not arrived by then; 0 = it waits for all.",
                           .min = 0},
                  .kinds = kTraining,
                  .when = kInRounds});
  rows.push_back({.pointer = "/schedule/drop_out",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "Probability that a client takes the model and is not heard of "
                                   "again in its round.",
                           .min = 0,
                           .max = 1},
                  .kinds = kTraining,
                  .when = kInRounds});
  rows.push_back(
      {.pointer = "/schedule/late",
       .spec = {.type = OptionType::kChoice,
                .default_text = "dropped",
                .help = "What becomes of a client that misses the deadline. dropped: it "
                        "is cut off, its work is lost, what its codec remembers stays as "
                        "it was before; kept: it goes on, and the round in which it "
                        "arrives takes it.",
                .choices = {"dropped", "kept"}},
       .kinds = kTraining,
       .when = kInRounds});
}

void add_server(Rows& rows) {
  rows.push_back({.pointer = "/schedule/weighting",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "samples",
                           .help = "How much a client counts among those that arrived: as many "
                                   "samples as it has, or all the same.",
                           .choices = {"samples", "equal"}},
                  .kinds = kTraining,
                  .when = kInRounds});
  rows.push_back({.pointer = "/schedule/server_rate",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "1",
                           .help = "The server moves the model by so much of the mean of what "
                                   "clients changed; 1 = to the mean of their models.",
                           .min = 0,
                           .max = 1000},
                  .kinds = kTraining,
                  .when = kInRounds,
                  .suspicious_above = 10,
                  .suspicious_why = "1 is the plain mean of the clients' models"});
  rows.push_back({.pointer = "/schedule/server_momentum",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "m of the server: v <- m v + mean change, x <- x + rate v "
                                   "(arXiv 1909.06335).",
                           .min = 0,
                           .max = 0.9999},
                  .kinds = kTraining,
                  .when = kInRounds});
}

void add_staleness(Rows& rows) {
  const Condition asynchronous{"/schedule/kind", {"asynchronous"}};
  const Condition may_be_stale{"/schedule/kind", {"asynchronous", "rounds"}};
  rows.push_back(
      {.pointer = "/schedule/staleness",
       .spec = {.type = OptionType::kChoice,
                .default_text = "none",
                .help =
                    "What an update's staleness, the updates that the server has made since it "
                    "sent the weights (of rounds: the rounds that are over since), does to its "
                    "rate, or to a client's part in the mean. none: nothing; divide: it is divided "
                    "by the staleness, where that is above 1 (Zhang et al. 2016); power: it is "
                    "divided by a power of 1 + staleness (Xie et al. 2019).",
                .choices = {"none", "divide", "power"}},
       .kinds = kTraining,
       .when = may_be_stale});
  rows.push_back({.pointer = "/schedule/staleness_power",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0.5",
                           .help = "Which power.",
                           .min = 0,
                           .max = 10},
                  .kinds = kTraining,
                  .when = Condition{"/schedule/staleness", {"power"}}});
  rows.push_back({.pointer = "/schedule/most_stale",
                  .spec = {.type = OptionType::kInteger,
                           .help = "A worker of which the server has taken more than so many "
                                   "gradients more than of the slowest one waits for that one "
                                   "(stale-synchronous parallel, Ho et al. 2013).",
                           .min = 0,
                           .max = 1e9},
                  .unit = "updates",
                  .kinds = kTraining,
                  .when = asynchronous,
                  .computed_default = "none: nobody waits"});
}

void add_graph(Rows& rows) {
  const Condition gossips{"/schedule/kind", {"gossip"}};
  const Condition listed{"/schedule/graph", {"explicit"}};
  rows.push_back({.pointer = "/schedule/graph",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "ring",
                           .help = "Whom a worker sends its weights. ring, torus (a grid that "
                                   "wraps around, as square as can be), complete, random-regular "
                                   "(drawn by the seed, `degree` neighbours each): both ways; "
                                   "directed-ring: worker i to i + 1; exponential: to i + 1, i + "
                                   "2, i + 4, ...; explicit: `edges`.",
                           .choices = {"ring", "directed-ring", "torus", "exponential", "complete",
                                       "random-regular", "explicit"}},
                  .kinds = kTraining,
                  .when = gossips});
  rows.push_back({.pointer = "/schedule/degree",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "4",
                           .help = "Neighbours of a worker.",
                           .min = 2,
                           .max = 65535},
                  .unit = "workers",
                  .kinds = kTraining,
                  .when = Condition{"/schedule/graph", {"random-regular"}}});
  rows.push_back({.pointer = "/schedule/directed",
                  .spec = {.type = OptionType::kBoolean,
                           .default_text = "false",
                           .help = "Messages go from `a` to `b` alone, and not back."},
                  .kinds = kTraining,
                  .when = listed});
  rows.push_back(list_row("/schedule/edges", "Pairs of neighbours.", kTraining));
  rows.back().required = true;
  rows.back().when = listed;
  rows.push_back(object_row("/schedule/edges/*", "One pair.", kTraining));
  for (const char* end : {"a", "b"})
    rows.push_back({.pointer = std::string("/schedule/edges/*/") + end,
                    .spec = {.type = OptionType::kInteger,
                             .help = "Worker, counted from 0.",
                             .min = 0,
                             .max = 65535},
                    .required = true,
                    .kinds = kTraining});
  rows.push_back({.pointer = "/schedule/edges/*/weight",
                  .spec = {.type = OptionType::kNumber,
                           .help = "How much of the sender's weights the receiver takes. Given for "
                                   "all pairs or none; those into a worker, and those out of it, "
                                   "add up to 1 at most, and to the same.",
                           .min = 0,
                           .max = 1},
                  .kinds = kTraining,
                  .computed_default = "1 / (1 + the larger one of the two ends' numbers of "
                                      "neighbours)"});
  rows.push_back({.pointer = "/schedule/patience",
                  .spec = {.type = OptionType::kDuration,
                           .help = "Asynchronous gossip: so long at most a worker whose step is "
                                   "done waits for its neighbours' messages of that step; then it "
                                   "uses late neighbours as it last heard of them. 0s: nobody "
                                   "waits. /workload/steps counts steps of all workers together: "
                                   "as many as there are workers are one.",
                           .min = 0},
                  .kinds = kTraining,
                  .when = gossips,
                  .computed_default = "none: a step waits for all neighbours"});
  rows.push_back({.pointer = "/schedule/final_mixing",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "0",
                           .help = "So many of the last steps mix weights and learn nothing.",
                           .min = 0,
                           .max = 1e9},
                  .unit = "steps",
                  .kinds = kTraining,
                  .when = gossips});
}

void add_stages(Rows& rows) {
  const Condition pipelines{"/schedule/kind", {"pipeline"}};
  rows.push_back(
      {.pointer = "/schedule/stages",
       .spec = {.type = OptionType::kInteger,
                .help = "Stages that the model is cut into, each on a worker of its own: "
                        "so many neighbouring workers are a replica of the pipeline. "
                        "Several replicas add up the gradients of each stage by "
                        "`/exchange`.",
                .min = 1,
                .max = 4096},
       .unit = "stages",
       .kinds = kTraining,
       .when = pipelines,
       .computed_default = "all workers: one replica"});
  rows.push_back(list_row("/schedule/cut",
                          "How many of the model's parts (docs/models/memory.md names them) each "
                          "stage has, in order.",
                          kTraining));
  rows.back().when = pipelines;
  rows.back().computed_default = "nearly equally many";
  rows.push_back({.pointer = "/schedule/cut/*",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Parts of one stage.",
                           .min = 0,
                           .max = 65536},
                  .unit = "parts",
                  .kinds = kTraining});
  rows.push_back({.pointer = "/schedule/order",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "gpipe",
                           .help = "Of a stage's passes over the micro-batches "
                                   "(`/workload/micro_batches`). gpipe: all forward passes, then "
                                   "all backward passes; 1f1b: one of each in turn, so that a "
                                   "stage keeps few activations.",
                           .choices = {"gpipe", "1f1b"}},
                  .kinds = kTraining,
                  .when = pipelines});
}

}  // namespace

void add_work_schedule(Rows& rows) {
  rows.push_back(object_row(
      "/schedule", "Who works when; without it all workers take each step together.", kTraining));
  rows.back().optional = true;
  rows.push_back(
      {.pointer = "/schedule/kind",
       .spec =
           {.type = OptionType::kChoice,
            .default_text = "lockstep",
            .help =
                "lockstep: all workers take each step together; rounds: a server sends "
                "some clients its model, they train it on their own samples and send it "
                "back; asynchronous: a server updates its model whenever a worker's "
                "gradient arrives; gossip: each worker has weights of its own, takes a step and "
                "mixes them with those of its neighbours in a graph; pipeline: each worker has a "
                "stage of the model, through which micro-batches pass both ways before all update. "
                "/workload/steps counts steps, rounds or updates.",
            .choices = {"lockstep", "rounds", "asynchronous", "gossip", "pipeline"}},
       .kinds = kTraining});
  rows.push_back(
      {.pointer = "/schedule/local_steps",
       .spec = {.type = OptionType::kInteger,
                .default_text = "1",
                .help = "Steps that a worker takes by itself between two exchanges, with "
                        "sgd (local SGD, arXiv 1805.09767), or a client in a round, with "
                        "the optimiser.",
                .min = 1,
                .max = 1e6},
       .unit = "steps",
       .kinds = kTraining,
       .when = kInRoundsOrLockstep});
  rows.push_back({.pointer = "/schedule/local_epochs",
                  .spec = {.type = OptionType::kNumber,
                           .help = "Passes of a client over its samples in a round, in place of "
                                   "`local_steps`: as many batches as it takes, at least one.",
                           .min = 0,
                           .max = 1e6},
                  .unit = "epochs",
                  .kinds = kTraining,
                  .when = kInRounds,
                  .computed_default = "none: `local_steps`"});
  add_clients(rows);
  add_server(rows);
  add_staleness(rows);
  add_graph(rows);
  add_stages(rows);
}

}  // namespace gradwire::scenarios
