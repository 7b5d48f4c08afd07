#include "sim/flow/burst_chain.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/flow/tcp_path.h"

namespace gradwire::sim {
namespace {

/// Stream of bursts (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kBurstStream = kFirstReservedTensor + 0x10000002u;

}  // namespace

BurstChain::BurstChain(const Cluster& cluster, std::span<const ChannelId> route, std::uint64_t seed,
                       std::uint32_t connection)
    : stream_{seed, 0, connection, kBurstStream} {
  for (const ChannelId id : route) {
    const LinkSpec& spec = cluster.channel(id);
    if (spec.burst.enter > 0) {
      channels_.push_back({spec.burst, spec.loss, false});
    } else {
      plain_kept_ *= 1 - spec.loss;
    }
  }
  take_state();
}

bool BurstChain::is_needed(const Cluster& cluster, std::span<const ChannelId> route) {
  return std::any_of(route.begin(), route.end(),
                     [&](ChannelId id) { return cluster.channel(id).burst.enter > 0; });
}

double BurstChain::draw() {
  return static_cast<double>(uniform(stream_, draws_++));
}

/// Segments before the first to which something of probability p happens.
double BurstChain::run(double p) {
  if (p <= 0) return std::numeric_limits<double>::infinity();
  const double u = draw();
  return p >= 1 ? 0 : geometric_gap(p, u);
}

void BurstChain::take_state() {
  double kept = plain_kept_, stays = 1;
  for (const Channel& channel : channels_) {
    kept *= 1 - channel.loss();
    stays *= 1 - channel.move();
  }
  loss_ = 1 - kept;
  move_ = 1 - stays;
}

void BurstChain::move_one() {
  double sum = 0;
  for (const Channel& channel : channels_) sum += channel.move();
  double at = channels_.size() > 1 ? draw() * sum : 0;
  for (Channel& channel : channels_) {
    at -= channel.move();
    if (at > 0 && &channel != &channels_.back()) continue;
    channel.bad = !channel.bad;
    break;
  }
  take_state();
}

/// Segments that arrive before the next lost one. The last segment of a state may be lost before
/// the chain moves.
double BurstChain::gap() {
  double passed = 0;
  for (;;) {
    const double lost = run(loss_), last = run(move_);
    if (lost <= last) {
      if (lost == last) move_one();
      return passed + lost;
    }
    passed += last + 1;
    move_one();
  }
}

double BurstChain::next_lost(double from) {
  while (next_ < from) next_ += 1 + gap();
  return next_;
}

}  // namespace gradwire::sim
