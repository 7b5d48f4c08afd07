#include "scenarios/fields/scenario_rows.h"

namespace gradwire::scenarios {

Field object_row(std::string pointer, std::string help, KindMask kinds) {
  return {.pointer = std::move(pointer),
          .shape = Shape::kObject,
          .spec = {.help = std::move(help)},
          .kinds = kinds};
}

Field list_row(std::string pointer, std::string help, KindMask kinds) {
  return {.pointer = std::move(pointer),
          .shape = Shape::kList,
          .spec = {.help = std::move(help)},
          .kinds = kinds};
}

Field text_row(std::string pointer, std::string help) {
  return {.pointer = std::move(pointer),
          .spec = {.type = OptionType::kText, .help = std::move(help)}};
}

Field group_row(std::string pointer, KindMask kinds, Condition when) {
  return {.pointer = std::move(pointer),
          .spec = {.type = OptionType::kInteger,
                   .help = "Workers of a group: one leader a group takes part in the "
                           "second level.",
                   .min = 1,
                   .max = 65536},
          .unit = "workers",
          .kinds = kinds,
          .when = std::move(when),
          .computed_default = "those of a machine of gpu-nodes, else 8"};
}

Field shards_row(std::string pointer, const std::string& what, KindMask kinds, Condition when) {
  return {.pointer = std::move(pointer),
          .spec = {.type = OptionType::kInteger,
                   .default_text = "1",
                   .help = "Hosts over which the parameter server is spread; each has an "
                           "equal part of " +
                           what + ".",
                   .min = 1,
                   .max = 1024},
          .unit = "hosts",
          .kinds = kinds,
          .when = std::move(when)};
}

namespace {

constexpr double kMany =
    9007199254740991.0;  // 2^53 - 1: the largest integer that JSON carries safely

void add_head(Rows& rows) {
  rows.push_back(object_row("", "A scenario: what to run, on which machines, over which network."));
  rows.push_back(text_row("/$schema", "Path of the JSON Schema, so that editors complete keys."));
  rows.push_back({.pointer = "/schema_version",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Version of this format.",
                           .min = 1,
                           .max = kSchemaVersion},
                  .required = true});
  rows.push_back({.pointer = "/name",
                  .spec = {.type = OptionType::kText,
                           .help = "Short name: letters, digits, \".\", \"_\" and \"-\"."},
                  .required = true,
                  .identifier = true,
                  .free_of_hash = true});
  rows.push_back(text_row("/description", "What the scenario shows, for people."));
  for (Field& row : rows) row.sweepable = false;
  rows[1].free_of_hash = rows[4].free_of_hash = true;
}

void add_exchange(Rows& rows) {
  rows.push_back(object_row("/exchange", "How workers combine their gradients.", kSteps));
  rows.push_back(
      {.pointer = "/exchange/collective",
       .spec = {.type = OptionType::kChoice,
                .default_text = "ring",
                .help = "ring: all-reduce or all-gather, as the codec allows; tree, "
                        "halving-doubling, two-level: that all-reduce, for codecs whose "
                        "messages add up on the way; direct: all-gather in which each "
                        "sends to each, for the other codecs; scatter-reduce: each "
                        "worker owns a part, adds what the others send it and encodes "
                        "the sum once (CGX); in-network: the switches of a star or of two "
                        "tiers add up what passes them; parameter-server: push to "
                        "and pull from one server; gossip: each worker sends its neighbours in "
                        "/schedule/graph its weights; auto: the fastest of ring, tree, "
                        "halving-doubling, two-level and direct, by a simulation of one "
                        "step's exchange.",
                .choices = {"ring", "tree", "halving-doubling", "two-level", "direct",
                            "scatter-reduce", "in-network", "parameter-server", "gossip", "auto"}},
       .kinds = kSteps});
  rows.push_back(group_row("/exchange/group", kSteps, {"/exchange/collective", {"two-level"}}));
  rows.push_back(shards_row("/exchange/shards", "every bucket", kSteps,
                            {"/exchange/collective", {"parameter-server"}}));
  rows.push_back({.pointer = "/exchange/bucket",
                  .spec = {.type = OptionType::kBytes,
                           .default_text = "25MB",
                           .help = "Gradients are exchanged in buckets of at least this size.",
                           .min = 4},
                  .kinds = kSteps});
  rows.push_back({.pointer = "/exchange/overlap",
                  .spec = {.type = OptionType::kBoolean,
                           .default_text = "true",
                           .help = "Exchange a bucket while the backward pass goes on."},
                  .kinds = kSteps});
  rows.push_back({.pointer = "/exchange/zero",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Stage of ZeRO (arXiv 1910.02054): each worker holds its part "
                                   "alone of the optimiser's state (1), of the gradients too (2), "
                                   "of the weights too (3). 0: everything is whole at every "
                                   "worker.",
                           .min = 0,
                           .max = 3},
                  .kinds = kSteps,
                  .computed_default = "0"});
}

/// A rate that a device profile may have.
Field host_rate(const std::string& name, std::string help) {
  return {.pointer = "/exchange/offload/" + name,
          .spec = {.type = OptionType::kRate,
                   .help = std::move(help),
                   .min = 0,
                   .max = 1e15,
                   .min_exclusive = true},
          .kinds = kSteps,
          .computed_default = "the device profile's",
          .suspicious_below = 1e8,
          .suspicious_above = 1e14,
          .suspicious_why = "check the unit's prefix"};
}

