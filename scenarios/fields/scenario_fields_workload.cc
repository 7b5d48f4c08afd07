#include "scenarios/data_sets.h"
#include "scenarios/fields/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

/// Sets whose split into training and held-out samples the run's seed draws.
std::string seeded_by_run() {
  std::string text;
  for (const DataSetInfo& set : data_set_catalogue())
    if (set.drawn_by_run) text += (text.empty() ? "" : ", ") + set.name;
  return text;
}

/// "name: what it is; ..." of a catalogue.
template <class Row>
std::string list_of(const std::vector<Row>& rows) {
  std::string text;
  for (const Row& row : rows) text += (text.empty() ? "" : "; ") + row.name + ": " + row.help;
  return text;
}

/// Models that activation checkpointing can cut.
std::vector<std::string> layered_models() {
  std::vector<std::string> names;
  for (const ModelInfo& model : model_catalogue())
    if (model.stages > 1) names.push_back(model.name);
  return names;
}

void add_model(Rows& rows) {
  rows.push_back(
      {.pointer = "/workload/model",
       .spec = {.type = OptionType::kChoice,
                .default_text = "mlp",
                .help = "Model that is really trained. " + list_of(model_catalogue()) + ".",
                .choices = model_names()},
       .kinds = kTraining});
  const Condition layered{"/workload/model", {"mlp", "cnn", "char-lstm", "transformer"}};
  rows.push_back(list_row("/workload/hidden",
                          "Widths of the hidden layers, from the input on: any number of mlp and "
                          "cnn (its convolutions), one of char-lstm, one a block of transformer.",
                          kTraining));
  rows.back().when = layered;
  rows.back().computed_default =
      "mlp: [256, 128]; cnn: [16, 32, 32]; char-lstm: [128]; transformer: four blocks of 4 "
      "`embedding`";
  rows.push_back({.pointer = "/workload/hidden/*",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Width of one layer.",
                           .min = 1,
                           .max = 65536},
                  .unit = "units",
                  .kinds = kTraining});
  rows.push_back({.pointer = "/workload/activation",
                  .spec = {.type = OptionType::kChoice,
                           .help = "Between the layers.",
                           .choices = {"relu", "tanh"}},
                  .kinds = kTraining,
                  .when = Condition{"/workload/model", {"mlp"}},
                  .computed_default = "relu"});
  rows.push_back({.pointer = "/workload/bias",
                  .spec = {.type = OptionType::kBoolean,
                           .help = "Whether layers add a bias to their products."},
                  .kinds = kTraining,
                  .when = Condition{"/workload/model", {"logistic", "mlp"}},
                  .computed_default = "true"});
  rows.push_back({.pointer = "/workload/normalisation",
                  .spec = {.type = OptionType::kChoice,
                           .help = "batch: after each layer's product, of mlp the last one's too, "
                                   "batch normalisation (arXiv 1502.03167); then the activation. "
                                   "range-evonorm: of each sample by itself, in place of "
                                   "normalisation and activation (arXiv 2111.09389); hidden "
                                   "layers' widths are multiples of 64 then.",
                           .choices = {"none", "batch", "range-evonorm"}},
                  .kinds = kTraining,
                  .when = Condition{"/workload/model", {"mlp", "resnet20"}},
                  .computed_default = "mlp: none; resnet20: batch"});
  rows.push_back({.pointer = "/workload/embedding",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Numbers that stand for a character; of transformer its width.",
                           .min = 1,
                           .max = 65536},
                  .kinds = kTraining,
                  .when = Condition{"/workload/model", {"char-lstm", "transformer"}},
                  .computed_default = "char-lstm: 32; transformer: 128"});
  rows.push_back({.pointer = "/workload/heads",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Heads of attention, which have equal parts of the width.",
                           .min = 1,
                           .max = 4096},
                  .kinds = kTraining,
                  .when = Condition{"/workload/model", {"transformer"}},
                  .computed_default = "4"});
  const Condition own{"/workload/model", {"torchscript"}};
  rows.push_back({.pointer = "/workload/model_file",
                  .spec = {.type = OptionType::kText,
                           .help = "Model that torch.jit saved, relative to the scenario file. It "
                                   "takes a batch of samples and gives a value for each class; "
                                   "training starts from its weights."},
                  .kinds = kTraining,
                  .when = own});
  rows.push_back({.pointer = "/workload/loss",
                  .spec = {.type = OptionType::kChoice,
                           .help = "Mean over the batch: cross-entropy of the model's results; "
                                   "squared-hinge: max(0, 1 - t y)^2 of each result, t being 1 for "
                                   "the class and -1 for the others; of torchscript also nll where "
                                   "it gives logarithms of probabilities, and mse against 1 for "
                                   "the class and 0 for the others.",
                           .choices = {"cross-entropy", "nll", "mse", "squared-hinge"}},
                  .kinds = kTraining,
                  .computed_default = "cross-entropy"});
  rows.push_back({.pointer = "/workload/checkpoint_activations",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Activation checkpointing (docs/models/memory.md): the model is "
                                   "cut into so many segments; what a segment keeps for the "
                                   "backward pass is computed once more there. 0: none.",
                           .min = 0,
                           .max = 65536},
                  .unit = "segments",
                  .kinds = kTraining,
                  .when = Condition{"/workload/model", layered_models()},
                  .computed_default = "0"});
  rows.push_back({.pointer = "/workload/checkpoint_activations",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Of a layer table: it is cut into so many segments of equally "
                                   "many layers, each of which is computed once more before its "
                                   "backward pass. 0: none.",
                           .min = 0,
                           .max = 65536},
                  .unit = "segments",
                  .kinds = kProfile,
                  .computed_default = "0"});
}

