#include "scenarios/scenario_rows.h"

namespace gradwire::scenarios {
namespace {

struct LinkDefaults {
  const char* bandwidth = "1Gbps";
  const char* delay = "50us";
};

/// The properties of a link, below `base`.
void add_link(Rows& rows, const std::string& base, const std::optional<Condition>& when,
              const LinkDefaults& defaults = {}) {
  rows.push_back({.pointer = base + "/bandwidth",
                  .spec = {.type = OptionType::kRate,
                           .default_text = defaults.bandwidth,
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
                .default_text = defaults.delay,
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
      "links to the network.",
      topology({"star", "two-tier", "fat-tree", "ring", "torus", "dumb-bell", "gpu-nodes", "wan"}),
      false);
  add_link_object(
      rows, "/network/server_link", "The parameter server's link; default: as /network/link.",
      topology({"star", "two-tier", "fat-tree", "dumb-bell", "gpu-nodes", "wan"}), true);
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
                        "machines with several workers; wan: sites; explicit: hosts, switches and "
                        "links are listed.",
                .choices = {"star", "two-tier", "fat-tree", "ring", "torus", "dumb-bell",
                            "gpu-nodes", "wan", "explicit"}}});
  add_sizes(rows);
  add_links(rows);
  add_sites(rows);
  add_explicit(rows);
}

}  // namespace gradwire::scenarios
