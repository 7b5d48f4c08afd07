#include "scenarios/scenario_rows.h"

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
      list_row("/cluster/stragglers", "Workers slower or faster than the rest.", kSteps));
  rows.push_back(object_row("/cluster/stragglers/*", "One worker's speed.", kSteps));
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

void add_network(Rows& rows) {
  add_topology(rows);
  add_transport(rows);
}

}  // namespace gradwire::scenarios
