#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/cluster/clock_offset.h"
#include "emulator/cluster/payload_part.h"
#include "emulator/emulator_session.h"
#include "emulator/hosts/gloo.h"
#include "emulator/hub/answers.h"
#include "emulator/hub/frame.h"
#include "emulator/hub/graph_json.h"
#include "emulator/shaper/link_plan.h"

/// The parts of EmulatorSession that are about its hosts: on machines of their own, their
/// connections to servers, the shapes of graphs that they know, other programs beside them.
namespace gradwire::emulator {

using nlohmann::json;

namespace {

constexpr std::size_t kKeptTemplates = 256;

}  // namespace

void EmulatorSession::set_up_machines() {
  if (!incidents_.empty())
    throw Error(ErrorKind::kUsage, "plan that", report_.incidents.front(),
                "processes on machines of their own are nobody's to stop", "leave it out");
  report_.shaper = report_.loss_by = "nobody";
  report_.delay_by = "none";
  hub_->send(kHub, {{"kind", "setup"},
                    {"hosts", choice_.hosts},
                    {"rendezvous", options_.rendezvous},
                    {"segment", options_.transport.segment.count()},
                    {"wire_segment", options_.transport.wire_segment.count()}});
  const json ready = await("ready");
  report_.machines = understood("the addresses of the ranks", [&] {
    for (const json& name : ready.at("congestion_controls"))
      report_.congestion_control +=
          (report_.congestion_control.empty() ? "" : ", ") + name.get<std::string>();
    return ready.at("addresses").get<std::vector<std::string>>();
  });
  read_clocks();
}

void EmulatorSession::read_clocks() {
  constexpr int kRounds = 30;
  for (int host = 0; host < choice_.hosts; ++host) {
    std::vector<ClockSample> samples;
    for (int round = 0; round < kRounds; ++round) {
      const Seconds asked = monotonic_now();
      hub_->send(host, {{"kind", "clock"}});
      const json answer = await("clock");
      samples.push_back(
          {asked,
           Seconds(understood("a rank's clock", [&] { return answer.at("time").get<double>(); })),
           monotonic_now()});
    }
    const ClockOffset offset = offset_of(samples);
    report_.clocks.push_back(offset);
    const bool known = std::abs(offset.ahead.value()) > offset.uncertainty.value();
    hub_->send(host, {{"kind", "ahead"}, {"time", known ? offset.ahead.value() : 0.0}});
  }
}

/// Before the clock runs: graphs of single trips to a server and back name one pair of hosts each,
/// and would have it wait for its connections when its time has come.
void EmulatorSession::connect_servers() {
  const int workers = choice_.hosts - cluster_.servers();
  int asked = 0;
  for (int server = workers; server < choice_.hosts; ++server)
    for (int worker = 0; worker < workers; ++worker)
      for (const auto& [from, to] : {std::pair{worker, server}, std::pair{server, worker}}) {
        hub_->send(from, {{"kind", "connect"}, {"peer", to}});
        ++asked;
      }
  last_news_ = monotonic_now();
  for (; asked > 0; --asked) await("connected");
}

void EmulatorSession::tell_payloads(sim::GraphId graph, const sim::Payloads& payloads,
                                    const HostView& view) {
  if (!on_machines()) return payloads_.put(graph, payloads);
  for (int host = 0; host < choice_.hosts; ++host)
    send_part(graph, part_of(payloads, view, host), [&](const json& piece) {
      hub_->send(host, piece);
      last_news_ = monotonic_now();
      await("payloads-taken");
    });
}

std::vector<std::string> EmulatorSession::run_programs(
    const std::vector<std::vector<std::string>>& commands, Seconds limit) {
  GRADWIRE_ASSERT(static_cast<int>(commands.size()) == choice_.hosts && is_idle());
  const Seconds end = monotonic_now() + limit;
  for (std::size_t host = 0; host < commands.size(); ++host)
    hub_->send(static_cast<int>(host), {{"kind", "program"}, {"command", commands[host]}});
  const auto fail = [&](const std::string& which, const std::string& why) {
    hub_->kill();
    throw Error(ErrorKind::kFailure, "run", which, why);
  };
  std::vector<std::string> outputs(commands.size());
  for (std::size_t left = commands.size(); left > 0;) {
    const auto message = hub_->receive(end);
    if (!message)
      fail(commands[0][0], "on " + std::to_string(left) + " hosts it was not done within " +
                               format_duration(limit));
    if (kind_of(*message) != "program") continue;
    understood("what a program on a host wrote", [&] {
      const std::size_t host = message->at("host");
      const int code = message->at("exit_code");
      if (code != 0)
        fail(commands.at(host)[0] + " on host " + std::to_string(host),
             "it ended with code " + std::to_string(code) +
                 ", saying: " + message->at("errors").get<std::string>());
      outputs.at(host) = message->at("output");
      return 0;
    });
    --left;
  }
  return outputs;
}

/// What goes back from a server has been counted when it came.
void EmulatorSession::note_exchanged(const sim::GraphTemplate& graph) {
  if (graph.collectives.empty()) return;
  exchanged_.clear();
  for (const sim::CollectiveSpec& spec : graph.collectives)
    if (spec.elements > 0 && spec.kind != sim::CollectiveKind::kPull)
      exchanged_.push_back(spec.elements);
}

std::optional<GlooTimes> EmulatorSession::time_gloo(int turns, int element_bytes) {
  GRADWIRE_ASSERT(is_idle() && !on_machines());
  constexpr Seconds kGlooLimit{600};
  GlooTimes times{gloo_version(), 0, {}};
  if (exchanged_.empty()) return std::nullopt;
  std::vector<std::int64_t> floats;
  for (const std::int64_t size : exchanged_) {
    floats.push_back((size * element_bytes + 3) / 4);
    times.elements += floats.back();
  }
  const int workers = choice_.hosts - cluster_.servers();
  std::vector<std::vector<std::string>> commands(static_cast<std::size_t>(choice_.hosts),
                                                 {"/bin/true"});
  for (int rank = 0; rank < workers; ++rank)
    commands[static_cast<std::size_t>(rank)] =
        gloo_rank(rank, workers, floats, turns, host_address(0));
  start_clock();  // links as the scenario has them
  std::vector<std::string> outputs = run_programs(commands, kGlooLimit);
  calm_links();
  outputs.resize(static_cast<std::size_t>(workers));
  for (const double time : gloo_times(outputs, turns)) times.seconds.emplace_back(time);
  return times;
}

/// Connections are open before the first operation starts, as on a running system. Who sends
/// nothing opens none: it may be paused, while others go on.
void EmulatorSession::await_connections(const Template& told) {
  std::set<int> missing;
  for (int host = 0; host < choice_.hosts; ++host)
    if (!destinations(*told.view, host).empty()) missing.insert(host);
  while (!missing.empty()) {
    const json ready = await("template-ready");
    understood("a worker's answer to a graph", [&] {
      if (ready.at("id") == told.id) missing.erase(ready.at("host").get<int>());
    });
  }
}

const EmulatorSession::Template& EmulatorSession::template_of(const sim::GraphPtr& graph) {
  for (const Template& known : templates_)
    if (known.view->graph == graph) return known;
  // A trip of a client looks like its last one.
  json told = to_json(*graph);
  for (const Template& known : templates_)
    if (known.graph == told) return known;
  if (templates_.size() == kKeptTemplates) {
    hub_->send(kAllHosts, {{"kind", "drop-template"}, {"id", templates_.front().id}});
    templates_.erase(templates_.begin());
  }
  calm_links();
  templates_.push_back({next_template_++, told, std::make_shared<const HostView>(graph)});
  hub_->send(kAllHosts,
             {{"kind", "template"}, {"id", templates_.back().id}, {"graph", std::move(told)}});
  await_connections(templates_.back());
  return templates_.back();
}

}  // namespace gradwire::emulator
