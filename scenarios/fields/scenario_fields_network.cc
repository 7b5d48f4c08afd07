#include "scenarios/fields/scenario_rows.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::scenarios {
namespace {

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
  rows.push_back(object_row("/network/transport", "TCP, as Linux speaks it today."));
  rows.push_back({.pointer = "/network/transport/protocol",
                  .spec = {.type = OptionType::kChoice,
                           .help = "tcp; ideal: fair shares at once, without headers, start-up and "
                                   "loss; udp-lossy: datagrams that are never sent again, so that "
                                   "what is lost is missing; rdma: InfiniBand or RoCE without "
                                   "loss, fair shares at once, with headers.",
                           .choices = {"tcp", "ideal", "udp-lossy", "rdma"}},
                  .computed_default = "tcp"});
  rows.push_back({.pointer = "/network/transport/congestion_control",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "cubic",
                           .help = "Congestion control.",
                           .choices = {"cubic", "reno", "bbr"}}});
  rows.push_back(transport_bytes("segment", "1448B",
                                 "TCP payload of a full segment; over rdma 4096B of a packet, "
                                 "where nothing else is said.",
                                 64));
  rows.push_back(transport_bytes("wire_segment", "1538B",
                                 "What a full segment occupies on the wire, with all headers; "
                                 "over rdma 4178B.",
                                 64));
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
  rows.push_back(
      {.pointer = "/network/transport/connections",
       .spec = {.type = OptionType::kInteger,
                .help = "Connections from each host to each other. Transfers of one pair "
                        "are side by side on them, and behind one another on one.",
                .min = 1,
                .max = sim::kMostConnections},
       .computed_default = "1"});
  rows.push_back(transport_time("deadline", "",
                                "Over udp-lossy: how long a receiver waits for a message's last "
                                "segment after it was due."));
  rows.back().computed_default = "as long as the queues of the way can hold it";
  rows.push_back(text_row("/network/transport/calibration",
                          "Whose TCP the flow executor follows: packet, ns-3 3.44 as the packet "
                          "executor runs it; linux, the kernel's; or the path of a file that "
                          "`gradwire calibrate` wrote (with a \"/\", or ending in .json)."));
  rows.back().computed_default = "packet";
  rows.push_back(text_row("/network/transport/calibration_hash",
                          "Hash of that file; where it is given, another file is refused."));
  rows.back().computed_default = "of the file";
}

Field library_factor(const char* name, const char* help) {
  return {.pointer = std::string("/network/library/") + name,
          .spec = {.type = OptionType::kNumber,
                   .default_text = "1",
                   .help = help,
                   .min = 0,
                   .max = 1000,
                   .min_exclusive = true}};
}

void add_library(Rows& rows) {
  rows.push_back(object_row("/network/library",
                            "The library whose collectives run over rdma. Without one a collective "
                            "takes what its hops take on the links alone."));
  rows.back().optional = true;
  rows.push_back(
      {.pointer = "/network/library/name",
       .spec = {.type = OptionType::kChoice,
                .default_text = "nccl",
                .help =
                    "nccl: rings (all-reduce, reduce-scatter, all-gather) have NCCL's start of "
                    "a call, its choice of ring or tree and of LL, LL128 or Simple by size, and "
                    "their latencies and shares of the links; others are as without it.",
                .choices = {"nccl", "none"}}});
  std::vector<std::string> gpus;
  for (const sim::NcclGpu& each : sim::nccl_gpus()) gpus.emplace_back(each.name);
  rows.push_back(
      {.pointer = "/network/library/gpu",
       .spec = {.type = OptionType::kChoice,
                .help = "Whose links join the GPUs of a node: a machine of gpu-nodes; in "
                        "other topologies all workers are GPUs of one node.",
                .choices = gpus},
       .computed_default = "the links' own rates; outside gpu-nodes every worker is a "
                           "machine of its own"});
  rows.push_back({.pointer = "/network/library/start",
                  .spec = {.type = OptionType::kDuration,
                           .default_text = "25us",
                           .help = "Start of a call on all GPUs; `gradwire calibrate --from` fits "
                                   "it and the factors.",
                           .min = 0,
                           .max = 1}});
  rows.push_back(library_factor("latency", "Factor of the tuner's latencies."));
  rows.push_back(library_factor("bandwidth", "Factor of the bus bandwidth."));
  rows.push_back(library_factor("between",
                                "Factor of the latencies between nodes, over "
                                "InfiniBand's."));
}

