#include "compressors/codec.h"
#include "scenarios/fields.h"

namespace gradwire::scenarios {
namespace {

constexpr KindMask kTraining = mask_of(WorkloadKind::kTraining);
constexpr KindMask kProfile = mask_of(WorkloadKind::kProfile);
constexpr KindMask kSteps = kTraining | kProfile;
constexpr KindMask kCollective = mask_of(WorkloadKind::kCollective);
constexpr KindMask kTransfers = mask_of(WorkloadKind::kTransfers);
constexpr double kMany =
    9007199254740991.0;  // 2^53 - 1: the largest integer that JSON carries safely

using Rows = std::vector<Field>;

Field object(std::string pointer, std::string help, KindMask kinds = kAllKinds) {
  return {.pointer = std::move(pointer),
          .shape = Shape::kObject,
          .spec = {.help = std::move(help)},
          .kinds = kinds};
}

Field list(std::string pointer, std::string help, KindMask kinds = kAllKinds) {
  return {.pointer = std::move(pointer),
          .shape = Shape::kList,
          .spec = {.help = std::move(help)},
          .kinds = kinds};
}

Field text(std::string pointer, std::string help) {
  return {.pointer = std::move(pointer),
          .spec = {.type = OptionType::kText, .help = std::move(help)}};
}

void add_head(Rows& rows) {
  rows.push_back(object("", "A scenario: what to run, on which machines, over which network."));
  rows.push_back(text("/$schema", "Path of the JSON Schema, so that editors complete keys."));
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
  rows.push_back(text("/description", "What the scenario shows, for people."));
  for (Field& row : rows) row.sweepable = false;
  rows[1].free_of_hash = rows[4].free_of_hash = true;
}

void add_training(Rows& rows) {
  rows.push_back({.pointer = "/workload/model",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "mlp",
                           .help = "Model that is really trained.",
                           .choices = {"logistic", "mlp", "lenet5", "resnet20", "char-lstm"}},
                  .kinds = kTraining});
  rows.push_back(object("/workload/data", "Training and held-out data.", kTraining));
  rows.push_back({.pointer = "/workload/data/set",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "digits",
                           .help = "Data set; only `digits` is built in, the others need `path`.",
                           .choices = {"digits", "mnist", "cifar10", "text"}},
                  .kinds = kTraining});
  rows.push_back(text("/workload/data/path", "Folder or file, relative to the scenario file."));
  rows.back().kinds = kTraining;
  rows.push_back({.pointer = "/workload/batch_per_worker",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "32",
                           .help = "Samples that each worker takes in a step.",
                           .min = 1,
                           .max = 1e6},
                  .unit = "samples",
                  .kinds = kSteps});
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

void add_optimizer(Rows& rows) {
  rows.push_back(object("/workload/optimizer", "How the summed gradient is applied.", kTraining));
  rows.push_back({.pointer = "/workload/optimizer/name",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "sgd",
                           .help = "Update rule.",
                           .choices = {"sgd", "adam"}},
                  .kinds = kTraining});
  rows.push_back({.pointer = "/workload/optimizer/lr",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0.05",
                           .help = "Learning rate.",
                           .min = 0,
                           .max = 1000,
                           .min_exclusive = true},
                  .kinds = kTraining,
                  .suspicious_above = 2,
                  .suspicious_why = "training usually diverges"});
  rows.push_back({.pointer = "/workload/optimizer/momentum",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "Momentum of sgd.",
                           .min = 0,
                           .max = 1,
                           .max_exclusive = true},
                  .kinds = kTraining,
                  .when = Condition{"/workload/optimizer/name", "sgd"}});
  rows.push_back({.pointer = "/workload/optimizer/weight_decay",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "L2 penalty, added to the gradient.",
                           .min = 0,
                           .max = 10},
                  .kinds = kTraining,
                  .suspicious_above = 0.1,
                  .suspicious_why = "the penalty usually outweighs the loss"});
}

