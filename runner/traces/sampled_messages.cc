#include "runner/traces/sampled_messages.h"

#include <algorithm>
#include <cmath>

#include "runner/traces/fluid_path.h"

namespace gradwire::runner {
namespace {

constexpr std::uint64_t kSeed = 1;
/// Few messages over links that change: where they are TCP's, packet by packet.
std::optional<sim::Detail> detail_for(const sim::TransportSettings& transport) {
  const bool tcp = transport.protocol == sim::TransportSettings::Protocol::kTcp;
  return tcp ? std::optional(sim::Detail::kPerPacket) : std::nullopt;
}

constexpr double kPayload = 1460, kPacketsOfAMessage = 10;  ///< bytes; as much work as a message

}  // namespace

double work_of_message(double bytes) {
  return 1 + bytes / kPayload / kPacketsOfAMessage;
}

SampledMessages::SampledMessages(const sim::Cluster& cluster,
                                 const sim::TransportSettings& transport)
    : network_(cluster, transport, kSeed, detail_for(transport)) {}

void SampledMessages::plan(double time, std::int64_t id, int source, int destination,
                           double bytes) {
  const Bytes payload(std::max<std::int64_t>(1, std::llround(bytes)));
  agenda_.push({time, id, source, destination, payload});
}

void SampledMessages::run(const std::function<void(std::int64_t id, double time)>& received) {
  std::vector<sim::Delivery> delivered;
  while (true) {
    start_due();
    delivered.clear();
    network_.advance(Seconds(agenda_.empty() ? kEndless_s : agenda_.top().time), delivered);
    if (delivered.empty() && agenda_.empty()) return;
    for (const sim::Delivery& one : delivered) received(one.id, one.time.value());
  }
}

void SampledMessages::start_due() {
  for (; !agenda_.empty() && agenda_.top().time <= network_.now().value(); agenda_.pop()) {
    const Begin& next = agenda_.top();
    network_.start(next.id, next.source, next.destination, next.bytes);
  }
}

void follow(const std::vector<double>& known, std::vector<double>& times) {
  if (known.empty() || times.empty()) return;
  const std::size_t last = known.size() - 1, middle = last / 2;
  const double there = times[last] - (last > 0 ? times[middle] : 0);
  const double here = known[last] - (last > 0 ? known[middle] : 0);
  const double stretch = there > 0 ? here / there : 1, from = times[last];
  for (std::size_t k = 0; k < times.size(); ++k)
    times[k] = k <= last ? known[k] : known[last] + stretch * (times[k] - from);
}

}  // namespace gradwire::runner