void add_behaviour(Rows& rows) {
  rows.push_back({.pointer = "/cluster/spread",
                  .spec = {.type = OptionType::kNumber,
                           .help = "Every worker's compute and codec times vary by so much from "
                                   "operation to operation (log-normal, mean 1): 0.1 is 10 %.",
                           .min = 0,
                           .max = 10},
                  .kinds = kComputing,
                  .computed_default = "0"});
  rows.push_back(list_row("/cluster/absences",
                          "Workers that fail and return: they stand still, their links pass "
                          "nothing, and they go on where they stopped."));
  rows.push_back(object_row("/cluster/absences/*", "One absence."));
  rows.push_back({.pointer = "/cluster/absences/*/worker",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Worker, counted from 0.",
                           .min = 0,
                           .max = 65535},
                  .required = true});
  rows.push_back(transport_time("", "", ""));
  rows.back().pointer = "/cluster/absences/*/from";
  rows.back().spec.help = "When it fails, virtual time.";
  rows.back().spec.max = 1e9;
  rows.back().required = true;
  rows.push_back(rows.back());
  rows.back().pointer = "/cluster/absences/*/to";
  rows.back().spec.help = "When it is back.";
  rows.back().required = false;
  rows.back().computed_default = "never";
}

void add_background(Rows& rows) {
  rows.push_back(list_row("/network/background",
                          "Traffic beside the workload's, over TCP connections of its own."));
  rows.push_back(object_row("/network/background/*", "One source."));
  for (const char* end : {"from", "to"}) {
    rows.push_back(text_row(std::string("/network/background/*/") + end, "Host."));
    rows.back().required = true;
  }
  rows.push_back({.pointer = "/network/background/*/pattern",
                  .spec = {.type = OptionType::kChoice,
                           .default_text = "poisson",
                           .help = "poisson: transfers at independent random times; on-off: one "
                                   "after the other for a random time, then none for another.",
                           .choices = {"poisson", "on-off"}}});
  rows.push_back({.pointer = "/network/background/*/bandwidth",
                  .spec = {.type = OptionType::kRate,
                           .help = "Payload offered, on the average (on-off: while it is on).",
                           .min = 0,
                           .max = 1e15,
                           .min_exclusive = true},
                  .required = true});
  rows.push_back({.pointer = "/network/background/*/size",
                  .spec = {.type = OptionType::kBytes,
                           .default_text = "100kB",
                           .help = "Payload of one transfer.",
                           .min = 1}});
  for (const char* name : {"on", "off"}) {
    rows.push_back({.pointer = std::string("/network/background/*/") + name,
                    .spec = {.type = OptionType::kDuration,
                             .default_text = "1s",
                             .help = "Mean of the times (exponential).",
                             .min = 0,
                             .max = 1e6,
                             .min_exclusive = true},
                    .when = Condition{"/network/background/*/pattern", {"on-off"}}});
  }
}

}  // namespace

void add_cluster(Rows& rows) {
  rows.push_back(object_row("/cluster", "The machines."));
  rows.push_back({.pointer = "/cluster/workers",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Workers; in an explicit topology the number of hosts, less the "
                                   "server.",
                           .min = 1,
                           .max = 65536},
                  .unit = "workers",
                  .computed_default =
                      "4; explicit, wan, torus, fat-tree with k: as many as they have "
                      "places for"});
  rows.push_back({.pointer = "/cluster/device",
                  .spec = {.type = OptionType::kText,
                           .default_text = "cpu",
                           .help = "Where compute times come from: cpu or cuda (both measured on "
                                   "this machine), a shipped device profile's name, or a path."},
                  .kinds = kSteps});
  rows.push_back(
      list_row("/cluster/stragglers", "Workers slower or faster than the rest.", kComputing));
  rows.push_back(object_row("/cluster/stragglers/*", "One worker's speed.", kComputing));
  rows.push_back({.pointer = "/cluster/stragglers/*/worker",
                  .spec = {.type = OptionType::kInteger,
                           .help = "Worker, counted from 0.",
                           .min = 0,
                           .max = 65535},
                  .required = true,
                  .kinds = kComputing});
  rows.push_back({.pointer = "/cluster/stragglers/*/factor",
                  .spec = {.type = OptionType::kNumber,
                           .help = "Compute and codec times are multiplied by this (2 = half as "
                                   "fast).",
                           .min = 0,
                           .max = 1e6,
                           .min_exclusive = true},
                  .required = true,
                  .kinds = kComputing,
                  .suspicious_above = 100,
                  .suspicious_why = "every step waits for that worker"});
  add_behaviour(rows);
}

void add_network(Rows& rows) {
  add_topology(rows);
  rows.push_back({.pointer = "/network/detail",
                  .spec = {.type = OptionType::kChoice,
                           .help = "How finely flow simulates TCP over wires: per-packet sends "
                                   "each packet through every queue; fluid has rates, and windows "
                                   "where they decide; auto takes packets where they are few or "
                                   "rates say too little, and else chooses for each connection.",
                           .choices = {"auto", "per-packet", "fluid"}},
                  .computed_default = "auto"});
  rows.push_back({.pointer = "/network/fold",
                  .spec = {.type = OptionType::kBoolean,
                           .help = "Of hosts that do the same, the flow executor simulates a few. "
                                   "Results are the same; false: it simulates all."},
                  .sweepable = false,
                  .free_of_hash = true,
                  .computed_default = "true"});
  add_background(rows);
  add_transport(rows);
  add_library(rows);
}

}  // namespace gradwire::scenarios