void add_other_workloads(Rows& rows) {
  rows.push_back({.pointer = "/workload/profile",
                  .spec = {.type = OptionType::kText,
                           .help = "Layer table that stands in for a model: a shipped profile's "
                                   "name or a path."},
                  .required = true,
                  .kinds = kProfile});
  rows.push_back({.pointer = "/workload/collective",
                  .spec = {.type = OptionType::kChoice,
                           .help = "One collective, without training.",
                           .choices = {"ring-all-reduce", "ring-all-gather", "ring-reduce-scatter",
                                       "parameter-server"}},
                  .required = true,
                  .kinds = kCollective});
  rows.push_back({.pointer = "/workload/bytes",
                  .spec = {.type = OptionType::kBytes,
                           .default_text = "25MB",
                           .help = "Size of the collective's buffer on each worker.",
                           .min = 4},
                  .kinds = kCollective});
  rows.push_back({.pointer = "/workload/repetitions",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "1",
                           .help = "How often the collective runs, one after the other.",
                           .min = 1,
                           .max = 1e6},
                  .kinds = kCollective});
  rows.push_back(list("/workload/transfers", "Explicit transfers between hosts.", kTransfers));
  rows.back().required = true;
  rows.push_back(object("/workload/transfers/*", "One transfer.", kTransfers));
  for (const char* end : {"from", "to"}) {
    rows.push_back(text(std::string("/workload/transfers/*/") + end,
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

void add_method(Rows& rows) {
  rows.push_back(object("/method", "How gradients are compressed.", kSteps));
  Field name{.pointer = "/method/name",
             .spec = {.type = OptionType::kChoice,
                      .default_text = "none",
                      .help = "Codec; each has options of its own."},
             .kinds = kSteps};
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    name.spec.choices.push_back(codec.name);
  rows.push_back(name);
  rows.push_back({.pointer = "/method/error_feedback",
                  .spec = {.type = OptionType::kBoolean,
                           .help = "Keep what was not sent and add it to the next gradient; any "
                                   "codec but none."},
                  .kinds = kSteps,
                  .computed_default = "true for topk, else false"});
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    for (const OptionSpec& option : codec.options) {
      Field row{.pointer = "/method/" + option.name,
                .spec = option,
                .kinds = kSteps,
                .when = Condition{"/method/name", codec.name}};
      row.required = option.default_text.empty() && option.type != OptionType::kText;
      if (option.name == "ratio") {
        row.suspicious_above = 0.5;
        row.suspicious_why = "values and their indices then take more bytes than the dense tensor";
      }
      rows.push_back(row);
    }
  }
}

void add_cluster(Rows& rows) {
  rows.push_back(object("/cluster", "The machines."));
  rows.push_back({.pointer = "/cluster/workers",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Workers; in an explicit topology the number of hosts, less the "
                                   "server.",
                           .min = 1,
                           .max = 65536},
                  .unit = "workers",
                  .computed_default = "4; explicit topology: from /network/hosts"});
  rows.push_back({.pointer = "/cluster/device",
                  .spec = {.type = OptionType::kText,
                           .default_text = "cpu",
                           .help = "Where compute times come from: cpu or cuda (both measured on "
                                   "this machine), a shipped device profile's name, or a path."},
                  .kinds = kSteps});
  rows.push_back(list("/cluster/stragglers", "Workers slower or faster than the rest.", kSteps));
  rows.push_back(object("/cluster/stragglers/*", "One worker's speed.", kSteps));
  rows.push_back({.pointer = "/cluster/stragglers/*/worker",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Worker, counted from 0.",
                           .min = 0,
                           .max = 65535},
                  .required = true,
                  .kinds = kSteps});
  rows.push_back({.pointer = "/cluster/stragglers/*/factor",
                  .spec = {.type = OptionType::kNumber,
                           .help = "Compute and codec times are multiplied by this (2 = half as "
                                   "fast).",
                           .min = 0,
                           .max = 1e6,
                           .min_exclusive = true},
                  .required = true,
                  .kinds = kSteps,
                  .suspicious_above = 100,
                  .suspicious_why = "every step waits for that worker"});
}

