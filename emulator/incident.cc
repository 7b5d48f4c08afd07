#include "emulator/incident.h"

#include <signal.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "sim/session/network.h"

namespace gradwire::emulator {
namespace {

struct Kind {
  IncidentKind kind;
  std::string_view name, words;
};
constexpr Kind kKinds[] = {{IncidentKind::kKill, "kill", "killed"},
                           {IncidentKind::kPause, "pause", "paused"},
                           {IncidentKind::kCut, "cut", "cut off"}};

[[noreturn]] void refuse(std::string_view text, const std::string& reason) {
  throw Error(ErrorKind::kUsage, "make an incident of", std::string(text), reason,
              "write kill:HOST@TIME, pause:HOST@TIME+TIME or cut:HOST@TIME+TIME, such as "
              "pause:1@2s+500ms");
}

const Kind& kind_named(std::string_view name, std::string_view text) {
  for (const Kind& kind : kKinds)
    if (kind.name == name) return kind;
  refuse(text, "there is no \"" + std::string(name) + "\"");
}

/// Throws Error(kUsage) where one is of a host that the cluster has not.
void require_hosts(const std::vector<Incident>& incidents, const sim::Cluster& cluster) {
  for (const Incident& incident : incidents)
    if (incident.host >= cluster.host_count())
      throw Error(ErrorKind::kUsage, "plan that", words_of(incident),
                  "the cluster has hosts 0 to " + std::to_string(cluster.host_count() - 1),
                  "workers come first, then servers");
}

}  // namespace

Incident parse_incident(std::string_view text) {
  const std::size_t colon = text.find(':'), at = text.find('@'), plus = text.find('+');
  if (colon == text.npos || at == text.npos || at < colon) refuse(text, "it names no host or time");
  const Kind& kind = kind_named(text.substr(0, colon), text);
  Incident incident{.kind = kind.kind};
  const std::string_view host = text.substr(colon + 1, at - colon - 1);
  const auto [end, error] = std::from_chars(host.data(), host.data() + host.size(), incident.host);
  if (error != std::errc() || end != host.data() + host.size() || incident.host < 0)
    refuse(text, "\"" + std::string(host) + "\" is no host's number");
  const bool lasts = plus != text.npos;
  if (lasts == (incident.kind == IncidentKind::kKill))
    refuse(text, lasts ? "who is killed does not come back" : "it does not say how long");
  incident.at = parse_duration(text.substr(at + 1, lasts ? plus - at - 1 : text.npos));
  if (incident.at < Seconds(0)) refuse(text, "it would be before the run begins");
  if (lasts) incident.lasts = parse_duration(text.substr(plus + 1));
  if (lasts && incident.lasts <= Seconds(0)) refuse(text, "it takes no time");
  return incident;
}

std::string words_of(const Incident& incident) {
  std::string words = "host " + std::to_string(incident.host) + " is ";
  for (const Kind& kind : kKinds)
    if (kind.kind == incident.kind) words += kind.words;
  words += " at " + format_duration(incident.at);
  return incident.lasts > Seconds(0) ? words + ", for " + format_duration(incident.lasts) : words;
}

sim::Cluster with_cuts(const sim::Cluster& cluster, const std::vector<Incident>& incidents) {
  require_hosts(incidents, cluster);
  sim::Cluster changed = cluster;
  for (const Incident& incident : incidents) {
    if (incident.kind != IncidentKind::kCut) continue;
    const sim::NodeId node = cluster.host_node(incident.host);
    for (int link = 0; link < static_cast<int>(changed.links().size()); ++link) {
      const sim::Link& own = changed.links()[static_cast<std::size_t>(link)];
      if (own.a != node && own.b != node) continue;
      sim::LinkSpec spec = own.spec;
      spec.outages.push_back({incident.at, incident.at + incident.lasts});
      std::ranges::sort(spec.outages, {}, &sim::Outage::begin);
      changed.change_link(link, spec);
    }
  }
  return changed;
}

IncidentPlan::IncidentPlan(const std::vector<Incident>& incidents, const std::vector<int>& pids) {
  for (const Incident& incident : incidents) {
    const int pid = pids.at(static_cast<std::size_t>(incident.host));
    if (incident.kind == IncidentKind::kKill) signals_.push_back({incident.at, pid, SIGKILL});
    if (incident.kind != IncidentKind::kPause) continue;
    signals_.push_back({incident.at, pid, SIGSTOP});
    signals_.push_back({incident.at + incident.lasts, pid, SIGCONT});
  }
  std::ranges::stable_sort(signals_, std::greater<>(), &Signal::at);
}

Seconds IncidentPlan::next() const {
  return signals_.empty() ? sim::kForever : signals_.back().at;
}

void IncidentPlan::fire(Seconds now) {
  for (; next() <= now; signals_.pop_back()) {
    const Signal& signal = signals_.back();
    if (signal.number == SIGSTOP) paused_.push_back(signal.pid);
    if (signal.number == SIGCONT) paused_.erase(std::ranges::find(paused_, signal.pid));
    // Two pauses of one host may overlap.
    if (signal.number == SIGCONT && std::ranges::count(paused_, signal.pid) > 0) continue;
    ::kill(signal.pid, signal.number);
  }
}

void IncidentPlan::clock_stopped() {
  for (const int pid : paused_) ::kill(pid, SIGCONT);
}

void IncidentPlan::clock_started() {
  for (const int pid : paused_) ::kill(pid, SIGSTOP);
}

}  // namespace gradwire::emulator
