#include "scenarios/fields/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

Condition topology(std::vector<std::string> names) {
  return {"/network/topology", std::move(names)};
}

/// An object that is a link.
void add_link_object(Rows& rows, const std::string& pointer, const char* help,
                     const Condition& when, bool optional, const LinkDefaults& defaults = {}) {
  rows.push_back(object_row(pointer, help));
  rows.back().when = when;
  rows.back().optional = optional;
  add_link(rows, pointer, when, defaults);
}

/// A whole number of things that a topology has; required where it has no default of any kind.
void add_count(Rows& rows, const char* name, const char* value, const char* help,
               const char* topology_name, double min, const char* computed = "",
               double max = 65536) {
  rows.push_back({.pointer = std::string("/network/") + name,
                  .spec = {.type = OptionType::kInteger,
                           .default_text = value,
                           .help = help,
                           .min = min,
                           .max = max},
                  .required = *value == 0 && *computed == 0,
                  .when = topology({topology_name}),
                  .computed_default = computed});
}

void add_ends(Rows& rows, const std::string& base, const char* help) {
  for (const char* end : {"/a", "/b"}) {
    rows.push_back(text_row(base + end, help));
    rows.back().required = true;
  }
}

void add_sizes(Rows& rows) {
  add_count(rows, "racks", "2", "Racks of workers, with a leaf switch each.", "two-tier", 1);
  add_count(rows, "spines", "1", "Switches to which every leaf is joined.", "two-tier", 1, "", 64);
  add_count(rows, "k", "", "Ports of a switch, even; there is room for k^3 / 4 hosts.", "fat-tree",
            2, "the smallest with room for all hosts", 64);
  add_count(rows, "columns", "", "Columns of the grid: columns x rows hosts, the server included.",
            "torus", 1);
  add_count(rows, "rows", "", "Rows of the grid.", "torus", 1);
  add_count(rows, "left", "", "Workers on the left; the others, and the server, on the right.",
            "dumb-bell", 1, "half of the workers");
  add_count(rows, "gpus_per_node", "8", "Workers of one machine.", "gpu-nodes", 1);
  add_count(rows, "adapters", "1", "Links from a machine to the network, shared by flow hash.",
            "gpu-nodes", 1, "", 64);
}

void add_links(Rows& rows) {
  add_link_object(
      rows, "/network/link",
      "Each worker's link to its switch or router; the cables of a ring or torus; a machine's "
      "links to the network; the wire from a radio cell's base to the parameter server.",
      topology({"star", "two-tier", "fat-tree", "ring", "torus", "dumb-bell", "gpu-nodes", "wan",
                "wifi-cell", "lte-cell"}),
      false);
  add_link_object(rows, "/network/server_link",
                  "The parameter server's link; default: as /network/link.",
                  topology({"star", "two-tier", "fat-tree", "dumb-bell", "gpu-nodes", "wan",
                            "wifi-cell", "lte-cell"}),
                  true);
  add_link_object(rows, "/network/uplink", "Links between switches; default: as /network/link.",
                  topology({"two-tier", "fat-tree"}), true);
  add_link_object(rows, "/network/bottleneck", "The link between the two switches.",
                  topology({"dumb-bell"}), false);
  add_link_object(rows, "/network/intra_link",
                  "Each worker's link to the switch of its machine (NVLink, PCIe).",
                  topology({"gpu-nodes"}), false, {"600Gbps", "1us"});
}

void add_sites(Rows& rows) {
  rows.push_back(list_row("/network/sites",
                          "Sites, a router each. Workers are numbered site by site; the parameter "
                          "server stands at the first."));
  rows.back().required = true;
  rows.back().when = topology({"wan"});
  rows.push_back(object_row("/network/sites/*", "One site."));
  rows.push_back(text_row("/network/sites/*/name", "The site's name."));
  rows.back().required = rows.back().identifier = true;
  rows.push_back({.pointer = "/network/sites/*/workers",
                  .spec = {.type = OptionType::kInteger,
                           .default_text = "1",
                           .help = "Workers at this site.",
                           .min = 0,
                           .max = 65536},
                  .unit = "workers"});
  rows.push_back(list_row("/network/site_links", "Duplex links between the sites' routers."));
  rows.back().when = topology({"wan"});
  rows.push_back(object_row("/network/site_links/*", "One duplex link."));
  add_ends(rows, "/network/site_links/*", "Site at this end.");
  add_link(rows, "/network/site_links/*", {}, {"100Mbps", "20ms"});
}

Field metres(const char* pointer, const char* value, const char* help, double min,
             const char* unit = "m") {
  return {.pointer = pointer,
          .spec = {.type = OptionType::kNumber,
                   .default_text = value,
                   .help = help,
                   .min = min,
                   .max = 1e6},
          .unit = unit};
}

