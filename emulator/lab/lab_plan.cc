#include <algorithm>
#include <string>

#include "base/error.h"
#include "emulator/lab/lab.h"
#include "emulator/shaper/wire_plan.h"

namespace gradwire::emulator {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorKind::kCapability, "measure with kernel TCP", "this network", what,
              "use --against packet");
}

WireNetwork::Channel channel_of(const sim::Cluster& cluster, sim::ChannelId id,
                                const sim::TransportSettings& transport) {
  const sim::LinkSpec& link = cluster.channel(id);
  const auto& schedule = id % 2 == 0 ? link.schedule : link.schedule_back;
  if (schedule) refuse("a link follows a schedule");
  if (link.half_duplex) refuse("a link is half-duplex");
  if (link.jitter > Seconds(0)) refuse("a link has jitter");
  if (!link.outages.empty()) refuse("a link goes out");
  WireNetwork::Channel channel = wire_channel_of(cluster, id, transport);
  channel.loss = link.mean_loss();
  channel.burst = {};
  return channel;
}

/// Hosts of the cluster that take part get numbers in the lab, in order of appearance.
class Numbers {
 public:
  int of(int host) {
    const auto found = std::find(hosts_.begin(), hosts_.end(), host);
    if (found != hosts_.end()) return static_cast<int>(found - hosts_.begin());
    hosts_.push_back(host);
    return count() - 1;
  }
  int count() const { return static_cast<int>(hosts_.size()); }

 private:
  std::vector<int> hosts_;
};

const char* name_of(sim::TransportSettings::CongestionControl control) {
  using Control = sim::TransportSettings::CongestionControl;
  if (control == Control::kBbr) return "bbr";
  return control == Control::kReno ? "reno" : "cubic";
}

}  // namespace

LabPlan plan_lab(const sim::Cluster& cluster, std::span<const LabChain> chains,
                 const sim::TransportSettings& transport) {
  if (!cluster.cells().empty()) refuse("it has radio cells");
  LabPlan plan;
  for (int id = 0; id < cluster.channel_count(); ++id)
    plan.channels.push_back(channel_of(cluster, id, transport));
  Numbers numbers;
  for (const LabChain& chain : chains) {
    const int from = numbers.of(chain.source), to = numbers.of(chain.destination);
    plan.chains.push_back({from, to, chain.bytes});
    plan.routes.push_back({from, to, wire_route_of(cluster, chain.source, chain.destination)});
    plan.routes.push_back({to, from, wire_route_of(cluster, chain.destination, chain.source)});
  }
  plan.hosts = numbers.count();
  plan.congestion_control = name_of(transport.congestion_control);
  plan.buffer = transport.buffer;
  return plan;
}

}  // namespace gradwire::emulator
