#include "sim/session/background.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"

namespace gradwire::sim {
namespace {

/// Stream of background traffic (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kBackgroundStream = kFirstReservedTensor + 0x10000013u;

}  // namespace

BackgroundNetwork::BackgroundNetwork(std::unique_ptr<Network> network,
                                     std::vector<BackgroundTraffic> traffic, std::uint64_t seed)
    : network_(std::move(network)) {
  for (std::size_t i = 0; i < traffic.size(); ++i) {
    Source source{traffic[i], {seed, 0, static_cast<std::uint32_t>(i), kBackgroundStream}};
    due_.push({next_time(source, 0), 0, i});
    sources_.push_back(source);
  }
}

double BackgroundNetwork::exponential(Source& source, double mean) {
  return -mean * std::log1p(-static_cast<double>(uniform(source.stream, source.draws++)));
}

/// When the source starts its next transfer, if the last one started at `now`.
double BackgroundNetwork::next_time(Source& source, double now) {
  const BackgroundTraffic& traffic = source.traffic;
  const double spacing = static_cast<double>(traffic.size.count()) * 8 / traffic.rate.value();
  if (traffic.pattern == BackgroundTraffic::Pattern::kPoisson) {
    return now + exponential(source, spacing);
  }
  double next = now + spacing;
  while (next >= source.until) {  // the first transfer of an on time starts with it
    next = std::max(source.until, now) + exponential(source, traffic.off.value());
    source.until = next + exponential(source, traffic.on.value());
  }
  return next;
}

void BackgroundNetwork::start(TransferId id, int source, int destination, Bytes payload) {
  GRADWIRE_ASSERT((id & kOwn) == 0);
  ++foreground_;
  network_->start(id, source, destination, payload);
}

void BackgroundNetwork::start_beside(TransferId id, int beside, int source, int destination,
                                     Bytes payload) {
  GRADWIRE_ASSERT((id & kOwn) == 0);
  ++foreground_;
  network_->start_beside(id, beside, source, destination, payload);
}

void BackgroundNetwork::cancel(TransferId id) {
  --foreground_;
  network_->cancel(id);
}

void BackgroundNetwork::send_due(double now) {
  while (due_.top().time <= now) {
    const std::size_t number = due_.pop().source;
    Source& source = sources_[number];
    const BackgroundTraffic& traffic = source.traffic;
    if (source.waiting < kMostWaiting) {
      ++source.waiting;
      network_->start_beside(kOwn | number, 1, traffic.source, traffic.destination, traffic.size);
    }
    due_.push({next_time(source, now), 0, number});
  }
}

void BackgroundNetwork::take(std::vector<Delivery>& delivered) {
  for (const Delivery& each : arrived_) {
    if ((each.id & kOwn) != 0) {
      --sources_[each.id & ~kOwn].waiting;
    } else {
      --foreground_;
      delivered.push_back(each);
    }
  }
  arrived_.clear();
}

void BackgroundNetwork::advance(Seconds until, std::vector<Delivery>& delivered) {
  const std::size_t before = delivered.size();
  for (;;) {
    if (until >= kForever && foreground_ == 0) return;
    const double limit = std::min(until.value(), due_.top().time);
    network_->advance(Seconds(limit), arrived_);
    const double now = network_->now().value();
    take(delivered);
    if (now >= limit) send_due(now);
    if (delivered.size() > before || now >= until.value()) return;
  }
}

}  // namespace gradwire::sim