void add_partition(Rows& rows) {
  const std::string base = "/workload/data/partition";
  rows.push_back(object_row(base,
                            "Which worker has which training samples; without it they are dealt "
                            "like cards.",
                            kTraining));
  rows.back().optional = true;
  rows.push_back(
      {.pointer = base + "/kind",
       .spec = {.type = OptionType::kChoice,
                .default_text = "iid",
                .help = "iid: at random; classes: each worker has samples of a few classes alone; "
                        "dirichlet: the classes' shares at each worker are drawn from a Dirichlet "
                        "distribution (Hsu et al. 2019); skew: a share of each class's samples is "
                        "sorted by class and cut into a piece for each worker, the rest dealt at "
                        "random (arXiv 2111.09389); shards: samples sorted by class, or text "
                        "in its order, cut into equal shards, of which each worker has a few "
                        "(McMahan et al. 2017). A worker without samples is refused.",
                .choices = {"iid", "classes", "dirichlet", "skew", "shards"}},
       .kinds = kTraining});
  const auto when = [&](std::vector<std::string> kinds) {
    return Condition{base + "/kind", std::move(kinds)};
  };
  rows.push_back({.pointer = base + "/classes",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "1",
                           .help = "Classes of each worker; a class has nearly equally many "
                                   "workers, among whom its samples are parted.",
                           .min = 1,
                           .max = 256},
                  .unit = "classes",
                  .kinds = kTraining,
                  .when = when({"classes"})});
  rows.push_back({.pointer = base + "/alpha",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0.5",
                           .help = "Of Dirichlet(alpha p), p being the classes' shares of all "
                                   "samples: large is nearly iid, small nearly one class each.",
                           .min = 0.001,
                           .max = 1e6},
                  .kinds = kTraining,
                  .when = when({"dirichlet"})});
  rows.push_back({.pointer = base + "/skew",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0.8",
                           .help = "Share that is sorted: 0 is iid, 1 leaves each worker a piece "
                                   "of the classes' order.",
                           .min = 0,
                           .max = 1},
                  .kinds = kTraining,
                  .when = when({"skew"})});
  rows.push_back({.pointer = base + "/shards",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "2",
                           .help = "Shards of each worker.",
                           .min = 1,
                           .max = 1e6},
                  .unit = "shards",
                  .kinds = kTraining,
                  .when = when({"shards"})});
  rows.push_back({.pointer = base + "/size_spread",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "How workers' numbers of samples differ: proportional to "
                                   "e^(spread z), z drawn from N(0, 1) for each.",
                           .min = 0,
                           .max = 5},
                  .kinds = kTraining,
                  .when = when({"iid", "classes", "dirichlet"})});
}