/// The properties of a link, below `base`.
void add_link(Rows& rows, const std::string& base, const std::optional<Condition>& when) {
  rows.push_back({.pointer = base + "/bandwidth",
                  .spec = {.type = OptionType::kRate,
                           .default_text = "1Gbps",
                           .help = "Rate of each direction.",
                           .min = 0,
                           .max = 1e15,
                           .min_exclusive = true},
                  .when = when,
                  .suspicious_below = 1e4,
                  .suspicious_above = 1e13,
                  .suspicious_why = "check the unit's prefix"});
  rows.push_back(
      {.pointer = base + "/delay",
       .spec = {.type = OptionType::kDuration,
                .default_text = "50us",
                .help = "One-way propagation delay; a path over a star crosses two links.",
                .min = 0,
                .max = 3600},
       .when = when,
       .suspicious_above = 1,
       .suspicious_why = "one way, on every link; check the unit"});
  rows.push_back({.pointer = base + "/loss",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "Probability that a packet is lost, on each link and direction.",
                           .min = 0,
                           .max = 1,
                           .max_exclusive = true},
                  .when = when,
                  .suspicious_above = 0.2,
                  .suspicious_why = "TCP hardly moves; 1 % is 0.01"});
  rows.push_back({.pointer = base + "/queue",
                  .spec = {.type = OptionType::kBytes,
                           .default_text = "0B",
                           .help = "Drop-tail buffer of each direction; 0B = automatic: two "
                                   "bandwidth-delay products, at least 256 packets.",
                           .min = 0},
                  .when = when});
}

void add_topology(Rows& rows) {
  const Condition star{"/network/topology", "star"};
  const Condition explicit_one{"/network/topology", "explicit"};
  rows.push_back(object("/network", "The network between them."));
  rows.push_back(
      {.pointer = "/network/topology",
       .spec = {.type = OptionType::kChoice,
                .default_text = "star",
                .help = "star: every worker on one switch; explicit: hosts, switches and "
                        "links are listed.",
                .choices = {"star", "explicit"}}});
  rows.push_back(object("/network/link", "Each worker's link to the switch."));
  rows.back().when = star;
  add_link(rows, "/network/link", star);
  rows.push_back(
      object("/network/server_link", "The parameter server's link; default: as /network/link."));
  rows.back().when = star;
  rows.back().optional = true;
  add_link(rows, "/network/server_link", star);
  rows.push_back(list("/network/hosts",
                      "Names of the hosts: workers in this order, then the server "
                      "where a parameter server takes part."));
  rows.back().required = true;
  rows.back().when = explicit_one;
  rows.push_back(text("/network/hosts/*", "A host's name."));
  rows.back().identifier = true;
  rows.push_back(list("/network/switches", "Names of the switches."));
  rows.back().when = explicit_one;
  rows.push_back(text("/network/switches/*", "A switch's name."));
  rows.back().identifier = true;
  rows.push_back(list("/network/links", "Duplex links."));
  rows.back().required = true;
  rows.back().when = explicit_one;
  rows.push_back(object("/network/links/*", "One duplex link."));
  for (const char* end : {"a", "b"}) {
    rows.push_back(text(std::string("/network/links/*/") + end, "Host or switch at this end."));
    rows.back().required = true;
  }
  add_link(rows, "/network/links/*", {});
}

Field transport_bytes(const char* name, const char* value, const char* help, double min) {
  return {.pointer = std::string("/network/transport/") + name,
          .spec = {.type = OptionType::kBytes, .default_text = value, .help = help, .min = min}};
}

Field transport_time(const char* name, const char* value, const char* help) {
  return {.pointer = std::string("/network/transport/") + name,
          .spec = {.type = OptionType::kDuration,
                   .default_text = value,
                   .help = help,
                   .min = 0,
                   .max = 3600}};
}

