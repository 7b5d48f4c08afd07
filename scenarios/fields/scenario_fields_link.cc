#include "scenarios/fields/scenario_rows.h"
#include "scenarios/networks/access_networks.h"

namespace gradwire::scenarios {
namespace {

Field probability(const std::string& pointer, const char* value, const char* help) {
  return {
      .pointer = pointer,
      .spec = {
          .type = OptionType::kNumber, .default_text = value, .help = help, .min = 0, .max = 1}};
}

Field duration(const std::string& pointer, const char* help, double max) {
  return {.pointer = pointer,
          .spec = {.type = OptionType::kDuration, .help = help, .min = 0, .max = max}};
}

void add_basics(Rows& rows, const std::string& base, const LinkDefaults& defaults) {
  rows.push_back({.pointer = base + "/bandwidth",
                  .spec = {.type = OptionType::kRate,
                           .default_text = defaults.bandwidth,
                           .help = "Rate of each direction.",
                           .min = 0,
                           .max = 1e15,
                           .min_exclusive = true},
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
       .suspicious_above = 1,
       .suspicious_why = "one way, on every link; check the unit"});
  rows.push_back({.pointer = base + "/loss",
                  .spec = {.type = OptionType::kNumber,
                           .default_text = "0",
                           .help = "Probability that a packet is lost, on each link and direction.",
                           .min = 0,
                           .max = 1,
                           .max_exclusive = true},
                  .suspicious_above = 0.2,
                  .suspicious_why = "TCP hardly moves; 1 % is 0.01"});
  rows.push_back({.pointer = base + "/queue",
                  .spec = {.type = OptionType::kBytes,
                           .default_text = "0B",
                           .help = "Drop-tail buffer of each direction; 0B = automatic: two "
                                   "bandwidth-delay products, at least 256 packets.",
                           .min = 0}});
}

/// "name: so much up, so much down, ...; ..."
std::string list_of_access_networks() {
  std::string text;
  for (const AccessNetwork& each : access_networks())
    text += (text.empty() ? "" : "; ") + std::string(each.name) + ": " + std::string(each.up) +
            " up, " + std::string(each.down) + " down, " + std::string(each.delay) + " (" +
            std::string(each.source) + ")";
  return text;
}

std::vector<std::string> names_of_access_networks() {
  std::vector<std::string> names;
  for (const AccessNetwork& each : access_networks()) names.emplace_back(each.name);
  return names;
}

void add_back(Rows& rows, const std::string& base) {
  rows.push_back({.pointer = base + "/bandwidth_back",
                  .spec = {.type = OptionType::kRate,
                           .help = "Rate of what the first end gets (a worker's link: the "
                                   "worker), where it is another.",
                           .min = 0,
                           .max = 1e15,
                           .min_exclusive = true},
                  .computed_default = "as `bandwidth`"});
  rows.push_back({.pointer = base + "/access",
                  .spec = {.type = OptionType::kChoice,
                           .help = "An access network, whose figures stand in for `bandwidth`, "
                                   "`bandwidth_back` and `delay` where these are not given. " +
                                   list_of_access_networks() + ".",
                           .choices = names_of_access_networks()},
                  .computed_default = "none"});
}

/// Fields without a default text: what is not given leaves no trace in the resolved scenario.
void add_chance(Rows& rows, const std::string& base) {
  rows.push_back(duration(base + "/jitter",
                          "A packet arrives up to so much later, uniformly, but never before the "
                          "one sent before it.",
                          3600));
  rows.back().computed_default = "0s";
  rows.push_back(object_row(base + "/burst",
                            "Losses in bursts beside /loss: a chain that moves once a packet "
                            "(Gilbert, Elliott)."));
  rows.back().optional = true;
  rows.push_back(
      probability(base + "/burst/enter", "", "Probability, per packet, that a burst begins."));
  rows.back().required = true;
  rows.push_back(probability(base + "/burst/leave", "",
                             "Probability that it ends: 0.1 for bursts of 10 packets."));
  rows.back().required = true;
  rows.push_back(
      probability(base + "/burst/loss", "1", "Probability that a packet of a burst is lost."));
  rows.push_back(
      {.pointer = base + "/half_duplex",
       .spec = {.type = OptionType::kBoolean, .help = "Both directions share the bandwidth."},
       .computed_default = "false"});
}

void add_schedule(Rows& rows, const std::string& base, const std::string& way, const char* which) {
  rows.push_back(text_row(base + "/schedule" + way,
                          std::string("Path of the rates of ") + which +
                              ": a Mahimahi trace (lines of milliseconds at which 1,500 bytes may "
                              "pass; repeats), or .csv (a time and a rate, whose units the first "
                              "line names: \"time_s,rate_Mbps\"; the last stays)."));
  rows.push_back(text_row(base + "/schedule" + way + "_hash",
                          "Hash of that file; where it is given, another file is refused."));
  rows.back().computed_default = "of the file";
  rows.push_back(
      list_row(base + "/changes" + way, std::string("Rates of ") + which + ", written here."));
  rows.push_back(object_row(base + "/changes" + way + "/*", "From this time on, this rate."));
  rows.push_back(duration(base + "/changes" + way + "/*/at", "The first at 0s, then later.", 1e9));
  rows.back().required = true;
  rows.push_back({.pointer = base + "/changes" + way + "/*/bandwidth",
                  .spec = {.type = OptionType::kRate,
                           .help = "Rate from then on; 0bps: nothing passes.",
                           .min = 0,
                           .max = 1e15},
                  .required = true});
}

void add_changes(Rows& rows, const std::string& base) {
  add_schedule(rows, base, "", "what the first end sends (a worker's link: the worker)");
  add_schedule(rows, base, "_back", "what it gets");
  rows.push_back(
      duration(base + "/changes_repeat", "The written changes start again after so long.", 1e9));
  rows.back().computed_default = "never";
  rows.push_back(list_row(base + "/outages", "Times at which nothing passes, either way."));
  rows.push_back(object_row(base + "/outages/*", "One outage."));
  for (const char* end : {"begin", "end"}) {
    rows.push_back(duration(base + "/outages/*/" + end, "Virtual time.", 1e9));
    rows.back().required = true;
  }
}

}  // namespace

void add_link(Rows& rows, const std::string& base, const std::optional<Condition>& when,
              const LinkDefaults& defaults) {
  const std::size_t first = rows.size();
  add_basics(rows, base, defaults);
  const std::size_t more = rows.size();
  add_back(rows, base);
  add_chance(rows, base);
  add_changes(rows, base);
  for (std::size_t i = first; i < rows.size(); ++i) {
    if (rows[i].pointer.find('/', base.size() + 1) == std::string::npos) rows[i].when = when;
    rows[i].repeated = i >= more && base != "/network/link";
  }
}

}  // namespace gradwire::scenarios