void add_cell(Rows& rows) {
  const Condition cells = topology({"wifi-cell", "lte-cell"});
  rows.push_back(object_row("/network/cell", "The air that the workers share."));
  rows.back().when = cells;
  rows.push_back({.pointer = "/network/cell/width",
                  .spec = {.type = OptionType::kNumber,
                           .help = "Width of the channel: Wi-Fi 20, 40, 80, 160; LTE 1.4, 3, 5, "
                                   "10, 15, 20 for each direction.",
                           .min = 1,
                           .max = 160},
                  .unit = "MHz",
                  .computed_default = "80; lte-cell: 10"});
  rows.push_back({.pointer = "/network/cell/exponent",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "3",
                           .help = "Path loss grows with so much a power of the distance: 2 in "
                                   "free space.",
                           .min = 1,
                           .max = 10}});
  rows.push_back(list_row("/network/cell/stations",
                          "Where workers stand, from worker 0 on; from the start again where there "
                          "are more workers."));
  rows.back().computed_default = "one place, 10 m from the base";
  rows.push_back(object_row("/network/cell/stations/*", "One place."));
  rows.push_back(
      metres("/network/cell/stations/*/distance", "10", "From the base, at the start.", 0));
  rows.push_back(metres("/network/cell/stations/*/speed", "0",
                        "Straight away from the base; negative: to it, and past it.", -1e6, "m/s"));
}

void add_trace_list(Rows& rows, const std::string& name, const char* help) {
  const std::string at = "/network/traces/" + name;
  rows.push_back(list_row(at, help));
  rows.push_back(text_row(at + "/*", "Path of a schedule, as /network/link/schedule."));
  rows.back().required = true;
  rows.push_back(
      list_row(at + "_hashes", "Hashes of their files, as /network/link/schedule_hash."));
  rows.back().computed_default = "of the files";
  rows.push_back(text_row(at + "_hashes/*", "One file's."));
}

void add_traces(Rows& rows) {
  rows.push_back(object_row("/network/traces",
                            "Schedules of single workers' links, in place of /network/link's."));
  rows.back().when = topology({"star", "two-tier", "fat-tree", "dumb-bell", "wan"});
  rows.back().optional = true;
  add_trace_list(rows, "up", "What the workers send follows these: worker w number w mod n.");
  add_trace_list(rows, "down", "What the workers get follows these, in the same way.");
  rows.push_back({.pointer = "/network/traces/offset",
                  .spec = {.type = OptionType::kDuration,
                           .default_text = "0s",
                           .help = "Worker w reads its schedules w times so far ahead, so that "
                                   "workers of one trace differ.",
                           .min = 0,
                           .max = 3600}});
}

void add_explicit(Rows& rows) {
  const Condition explicit_one = topology({"explicit"});
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
  add_ends(rows, "/network/links/*", "Host or switch at this end.");
  add_link(rows, "/network/links/*", {});
  rows.push_back(list_row("/network/routes",
                          "Ways of single pairs of hosts, one direction each; all others take the "
                          "fewest hops."));
  rows.back().when = explicit_one;
  rows.push_back(object_row("/network/routes/*", "One way."));
  for (const char* end : {"from", "to"}) {
    rows.push_back(text_row(std::string("/network/routes/*/") + end, "Host."));
    rows.back().required = true;
  }
  rows.push_back(list_row("/network/routes/*/via", "Nodes between them, in order."));
  rows.push_back(text_row("/network/routes/*/via/*", "Host or switch."));
}

}  // namespace

void add_topology(Rows& rows) {
  rows.push_back(object_row("/network", "The network between them."));
  rows.push_back(
      {.pointer = "/network/topology",
       .spec = {.type = OptionType::kChoice,
                .default_text = "star",
                .help = "star: every worker on one switch; two-tier: racks and spines; fat-tree: "
                        "three tiers of k-port switches; ring and torus: hosts joined to their "
                        "neighbours; dumb-bell: two switches and one link between them; gpu-nodes: "
                        "machines with several workers; wan: sites; wifi-cell and lte-cell: "
                        "workers on the air of one base; explicit: hosts, switches and links are "
                        "listed.",
                .choices = {"star", "two-tier", "fat-tree", "ring", "torus", "dumb-bell",
                            "gpu-nodes", "wan", "wifi-cell", "lte-cell", "explicit"}}});
  add_sizes(rows);
  add_links(rows);
  add_sites(rows);
  add_cell(rows);
  add_traces(rows);
  add_explicit(rows);
}

}  // namespace gradwire::scenarios
