// Workloads without training that are repeated: gossip, a pipeline, federated rounds.
#include "scenarios/scenario_rows.h"

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
                          "What a micro-batch sends to the next stage; its gradient comes back in "
                          "as many bytes. The last stage sends none.",
                          kPipeline));
  if (!one) return;
  for (std::size_t i = rows.size() - 4; i < rows.size(); ++i) {
    rows[i].spec.default_text.clear();
    rows[i].computed_default = "that of `/workload/pipeline`";
    rows[i].repeated = true;
  }
}

}  // namespace

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
  rows.push_back(list_row("/workload/pipeline/stages",
                          "Stages that differ: one item a worker, each with any of `forward`, "
                          "`backward`, `update`, `activations`.",
                          kPipeline));
  rows.push_back(object_row("/workload/pipeline/stages/*", "One stage.", kPipeline));
  add_stage(rows, "/workload/pipeline/stages/*", true);
}

}  // namespace gradwire::scenarios