void add_transport(Rows& rows) {
  rows.push_back(object("/network/transport", "TCP, as Linux speaks it today."));
  rows.push_back({.pointer = "/network/transport/congestion_control",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "cubic",
                           .help = "Congestion control.",
                           .choices = {"cubic", "reno", "bbr"}}});
  rows.push_back(transport_bytes("segment", "1448B", "TCP payload of a full segment.", 64));
  rows.push_back(transport_bytes(
      "wire_segment", "1538B", "What a full segment occupies on the wire, with all headers.", 64));
  rows.push_back({.pointer = "/network/transport/initial_window",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "10",
                           .help = "Congestion window of a new connection (RFC 6928).",
                           .min = 1,
                           .max = 10000},
                  .unit = "segments"});
  rows.push_back(transport_time("delayed_ack", "40ms", "Longest delay of an acknowledgement."));
  rows.push_back(transport_time("min_rto", "200ms", "Least retransmission timeout."));
  rows.push_back(
      transport_time("initial_rto", "1s", "Retransmission timeout before any sample (RFC 6298)."));
  rows.push_back(transport_bytes("buffer", "8MiB", "Send and receive buffers.", 4096));
}

void add_exchange(Rows& rows) {
  rows.push_back(object("/exchange", "How workers combine their gradients.", kSteps));
  rows.push_back({.pointer = "/exchange/collective",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "ring",
                           .help = "ring: all-reduce or all-gather, as the codec allows; "
                                   "parameter-server: push to and pull from one server.",
                           .choices = {"ring", "parameter-server"}},
                  .kinds = kSteps});
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
}

void add_runs(Rows& rows) {
  rows.push_back({.pointer = "/executor",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "flow",
                           .help = "model: closed form; flow: discrete-event flows; packet: ns-3; "
                                   "emulator: real processes and sockets.",
                           .choices = {"model", "flow", "packet", "emulator"}}});
  rows.push_back(list("/seeds", "Seeds, one run each: a list, or {\"count\": n} for 1 to n."));
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
  rows.push_back(object("/expected", "What the scenario's runs must show; checked by tests."));
  rows.back().optional = true;
  rows.push_back({.pointer = "/expected/runs",
                  .spec = {.type = OptionType::kInteger, .help = "Number of runs.", .min = 1}});
  rows.push_back(text("/expected/note", "In words."));
  rows.push_back(list("/expected/checks", "Bounds on figures of the runs."));
  rows.push_back(object("/expected/checks/*", "One bound."));
  rows.push_back({.pointer = "/expected/checks/*/metric",
                  .spec = {.type = OptionType::kChoice,
                           .help = "Figure of a run.",
                           .choices = {"final_accuracy", "final_loss", "step_time_s", "wire_bytes",
                                       "simulated_s"}},
                  .required = true});
  rows.push_back(text("/expected/checks/*/method", "Only runs with this codec; default: all."));
  rows.push_back({.pointer = "/expected/checks/*/min",
                  .spec = {.type = OptionType::kNumber, .help = "Least allowed value."}});
  rows.push_back({.pointer = "/expected/checks/*/max",
                  .spec = {.type = OptionType::kNumber, .help = "Greatest allowed value."}});
  for (std::size_t i = first; i < rows.size(); ++i) {
    rows[i].sweepable = false;
    rows[i].free_of_hash = true;
  }
}

Rows scenario_rows() {
  Rows rows;
  add_head(rows);
  rows.push_back(object("/workload",
                        "What the workers do: training, or one of `profile`, "
                        "`collective`, `transfers` instead of a model."));
  rows.back().required = true;
  add_training(rows);
  add_optimizer(rows);
  add_other_workloads(rows);
  add_method(rows);
  add_cluster(rows);
  add_topology(rows);
  add_transport(rows);
  add_exchange(rows);
  add_runs(rows);
  add_expected(rows);
  return rows;
}

}  // namespace

const FieldTable& scenario_table() {
  static const FieldTable table(scenario_rows());
  return table;
}

}  // namespace gradwire::scenarios
