#include "scenarios/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

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
  rows.push_back(object_row("/network", "The network between them."));
  rows.push_back(
      {.pointer = "/network/topology",
       .spec = {.type = OptionType::kChoice,
                .default_text = "star",
                .help = "star: every worker on one switch; explicit: hosts, switches and "
                        "links are listed.",
                .choices = {"star", "explicit"}}});
  rows.push_back(object_row("/network/link", "Each worker's link to the switch."));
  rows.back().when = star;
  add_link(rows, "/network/link", star);
  rows.push_back(object_row("/network/server_link",
                            "The parameter server's link; default: as /network/link."));
  rows.back().when = star;
  rows.back().optional = true;
  add_link(rows, "/network/server_link", star);
  rows.push_back(list_row("/network/hosts",
                          "Names of the hosts: workers in this order, then the server "
                          "where a parameter server takes part."));
  rows.back().required = true;
  rows.back().when = explicit_one;
  rows.push_back(text_row("/network/hosts/*", "A host's name."));
  rows.back().identifier = true;
  rows.push_back(list_row("/network/switches", "Names of the switches."));
  rows.back().when = explicit_one;
  rows.push_back(text_row("/network/switches/*", "A switch's name."));
  rows.back().identifier = true;
  rows.push_back(list_row("/network/links", "Duplex links."));
  rows.back().required = true;
  rows.back().when = explicit_one;
  rows.push_back(object_row("/network/links/*", "One duplex link."));
  for (const char* end : {"a", "b"}) {
    rows.push_back(text_row(std::string("/network/links/*/") + end, "Host or switch at this end."));
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
                  .computed_default = "4; explicit topology: from /network/hosts"});
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