void add_data(Rows& rows) {
  rows.push_back(object_row("/workload/data", "Training and held-out data.", kTraining));
  rows.push_back({.pointer = "/workload/data/set",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "digits",
                           .help = "Data set. " + list_of(data_set_catalogue()) + ".",
                           .choices = data_set_names()},
                  .kinds = kTraining});
  rows.push_back(text_row("/workload/data/path", "Folder or file, relative to the scenario file."));
  rows.back().kinds = kTraining;
  rows.push_back(
      {.pointer = "/workload/data/seed",
       .spec = {.type = OptionType::kInteger,
                .help = "Seed of what is drawn: generated samples, or which samples are held out.",
                .min = 0,
                .max = 9e15},
       .kinds = kTraining,
       .computed_default = "1, so that all seeds of a scenario learn from the same data; " +
                           seeded_by_run() + ": the run's"});
  for (const DataSetInfo& set : data_set_catalogue())
    for (const OptionSpec& option : set.options)
      rows.push_back({.pointer = "/workload/data/" + option.name,
                      .spec = option,
                      .kinds = kTraining,
                      .when = Condition{"/workload/data/set", {set.name}}});
  add_partition(rows);
}

void add_training(Rows& rows) {
  add_model(rows);
  add_data(rows);
  rows.push_back({.pointer = "/workload/batch_per_worker",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "32",
                           .help = "Samples that each worker takes in a step; of a pipeline each "
                                   "replica.",
                           .min = 1,
                           .max = 1e6},
                  .unit = "samples",
                  .kinds = kSteps});
  rows.push_back(
      {.pointer = "/workload/micro_batches",
       .spec = {.type = OptionType::kInteger,
                .help = "Gradient accumulation: a worker's batch is cut into so many "
                        "parts, which pass one after the other; their gradients are "
                        "added up, weighted by samples, before they are exchanged. "
                        "Activations are those of one part. Of a pipeline the parts that "
                        "pass through its stages.",
                .min = 1,
                .max = 1e6},
       .unit = "parts",
       .kinds = kSteps,
       .computed_default = "1"});
  rows.push_back({.pointer = "/workload/steps",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "200",
                           .help = "Training steps.",
                           .min = 1,
                           .max = 1e9},
                  .unit = "steps",
                  .kinds = kSteps});
  rows.push_back({.pointer = "/workload/evaluate_every",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "20",
                           .help = "Steps between evaluations on held-out data; the last step is "
                                   "always evaluated.",
                           .min = 1,
                           .max = 1e9},
                  .unit = "steps",
                  .kinds = kTraining});
  rows.push_back({.pointer = "/workload/target_accuracy",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "Held-out accuracy whose simulated time is reported; 0 = none.",
                           .min = 0,
                           .max = 1},
                  .kinds = kTraining});
}

