#include <algorithm>

#include "runner/record/step_summary.h"

/// What the closed forms leave out, and would answer wrongly if they were asked.
namespace gradwire::runner {
namespace {

using sim::TransportSettings;

std::string_view of_links(const sim::Cluster& cluster) {
  for (const sim::Link& link : cluster.links()) {
    if (link.spec.burst.enter > 0) return "packets are lost in bursts, which no closed form has";
    if (link.spec.jitter.value() > 0) return "links have jitter, which no closed form has";
    if (!link.spec.outages.empty()) return "links are away at times, which no closed form has";
    if (link.spec.half_duplex)
      return "both directions of a link share one medium, which no closed form has";
  }
  return {};
}

/// Bytes of the largest transfer of the step.
double largest_transfer(const results::StepSummary& step) {
  double largest = 0;
  for (const results::BucketSummary& bucket : step.buckets)
    for (const results::Hops& hops :
         results::hops_of(step.exchange_of(bucket), step.workers, step.group))
      largest = std::max(largest, hops.bytes_of(bucket.message_bytes) / hops.flows);
  return largest;
}

/// How many times as fast as the other a direction of a link is at most.
double asymmetry(const sim::Cluster& cluster) {
  double most = 1;
  for (sim::ChannelId id = 0; id + 1 < cluster.channel_count(); id += 2) {
    const double one = cluster.nominal_rate(id).value();
    const double other = cluster.nominal_rate(id + 1).value();
    most = std::max({most, one / other, other / one});
  }
  return most;
}

std::string_view of_transport(const sim::Cluster& cluster, const TransportSettings& transport) {
  if (transport.min_rto <= transport.delayed_ack)
    return "acknowledgements may be delayed for as long as the least timeout, so that segments are "
           "sent again that are not lost";
  if (transport.protocol == TransportSettings::Protocol::kTcp &&
      transport.congestion_control == TransportSettings::CongestionControl::kBbr)
    return "the closed forms have the windows of cubic and reno, not the rates of bbr";
  const bool lossy = std::ranges::any_of(
      cluster.links(), [](const sim::Link& link) { return link.spec.mean_loss() > 0; });
  if (lossy && transport.constants.kernel_recovery)
    return "under loss the closed forms have ns-3's repair, not that of Linux";
  return {};
}

}  // namespace

std::string_view without_closed_form(const scenarios::Scenario& scenario,
                                     const sim::Cluster& cluster) {
  if (!cluster.cells().empty())
    return "its workers share a radio cell's air time, which no closed form describes";
  if (scenario.workload.kind == scenarios::WorkloadKind::kRecording)
    return "a script's calls follow one another as it makes them, which no closed form describes";
  const bool trains = scenario.workload.kind == scenarios::WorkloadKind::kTraining;
  if (trains && scenario.schedule.kind == "pipeline")
    return "its workers have stages of the model, and the closed forms have workers that are alike";
  if (trains && scenario.schedule.kind == "gossip")
    return "workers exchange models with neighbours, and the closed forms have gradients of all";
  if (trains && scenario.schedule.kind != "lockstep")
    return "who works when follows from arrivals at the server, which no closed form describes";
  if (scenario.schedule.local_steps != 1)
    return "the closed forms have one pass a step, and it takes several local steps";
  if (scenario.exchange.zero > 0)
    return "the closed forms have one exchange a bucket, and with zero weights are sent, too";
  if (scenario.exchange.offload)
    return "the closed forms have no way to the host's memory and back";
  if (scenario.network.transport.connections > 1)
    return "transfers of one pair are side by side on several connections, and the closed forms "
           "have them one after another";
  const auto protocol = scenario.network.transport.protocol;
  if (protocol != TransportSettings::Protocol::kTcp &&
      protocol != TransportSettings::Protocol::kRdma)
    return "the closed forms describe tcp: its headers, its windows and its repair of losses";
  if (scenario.exchange.shards > 1)
    return "its server is spread over several hosts, and the closed forms have one";
  if (!scenario.network.background.empty())
    return "others use its links, too, which no closed form has";
  if (!scenario.cluster.absences.empty())
    return "workers are away at times, and the closed forms have all of them in each step";
  if (const auto why = of_transport(cluster, scenario.network.transport); !why.empty()) return why;
  return of_links(cluster);
}

std::string_view without_room(const results::StepSummary& step, const sim::Cluster& cluster,
                              const TransportSettings& transport) {
  const double under_way =
      std::min(2 * step.delay_s * step.bandwidth * asymmetry(cluster), largest_transfer(step));
  if (static_cast<double>(transport.buffer.count()) < under_way)
    return "buffers hold less than a bandwidth-delay product and than its messages: they decide, "
           "not the links";
  for (const sim::Link& link : cluster.links()) {
    const auto queue = static_cast<double>(link.spec.queue.count());
    if (queue > 0 && queue < under_way)
      return "a queue holds less than a bandwidth-delay product and than its messages: windows "
             "overflow it, and no closed form has that";
  }
  return {};
}

}  // namespace gradwire::runner