void add_offload(Rows& rows) {
  rows.push_back(object_row("/exchange/offload",
                            "The optimiser's state lies in the memory of each worker's host, where "
                            "the update is made: gradients go there over the link between device "
                            "and host, and new weights come back. An empty object takes the device "
                            "profile's figures.",
                            kSteps));
  rows.back().optional = true;
  rows.push_back(host_rate("bandwidth", "Of the link between device and host, each way."));
  rows.push_back(
      host_rate("memory_bandwidth", "Of the host's memory, which bounds how fast it updates."));
}

void add_runs(Rows& rows) {
  rows.push_back({.pointer = "/executor",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "flow",
                           .help = "model: closed form; flow: discrete-event flows; packet: ns-3; "
                                   "emulator: real processes and sockets.",
                           .choices = {"model", "flow", "packet", "emulator"}}});
  rows.push_back(list_row("/seeds", "Seeds, one run each: a list, or {\"count\": n} for 1 to n."));
  rows.back().sweepable = false;
  rows.back().computed_default = "[1]";
  rows.back().free_of_hash = true;
  rows.push_back({.pointer = "/seeds/*",
                  .spec = {.type = OptionType::kInteger, .help = "A seed.", .min = 0, .max = kMany},
                  .sweepable = false});
  rows.push_back({.pointer = "/sweep",
                  .shape = Shape::kSweep,
                  .spec = {.help = "Values that vary, by JSON pointer."},
                  .sweepable = false,
                  .free_of_hash = true});
}

void add_expected(Rows& rows) {
  const std::size_t first = rows.size();
  rows.push_back(object_row("/expected",
                            "What the scenario's runs must show; `check` holds them against it."));
  rows.back().optional = true;
  rows.push_back({.pointer = "/expected/runs",
                  .spec = {.type = OptionType::kInteger, .help = "Number of runs.", .min = 1}});
  rows.push_back(text_row("/expected/note", "In words."));
  rows.push_back(list_row("/expected/checks", "Bounds on figures of the runs."));
  rows.push_back(object_row("/expected/checks/*", "One bound."));
  rows.push_back({.pointer = "/expected/checks/*/metric",
                  .spec = {.type = OptionType::kChoice,
                           .help = "Figure of a run.",
                           .choices = {"final_accuracy",
                                       "final_loss",
                                       "step_time_s",
                                       "wire_bytes",
                                       "simulated_s",
                                       "compression_ratio",
                                       "time_to_target_s",
                                       "consensus_distance",
                                       "mean_drift",
                                       "edge_bytes",
                                       "local_accuracy_mean",
                                       "local_accuracy_worst",
                                       "staleness_mean",
                                       "messages_left_out",
                                       "packed_weights_bytes",
                                       "epoch_loss",
                                       "buffer_error_last",
                                       "buffer_error_fall",
                                       "quantiser_error_last",
                                       "perplexity",
                                       "primal_residual",
                                       "model_file_bytes",
                                       "memory_activations_bytes",
                                       "conv_inputs_ratio",
                                       "largest_error_over_bound",
                                       "gradient_error_over_sigma_1",
                                       "gradient_error_over_sigma_2",
                                       "gradient_error_over_sigma_3"}},
                  .required = true});
  rows.push_back(
      text_row("/expected/checks/*/method", "Only runs with this method; default: all."));
  constexpr std::pair<const char*, const char*> kWheres[] = {
      {"where",
       "Only runs whose scenario has these values, by JSON pointer: "
       "{\"/schedule/local_steps\": \"25\"}."},
      {"against_where", "The same of the runs that they are compared with."},
      {"target_where", "The same of the runs whose accuracy is the target."}};
  for (const auto& [name, help] : kWheres) {
    const std::string at = std::string("/expected/checks/*/") + name;
    rows.push_back(object_row(at, help));
    rows.back().shape = Shape::kMap;
    rows.back().optional = true;
    rows.push_back(text_row(at + "/*", "The value, as text; null: there is none."));
  }
  rows.push_back({.pointer = "/expected/checks/*/min",
                  .spec = {.type = OptionType::kNumber, .help = "Least allowed value."}});
  rows.push_back({.pointer = "/expected/checks/*/max",
                  .spec = {.type = OptionType::kNumber, .help = "Greatest allowed value."}});
  rows.push_back(
      text_row("/expected/checks/*/against",
               "Another method, by its label: the mean over seeds is compared with its."));
  rows.push_back({.pointer = "/expected/checks/*/compare",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "difference",
                           .help = "How: the figure less the other's, or over the other's.",
                           .choices = {"difference", "ratio"}}});
  rows.push_back(
      text_row("/expected/checks/*/target_of",
               "With time_to_target_s: the method, by its label, whose final accuracy with the "
               "same seed, less target_less, is the target in place of the scenario's."));
  rows.push_back({.pointer = "/expected/checks/*/target_less",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0.01",
                           .help = "How far below, as a share of the samples.",
                           .min = -1,
                           .max = 1}});
  rows.push_back(text_row("/expected/checks/*/claim",
                          "What the paper or study says, for `reproduce` and `check`."));
  rows.push_back({.pointer = "/expected/checks/*/negative_control",
                  .spec = {.type = OptionType::kBoolean,
                           .default_text = "false",
                           .help = "A broken variant, which must miss the bound."}});
  for (std::size_t i = first; i < rows.size(); ++i) {
    rows[i].sweepable = false;
    rows[i].free_of_hash = true;
  }
}

Rows scenario_rows() {
  Rows rows;
  add_head(rows);
  add_workload(rows);
  add_method(rows);
  add_cluster(rows);
  add_network(rows);
  add_exchange(rows);
  add_offload(rows);
  add_work_schedule(rows);
  add_runs(rows);
  add_prices(rows);
  add_expected(rows);
  return rows;
}

}  // namespace

const FieldTable& scenario_table() {
  static const FieldTable table(scenario_rows());
  return table;
}

}  // namespace gradwire::scenarios
