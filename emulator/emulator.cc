#include "emulator/emulator.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/emulator_session.h"
#include "emulator/exchange/exchange.h"
#include "emulator/exchange/exchange_stats.h"
#include "emulator/hosts/gloo.h"
#include "emulator/hub/answers.h"
#include "emulator/hub/frame.h"

/// Setting up, measuring the base RTT, and counting: the parts of EmulatorSession beside the
/// graphs.
namespace gradwire::emulator {

using nlohmann::json;

namespace {

std::string kernel_name(sim::TransportSettings::CongestionControl control) {
  using Control = sim::TransportSettings::CongestionControl;
  if (control == Control::kReno) return "reno";
  return control == Control::kBbr ? "bbr" : "cubic";
}

constexpr Seconds kAnswerLimit{30};

std::string percent(double share) {
  return std::to_string(std::lround(100 * share)) + " %";
}

std::vector<Incident> incidents_of(const std::vector<std::string>& texts) {
  std::vector<Incident> incidents;
  for (const std::string& text : texts) incidents.push_back(parse_incident(text));
  return incidents;
}

}  // namespace

EmulatorSession::EmulatorSession(const sim::Cluster& cluster, const EmulatorOptions& options)
    : options_(options),
      incidents_(incidents_of(options.incidents)),
      cluster_(with_cuts(cluster, incidents_)),
      choice_(options.rendezvous.empty()
                  ? choose_links(cluster_, options.shaper, options.transport, options.seed)
                  : LinkChoice{.hosts = cluster.host_count(), .star = {}, .wires = {}}) {
  up_channel_.resize(static_cast<std::size_t>(choice_.hosts));
  for (std::size_t l = 0; l < cluster.links().size(); ++l)
    for (int host = 0; host < choice_.hosts; ++host) {
      const sim::NodeId node = cluster.host_node(host);
      const sim::Link& link = cluster.links()[l];
      if (link.a == node) up_channel_[static_cast<std::size_t>(host)] = static_cast<int>(2 * l);
      if (link.b == node) up_channel_[static_cast<std::size_t>(host)] = static_cast<int>(2 * l + 1);
    }
  if (options_.gloo) gloo_version();
  for (const Incident& incident : incidents_) report_.incidents.push_back(words_of(incident));
  hub_ = std::make_unique<HubLink>(hub_program(options.program), payloads_.memory().get());
  last_news_ = monotonic_now();
  on_machines() ? set_up_machines() : set_up();
  measure_neighbours();
  connect_servers();
  epoch_ = monotonic_now();
  last_news_ = epoch_;
}

void EmulatorSession::set_up() {
  report_.congestion_control = kernel_name(options_.transport.congestion_control);
  json setup = {{"kind", "setup"},
                {"hosts", choice_.hosts},
                {"shaper", options_.shaper},
                {"raise_priority", options_.raise_priority},
                {"congestion_control", report_.congestion_control},
                {"payloads", payloads_.memory().get()},
                {"buffer", options_.transport.buffer.count()},
                {"segment", options_.transport.segment.count()},
                {"wire_segment", options_.transport.wire_segment.count()}};
  if (!choice_.star.empty()) setup["links"] = to_json(choice_.star);
  if (choice_.wires) setup["wires"] = to_json(*choice_.wires);
  hub_->send(kHub, setup);
  const json ready = await("ready");
  double frame_rate = 0;
  const Shaping shaping = understood("the emulator's answer to its setup", [&] {
    report_.name_space = ready.at("namespace");
    report_.priority = ready.at("priority");
    report_.shaper = ready.at("shaper");
    plan_ = IncidentPlan(incidents_, ready.at("pids").get<std::vector<int>>());
    if (by_process()) frame_rate = ready.at("frame_rate");
    return Shaping{report_.shaper, ready.at("netem"),
                   Seconds(ready.at("timers_late").get<double>())};
  });
  by_process() ? take_wires(frame_rate) : take_kernel_links(shaping);
  if (choice_.hosts == 1)
    report_.warnings.push_back("a single host exchanges nothing: no base RTT was measured");
}

void EmulatorSession::take_kernel_links(const Shaping& shaping) {
  require_hold(choice_.star, static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  if (!shaping.netem) require_delays(choice_.star, options_.shaper);
  choice_.wires.reset();
  report_.loss_by = "none";
  report_.delay_by = shaping.netem ? "netem" : "none";
  const Seconds longest = longest_delay(choice_.star);
  for (const HostLink& link : choice_.star) {
    report_.burst.push_back(burst_of(link, shaping));
    if (link.loss > 0) report_.loss_by = "nftables";
  }
  if (longest > Seconds(0) && !shaping.netem)
    report_.missing.push_back("link delays of up to " + format_duration(longest) +
                              " are not emulated: this kernel has no netem (module sch_netem)");
}

void EmulatorSession::take_wires(double frame_rate) {
  require_hold(choice_.wires.value(), frame_rate);
  report_.delay_by = "the link process";
  report_.loss_by = "none";
  for (const WireNetwork::Channel& channel : choice_.wires->channels)
    if (channel.loss > 0 || channel.burst.enter > 0) report_.loss_by = "the link process";
}

void EmulatorSession::measure_neighbours() {
  const int hosts = choice_.hosts;
  // A lost message costs a retransmission timeout; a median of a few is as good. The link process
  // loses nothing before the first graph.
  int rounds = options_.rtt_rounds;
  if (report_.loss_by == "nftables") rounds = std::min(rounds, 15);
  std::vector<Seconds> medians, overheads;
  for (int from = 0; from < hosts && hosts > 1; ++from) {
    const int to = (from + 1) % hosts;
    if (by_process()) rounds = std::min(options_.rtt_rounds, rounds_in_time(from, to));
    const Seconds time = measure_base_rtt(from, to, rounds);
    report_.base_rtt.push_back({from, to, time});
    medians.push_back(time);
    overheads.push_back(overhead_of(from, to, time));
  }
  if (medians.empty()) return;
  report_.median_base_rtt = median_of(medians);
  report_.median_overhead = median_of(overheads);
}

/// As many round trips as half a second has room for, five at least.
int EmulatorSession::rounds_in_time(int from, int to) const {
  constexpr double kTime = 0.5;  // s
  const Seconds once = way_of(from, to).time + way_of(to, from).time;
  return std::max(5, static_cast<int>(kTime / std::max(1e-3, once.value())));
}

EmulatorSession::Way EmulatorSession::way_of(int from, int to) const {
  constexpr Bytes kPing(kMessageHeaderBytes + 90);  // on the wire, headers included
  std::vector<sim::ChannelId> route;
  cluster_.route(from, to, route);
  Way way;
  for (const sim::ChannelId id : route) {
    if (report_.delay_by != "none") way.time += cluster_.channel(id).delay;
    if (by_process()) way.time += transmission_time(kPing, cluster_.nominal_rate(id));
    ++way.links;
  }
  return way;
}

Seconds EmulatorSession::overhead_of(int from, int to, Seconds round_trip) const {
  const Way there = way_of(from, to), back = way_of(to, from);
  const Seconds beyond = std::max(Seconds(0), round_trip - there.time - back.time);
  return beyond * (4.0 / (there.links + back.links));
}

Seconds EmulatorSession::measure_base_rtt(int from_host, int to_host, int rounds) {
  GRADWIRE_ASSERT(rounds > 0 && from_host != to_host);
  hub_->send(to_host, {{"kind", "connect"}, {"peer", from_host}});
  await("connected");
  hub_->send(from_host, {{"kind", "ping"}, {"peer", to_host}, {"rounds", rounds}});
  std::vector<Seconds> times;
  const json pong = await("pong");
  understood("a worker's round trip times", [&] {
    for (const double time : from_blob<double>(pong.at("times"))) times.emplace_back(time);
    if (times.empty()) throw std::out_of_range("there are none");
  });
  return median_of(times);
}

json EmulatorSession::await(std::string_view kind) {
  for (;;) {
    // Starting and asking processes takes what the machine needs: a short wall limit is for runs.
    const Seconds longest = std::max(patience(), kAnswerLimit);
    // A host that is paused answers when it goes on.
    const Seconds limit = last_news_ + longest;
    const auto message = hub_->receive(std::min(limit, fire_incidents()));
    if (!message && monotonic_now() < limit) continue;
    if (!message) give_up(longest);
    last_news_ = monotonic_now();
    if (kind_of(*message) == kind) return *message;
    take(*message);
  }
}

std::vector<sim::ChannelRecord> EmulatorSession::channels() const {
  // Asking the workers changes nothing that a caller could see.
  return const_cast<EmulatorSession*>(this)->read_channels();
}

std::vector<sim::ChannelRecord> EmulatorSession::read_channels() {
  if (by_process()) return read_wires();
  const std::size_t hosts = choice_.star.size();
  std::vector<sim::ChannelRecord> records(2 * hosts);
  const std::int64_t headers =
      options_.transport.wire_segment.count() - options_.transport.segment.count();
  last_news_ = monotonic_now();
  hub_->send(kAllHosts, {{"kind", "counters"}});
  for (std::size_t answers = 0; answers < hosts; ++answers) {
    const auto [from, connections] = host_counters_from_json(await("counters"), hosts);
    for (const auto& [to, bytes, segments] : connections) {
      const Bytes wire(bytes + segments * headers);
      for (const auto& [channel, host] :
           {std::pair{up_channel_[from], from}, std::pair{up_channel_[to] ^ 1, to}}) {
        sim::ChannelRecord& record = records[static_cast<std::size_t>(channel)];
        record.wire += wire;
        record.busy += transmission_time(wire, choice_.star[host].rate);
      }
    }
  }
  return records;
}

std::vector<sim::ChannelRecord> EmulatorSession::read_wires() {
  std::vector<sim::ChannelRecord> records(static_cast<std::size_t>(cluster_.channel_count()));
  const LinkReport seen = links();
  for (std::size_t id = 0; id < std::min(records.size(), seen.channels.size()); ++id) {
    records[id].wire = Bytes(std::llround(seen.channels[id].bytes));
    records[id].busy = Seconds(seen.channels[id].busy);
  }
  return records;
}

LinkReport EmulatorSession::links() {
  if (!by_process()) return {};
  last_news_ = monotonic_now();
  hub_->send(kLinks, {{"kind", "links"}});
  return link_report_from_json(await("links"));
}

void EmulatorSession::note_reaction() {
  if (stands_still()) return;
  const Seconds taken = now() - last_event_;
  if (last_event_ != reacted_to_) {
    reacted_to_ = last_event_;
    counted_ = Seconds(0);
    ++reactions_.instants;
  }
  // Several submissions at one instant wait for the same.
  reactions_.all += taken - counted_;
  counted_ = taken;
  reactions_.most = std::max(reactions_.most, taken);
}

Reactions EmulatorSession::reactions() const {
  Reactions reactions = reactions_;
  const Seconds of_hosts = now() * static_cast<double>(choice_.hosts);
  if (of_hosts > Seconds(0)) reactions.share = reactions.all.value() / of_hosts.value();
  return reactions;
}

std::string EmulatorSession::why_invalid() {
  if (const Reactions seen = reactions(); seen.share > kMostReactions)
    return "workers waited for what learning decided for " + percent(seen.share) +
           " of their time, since this machine trains no faster; " + percent(kMostReactions) +
           " is the most";
  const LinkReport seen = links();
  if (seen.late_99 > kMostLateness)
    return "frames left the links late: one in a hundred by " +
           format_duration(Seconds(seen.late_99)) + " or more, and " +
           format_duration(Seconds(kMostLateness)) + " is the most";
  if (seen.missed > 0)
    return "the link process missed " + std::to_string(seen.missed) + " of " +
           std::to_string(seen.counts.entered) + " frames";
  return {};
}

std::unique_ptr<Emulator> make_emulator(const sim::Cluster& cluster,
                                        const EmulatorOptions& options) {
  return std::make_unique<EmulatorSession>(cluster, options);
}

}  // namespace gradwire::emulator
