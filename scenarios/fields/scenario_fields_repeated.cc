// Workloads without training that are repeated: gossip, a pipeline, federated rounds.
#include "scenarios/fields/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

Field seconds_row(std::string pointer, const char* usual, std::string help, KindMask kinds) {
  return {.pointer = std::move(pointer),
          .spec = {.type = OptionType::kDuration,
                   .default_text = usual,
                   .help = std::move(help),
                   .min = 0},
          .kinds = kinds};
}

Field size_row(std::string pointer, const char* usual, std::string help, KindMask kinds) {
  return {.pointer = std::move(pointer),
          .spec = {.type = OptionType::kBytes,
                   .default_text = usual,
                   .help = std::move(help),
                   .min = 0},
          .kinds = kinds};
}

constexpr std::size_t kStageRows = 9;

/// Of every stage ("/workload/pipeline"), or of one, which has the others' values where it is
/// silent.
void add_stage(Rows& rows, const std::string& base, bool one) {
  rows.push_back(
      seconds_row(base + "/forward", "10ms", "Forward pass of a micro-batch.", kPipeline));
  rows.push_back(
      seconds_row(base + "/backward", "20ms", "Backward pass of a micro-batch.", kPipeline));
  rows.push_back(
      seconds_row(base + "/update", "0s", "Update after the last backward pass.", kPipeline));
  rows.push_back(size_row(base + "/activations", "4MB",
                          "What a micro-batch sends to the next stage. The last stage sends none.",
                          kPipeline));
  rows.push_back(size_row(base + "/gradients", "",
                          "What comes back from the next stage: the activations' gradient.",
                          kPipeline));
  rows.back().computed_default = "as many bytes as `activations`";
  rows.push_back(seconds_row(base + "/encode", "0s",
                             "Of a micro-batch's activations, beside the passes.", kPipeline));
  rows.push_back(seconds_row(base + "/decode", "0s", "Of the same at the next stage.", kPipeline));
  rows.push_back(seconds_row(base + "/encode_gradients", "0s",
                             "Of their gradient at the next stage.", kPipeline));
  rows.push_back(
      seconds_row(base + "/decode_gradients", "0s", "Of the same at this stage.", kPipeline));
  if (!one) return;
  for (std::size_t i = rows.size() - kStageRows; i < rows.size(); ++i) {
    rows[i].spec.default_text.clear();
    rows[i].computed_default = "that of `/workload/pipeline`";
    rows[i].repeated = true;
  }
}

}  // namespace

void add_gossip(Rows& rows) {
  const Condition gossips{"/workload/collective", {"gossip"}};
  const Condition listed{"/workload/graph", {"explicit"}};
  rows.push_back({.pointer = "/workload/graph",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "ring",
                           .help = "Who is whose neighbour. torus: a grid that wraps around, as "
                                   "square as can be; random-regular: drawn by the seed, with "
                                   "`degree` neighbours each; explicit: `edges`.",
                           .choices = {"ring", "torus", "complete", "random-regular", "explicit"}},
                  .kinds = kCollective,
                  .when = gossips});
  rows.push_back({.pointer = "/workload/degree",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "4",
                           .help = "Neighbours of a worker.",
                           .min = 2,
                           .max = 65535},
                  .unit = "workers",
                  .kinds = kCollective,
                  .when = Condition{"/workload/graph", {"random-regular"}}});
  rows.push_back(list_row("/workload/edges", "Pairs of neighbours.", kCollective));
  rows.back().required = true;
  rows.back().when = listed;
  rows.push_back(object_row("/workload/edges/*", "One pair.", kCollective));
  for (const char* end : {"a", "b"})
    rows.push_back({.pointer = std::string("/workload/edges/*/") + end,
                    .spec = {.type = OptionType::kInteger,
                             .help = "Worker, counted from 0.",
                             .min = 0,
                             .max = 65535},
                    .required = true,
                    .kinds = kCollective});
}

void add_federated(Rows& rows) {
  rows.push_back(object_row("/workload/federated",
                            "Rounds of a server (host `server`) and clients: it sends a sample of "
                            "them the model, each computes and sends an update, it adds them.",
                            kFederated));
  rows.back().required = true;
  rows.push_back({.pointer = "/workload/federated/sample",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Clients of a round, drawn anew each time by the seed.",
                           .min = 1,
                           .max = 65536},
                  .unit = "clients",
                  .kinds = kFederated,
                  .computed_default = "all workers"});
  const std::string base = "/workload/federated";
  rows.push_back(size_row(base + "/download", "5MB", "What each receives.", kFederated));
  rows.push_back(size_row(base + "/upload", "5MB", "What each sends.", kFederated));
  rows.push_back(
      seconds_row(base + "/compute", "1s", "A client's training in a round.", kFederated));
  rows.push_back(seconds_row(base + "/aggregate", "0s",
                             "The server's work to add one client's update.", kFederated));
  rows.push_back(seconds_row(base + "/deadline", "0s",
                             "From a round's start: what has not been added by then is dropped; "
                             "0 = none.",
                             kFederated));
  rows.push_back({.pointer = base + "/drop_out",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "Probability that a client takes the model and is not heard of "
                                   "again in its round.",
                           .min = 0,
                           .max = 1},
                  .kinds = kFederated});
}

void add_pipeline(Rows& rows) {
  rows.push_back(object_row("/workload/pipeline",
                            "A model cut into stages, one a worker, through which micro-batches "
                            "pass forwards and backwards; all have passed before the update.",
                            kPipeline));
  rows.back().required = true;
  rows.push_back({.pointer = "/workload/pipeline/schedule",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "gpipe",
                           .help = "gpipe: all forward passes, then all backward passes; 1f1b: one "
                                   "of each in turn, so that a stage keeps few activations.",
                           .choices = {"gpipe", "1f1b"}},
                  .kinds = kPipeline});
  rows.push_back({.pointer = "/workload/pipeline/micro_batches",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "8",
                           .help = "Micro-batches of a step.",
                           .min = 1,
                           .max = 4096},
                  .kinds = kPipeline});
  add_stage(rows, "/workload/pipeline", false);
  rows.push_back(list_row(
      "/workload/pipeline/stages",
      "Stages that differ: one item a worker, each with any of the fields above.", kPipeline));
  rows.push_back(object_row("/workload/pipeline/stages/*", "One stage.", kPipeline));
  add_stage(rows, "/workload/pipeline/stages/*", true);
}

}  // namespace gradwire::scenarios
