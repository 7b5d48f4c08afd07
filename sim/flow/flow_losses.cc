// Lost segments: where they strike, when they show, and what repairs them (tcp_path.h).
#include <algorithm>
#include <cmath>

#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

constexpr double kSameInstant = 1e-12;

}  // namespace

/// Segments of the first transfer that have left, the present one in part.
double FlowNetwork::sent_of_first(const Connection& link) const {
  const Transfer& t = transfers_[static_cast<std::size_t>(link.first)];
  const double base = static_cast<double>(t.wire.count()) - t.charged;
  return std::clamp((base - link.remaining) / segment_, 0.0, t.segments);
}

/// The first transfer's next lost segment, from number `from` of it on.
void FlowNetwork::draw_loss(Connection& link, double from) {
  const Transfer& t = transfer(link.first);
  link.next_lost = link.bursts ? link.bursts->next_lost(link.sent_before + from) - link.sent_before
                               : from + link.draws.gap(link.path.loss);
  const double base = static_cast<double>(t.wire.count()) - t.charged;
  const double sent = base - link.remaining;
  link.to_loss = link.next_lost < t.segments ? link.next_lost * segment_ - sent : kNever;
}

/// The bottleneck begins to send a segment that will not arrive.
void FlowNetwork::on_loss(std::int32_t c) {
  Connection& link = connection(c);
  const double index = link.next_lost;
  for (Hole& earlier : link.holes) {
    if (!earlier.is_shown) ++earlier.shown;  // this one will not be acknowledged either
  }
  Hole hole;
  hole.segment = link.sent_before + index;
  hole.shown = hole.segment + 1 + kDuplicateAcks;
  hole.transfer = link.first;
  hole.acknowledged = now_ + link.path.round_trip - 2 * link.path.segment_time;
  const bool unpaired = std::fmod(index, kSegmentsPerAck) != 0;
  const bool last = index + 1 >= transfer(link.first).segments;
  if (last && unpaired) hole.acknowledged += transport_.delayed_ack.value();
  link.window.lose();
  link.holes.push_back(hole);
  link.holes.back().due = timeout_of(link, hole);
  draw_loss(link, index + 1);
  watch_losses(link);
  schedule_repair(c);
  schedule(c);
}

/// How much the first transfer has to send until another loss shows.
void FlowNetwork::watch_losses(Connection& link) {
  link.to_shown = kNever;
  for (const Hole& hole : link.holes) {
    if (hole.is_shown) continue;
    const double segments = hole.shown - link.sent_before;
    const Transfer& t = transfer(link.first);
    if (segments >= t.segments) return;  // shows at its end, or behind it
    const double base = static_cast<double>(t.wire.count()) - t.charged;
    link.to_shown = segments * segment_ - (base - link.remaining);
    return;
  }
}

/// So many segments of the connection are sent: losses show by the acknowledgements of these.
void FlowNetwork::on_shown(std::int32_t c, double sent) {
  constexpr double kRounding = 1e-6;  // of a segment
  Connection& link = connection(c);
  for (Hole& hole : link.holes) {
    if (hole.is_shown || hole.shown > sent + kRounding) continue;
    hole.is_shown = true;
    if (hole.next != Repair::kTimeout || hole.attempts > 0) continue;
    hole.next = Repair::kResend;
    hole.due = now_ + link.path.round_trip - 2 * link.path.segment_time;
  }
  link.to_shown = kNever;
  if (link.first >= 0 && link.state == State::kSending) watch_losses(link);
  schedule_repair(c);
}

void FlowNetwork::schedule_repair(std::int32_t c) {
  double due = kNever;
  for (const Hole& hole : connection(c).holes) due = std::min(due, hole.due);
  if (due < kNever) {
    repairs_.set(c, due);
  } else {
    repairs_.remove(c);
  }
}

double FlowNetwork::timeout_of(const Connection& link, const Hole& hole) const {
  const double rto =
      std::max(transport_.min_rto.value(), kTimeoutRoundTrips * link.path.round_trip);
  const double since = std::max(hole.acknowledged, link.last_repair);
  return since + std::ldexp(rto, static_cast<int>(hole.timeouts));
}

