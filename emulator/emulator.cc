#include "emulator/emulator.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "emulator/clock.h"
#include "emulator/emulator_session.h"
#include "emulator/exchange/exchange_stats.h"
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

}  // namespace

EmulatorSession::EmulatorSession(const sim::Cluster& cluster, const EmulatorOptions& options)
    : options_(options), links_(star_links(cluster)) {
  up_channel_.resize(links_.size());
  for (std::size_t l = 0; l < cluster.links().size(); ++l)
    for (int host = 0; host < cluster.host_count(); ++host) {
      const sim::NodeId node = cluster.host_node(host);
      const sim::Link& link = cluster.links()[l];
      if (link.a == node) up_channel_[static_cast<std::size_t>(host)] = static_cast<int>(2 * l);
      if (link.b == node) up_channel_[static_cast<std::size_t>(host)] = static_cast<int>(2 * l + 1);
    }
  hub_ = std::make_unique<HubLink>(hub_program(options.program));
  last_news_ = monotonic_now();
  set_up(cluster);
  measure_neighbours();
  epoch_ = monotonic_now();
  last_news_ = epoch_;
}

void EmulatorSession::set_up(const sim::Cluster& cluster) {
  report_.congestion_control = kernel_name(options_.transport.congestion_control);
  hub_->send(kHub, {{"kind", "setup"},
                    {"links", to_json(links_)},
                    {"shaper", options_.shaper},
                    {"raise_priority", options_.raise_priority},
                    {"congestion_control", report_.congestion_control},
                    {"buffer", options_.transport.buffer.count()},
                    {"segment", options_.transport.segment.count()},
                    {"wire_segment", options_.transport.wire_segment.count()}});
  const json ready = await("ready");
  const Shaping shaping = understood("the emulator's answer to its setup", [&] {
    report_.name_space = ready.at("namespace");
    report_.priority = ready.at("priority");
    report_.shaper = ready.at("shaper");
    report_.netem = ready.at("netem");
    return Shaping{report_.shaper, report_.netem, Seconds(ready.at("timers_late").get<double>())};
  });
  report_.loss_by = "none";
  Seconds longest{0};
  for (const HostLink& link : links_) {
    report_.burst.push_back(burst_of(link, shaping));
    longest = std::max(longest, link.delay);
    if (link.loss > 0) report_.loss_by = "nftables";
  }
  if (longest > Seconds(0) && !report_.netem)
    report_.missing.push_back("link delays of up to " + format_duration(longest) +
                              " are not emulated: this kernel has no netem (module sch_netem)");
  if (cluster.host_count() == 1)
    report_.warnings.push_back("a single host exchanges nothing: no base RTT was measured");
}

void EmulatorSession::measure_neighbours() {
  const int hosts = static_cast<int>(links_.size());
  // A lost message costs a retransmission timeout; a median of a few is as good.
  const int rounds =
      report_.loss_by == "none" ? options_.rtt_rounds : std::min(options_.rtt_rounds, 15);
  std::vector<Seconds> medians, overheads;
  for (int from = 0; from < hosts && hosts > 1; ++from) {
    const int to = (from + 1) % hosts;
    const Seconds time = measure_base_rtt(from, to, rounds);
    report_.base_rtt.push_back({from, to, time});
    medians.push_back(time);
    const auto delay = [&](int host) {
      return report_.netem ? links_[static_cast<std::size_t>(host)].delay : Seconds(0);
    };
    overheads.push_back(std::max(Seconds(0), time - (delay(from) + delay(to)) * 2));
  }
  if (medians.empty()) return;
  report_.median_base_rtt = median_of(medians);
  report_.median_overhead = median_of(overheads);
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
    const auto message = hub_->receive(last_news_ + longest);
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
  std::vector<sim::ChannelRecord> records(2 * links_.size());
  const std::int64_t headers =
      options_.transport.wire_segment.count() - options_.transport.segment.count();
  last_news_ = monotonic_now();
  hub_->send(kAllHosts, {{"kind", "counters"}});
  for (std::size_t answers = 0; answers < links_.size(); ++answers) {
    const auto [from, connections] = host_counters_from_json(await("counters"), links_.size());
    for (const auto& [to, bytes, segments] : connections) {
      const Bytes wire(bytes + segments * headers);
      for (const auto& [channel, host] :
           {std::pair{up_channel_[from], from}, std::pair{up_channel_[to] ^ 1, to}}) {
        sim::ChannelRecord& record = records[static_cast<std::size_t>(channel)];
        record.wire += wire;
        record.busy += transmission_time(wire, links_[host].rate);
      }
    }
  }
  return records;
}

std::unique_ptr<Emulator> make_emulator(const sim::Cluster& cluster,
                                        const EmulatorOptions& options) {
  return std::make_unique<EmulatorSession>(cluster, options);
}

}  // namespace gradwire::emulator