void add_other_workloads(Rows& rows) {
  rows.push_back({.pointer = "/workload/profile",
                  .spec = {.type = OptionType::kText,
                           .help = "Layer table that stands in for a model: a shipped profile's "
                                   "name or a path."},
                  .required = true,
                  .kinds = kProfile});
  rows.push_back({.pointer = "/workload/precision",
                  .spec = {.type = OptionType::kChoice,
                           .help = "Of the passes, where a device's peak figures give a layer "
                                   "table its times; gradients are fp32 in each of them.",
                           .choices = {"fp32", "tf32", "fp16"}},
                  .kinds = kProfile,
                  .computed_default = "fp32"});
  rows.push_back(
      {.pointer = "/workload/collective",
       .spec = {.type = OptionType::kChoice,
                .help = "One collective, without training. gossip: each worker sends its buffer to "
                        "its neighbours in `/workload/graph`; auto: the fastest of the ring, tree, "
                        "halving-doubling and two-level all-reduces, by a simulation of each.",
                .choices = {"ring-all-reduce", "ring-all-gather", "ring-reduce-scatter",
                            "parameter-server", "tree-all-reduce", "halving-doubling-all-reduce",
                            "two-level-all-reduce", "in-network-all-reduce", "direct-all-gather",
                            "all-to-all", "broadcast", "gossip", "auto"}},
       .required = true,
       .kinds = kCollective});
  rows.push_back(group_row("/workload/group", kCollective,
                           {"/workload/collective", {"two-level-all-reduce"}}));
  rows.push_back(shards_row("/workload/shards", "the buffer", kCollective,
                            {"/workload/collective", {"parameter-server"}}));
  rows.push_back({.pointer = "/workload/bytes",
                  .spec = {.type = OptionType::kBytes,
                           .default_text = "25MB",
                           .help = "Size of the collective's buffer on each worker.",
                           .min = 4},
                  .kinds = kCollective});
  rows.push_back({.pointer = "/workload/compute",
                  .spec = {.type = OptionType::kDuration,
                           .help = "Computation of each worker before each repetition.",
                           .min = 0},
                  .kinds = kCollective,
                  .computed_default = "none"});
  add_gossip(rows);
  rows.push_back(
      {.pointer = "/workload/repetitions",
       .spec = {.type = OptionType::kInteger,
                .default_text = "1",
                .help = "How often it runs, one after the other: a collective, a step of a "
                        "pipeline, a federated round.",
                .min = 1,
                .max = 1e6},
       .kinds = kRepeated});
  rows.push_back(list_row("/workload/transfers", "Explicit transfers between hosts.", kTransfers));
  rows.back().required = true;
  rows.push_back(object_row("/workload/transfers/*", "One transfer.", kTransfers));
  for (const char* end : {"from", "to"}) {
    rows.push_back(
        text_row(std::string("/workload/transfers/*/") + end,
                 "Host: worker0, worker1, ... in a star, else a name of /network/hosts."));
    rows.back().required = true;
    rows.back().kinds = kTransfers;
  }
  rows.push_back({.pointer = "/workload/transfers/*/bytes",
                  .spec = {.type = OptionType::kBytes, .help = "Payload.", .min = 1},
                  .required = true,
                  .kinds = kTransfers});
  rows.push_back({.pointer = "/workload/transfers/*/start",
                  .spec = {.type = OptionType::kDuration,
                           .default_text = "0s",
                           .help = "Virtual time at which it starts.",
                           .min = 0},
                  .kinds = kTransfers});
}

void add_recording(Rows& rows) {
  rows.push_back({.pointer = "/workload/recording",
                  .spec = {.type = OptionType::kText,
                           .help = "What the ranks of a PyTorch script called and computed: a file "
                                   "that `gradwire torch` wrote, or a folder of PyTorch profiler "
                                   "traces, seen from the scenario file. Rank r is worker r."},
                  .required = true,
                  .kinds = kRecording});
  rows.push_back({.pointer = "/workload/compute_scale",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "1",
                           .help = "Recorded compute times are multiplied by it: 0.02 for a device "
                                   "50 times as fast as the one that recorded, 0 for the network "
                                   "alone.",
                           .min = 0,
                           .max = 1e6},
                  .kinds = kRecording});
  rows.push_back({.pointer = "/workload/alike",
                  .spec = {.type = OptionType::kBoolean,
                           .default_text = "false",
                           .help = "As many ranks as there are workers, each doing what one of the "
                                   "recorded ones does, in turn: for data parallelism. What all "
                                   "ranks hold together stays as large."},
                  .kinds = kRecording});
  rows.push_back({.pointer = "/workload/backend",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "nccl",
                           .help = "Whose way recorded collectives go: a reduce-scatter round a "
                                   "ring, as NCCL's, or as an all-reduce of the whole, as gloo's "
                                   "under PyTorch.",
                           .choices = {"nccl", "gloo"}},
                  .kinds = kRecording});
}

}  // namespace

void add_workload(Rows& rows) {
  rows.push_back(object_row("/workload",
                            "What the workers do: training, or one of `profile`, `collective`, "
                            "`transfers`, `pipeline`, `federated`, `recording` instead of a "
                            "model."));
  rows.back().required = true;
  add_training(rows);
  add_optimizer(rows);
  add_other_workloads(rows);
  add_pipeline(rows);
  add_federated(rows);
  add_recording(rows);
}

}  // namespace gradwire::scenarios