void FlowNetwork::on_repair(std::int32_t c) {
  repairs_.remove(c);
  Connection& link = connection(c);
  if (link.state == State::kSending) progress(link);
  const double batch = now_ + now_ * kSameInstant;
  for (std::size_t i = 0; i < link.holes.size(); ++i) {
    Hole& hole = link.holes[i];
    if (hole.due > batch) continue;
    if (hole.next == Repair::kResend) {
      const bool cut = hole.segment >= link.recovered_to;
      if (hole.timeouts == 0) link.window.recover(now_, cut);
      if (cut) {
        link.recovered_to = link.sent_before + (link.first >= 0 ? sent_of_first(link) : 0);
      }
      resend(c, hole);
    } else if (hole.next == Repair::kTimeout) {
      hole.due = timeout_of(link, hole);
      if (hole.due <= batch) time_out(c, i);
    } else {
      link.last_repair = now_ + link.path.propagation;
      hole.due = kNever;
      hole.transfer = -2;  // closed
    }
  }
  std::erase_if(link.holes, [](const Hole& hole) { return hole.transfer == -2; });
  release(c);
  schedule_repair(c);
  if (link.state == State::kSending && rate_of(link) > 0) schedule(c);
}

/// The retransmission waits behind what the window has put into the queue, and takes its own time.
void FlowNetwork::resend(std::int32_t c, Hole& hole) {
  Connection& link = connection(c);
  const double bytes = segment_;
  double wait = 0;
  const double rate = rate_of(link);
  if (link.state == State::kSending && rate > 0) {
    const double queued = link.window.size() - link.path.round_trip * rate;
    wait = std::clamp(queued, 0.0, link.remaining) / rate;
    link.resending += bytes;
  }
  for (const ChannelId channel : sharing_.route(c)) {
    wire_[static_cast<std::size_t>(channel)] += bytes;
  }
  if (hole.transfer >= 0) {
    Transfer& t = transfer(hole.transfer);
    t.wire += transport_.wire_segment;
    t.charged += bytes;
    ++t.retransmissions;
  }
  const auto number = static_cast<std::uint64_t>(hole.segment);
  if (lost_again(seed_, link.key, number, hole.attempts++, link.path.loss)) {
    if (hole.timeouts > 0) hole.acknowledged = now_;
    hole.next = Repair::kTimeout;
    hole.due = std::max(now_, timeout_of(link, hole));
    return;
  }
  hole.next = Repair::kArrival;
  hole.due = now_ + wait + link.path.segment_time + link.path.propagation +
             link.path.forwarding * segment_;
}

/// Slow start from one segment, the first missing one; the others follow 1, 2, 4 a round trip.
void FlowNetwork::time_out(std::int32_t c, std::size_t first) {
  Connection& link = connection(c);
  link.recovered_to = link.sent_before + (link.first >= 0 ? sent_of_first(link) : 0);
  link.window.collapse(now_, link.recovered_to <= link.holes[first].segment + 1,
                       link.state != State::kIdle);
  link.holes[first].timeouts += 1;
  resend(c, link.holes[first]);
  for (std::size_t i = first + 1; i < link.holes.size(); ++i) {
    Hole& hole = link.holes[i];
    if (hole.next == Repair::kArrival) continue;
    hole.next = Repair::kResend;
    hole.is_shown = true;
    hole.timeouts = 1;
    hole.due = now_ + link.path.round_trip * std::floor(std::log2(double(i - first + 1)));
  }
  if (link.state != State::kIdle) pause(c, link.window.round_end());
}

/// Delivery is in order: a sent transfer waits for the segments missing before its end.
void FlowNetwork::hold(Connection& link, std::int32_t number) {
  if (link.held_last >= 0) {
    transfer(link.held_last).behind = number;
  } else {
    link.held_first = number;
  }
  link.held_last = number;
}

void FlowNetwork::release(std::int32_t c) {
  Connection& link = connection(c);
  const double missing = link.holes.empty() ? kNever : link.holes.front().segment;
  while (link.held_first >= 0 && transfer(link.held_first).end <= missing) {
    const std::int32_t number = link.held_first;
    const Transfer& t = transfer(number);
    link.held_first = t.behind;
    if (link.held_first < 0) link.held_last = -1;
    link.last_delivery = std::max({link.last_delivery, t.arrival, now_});
    arrivals_.push({link.last_delivery, 0, number});
  }
}

/// A transfer is cancelled before its end: its losses are still repaired, on nobody's account.
void FlowNetwork::forget_losses(Connection& link, std::int32_t number) {
  for (Hole& hole : link.holes) {
    if (hole.transfer == number) hole.transfer = -1;
  }
}

}  // namespace gradwire::sim
