#include "sim/flow/fluid/fluid_stream.h"

#include <cmath>
#include <utility>

namespace gradwire::sim {

FluidStream::FluidStream(std::shared_ptr<const StreamPath> path, const TransportSettings& transport,
                         LossSequence data, LossSequence acks)
    : tcp_(path, transport, this),
      bottleneck_(std::shared_ptr<const Bottleneck::Discipline>(path, &path->discipline)) {
  const bool queues = path->ack_spacing > path->segment_time;  // acknowledgements
  if (data.loses() || acks.loses() || queues)
    ways_ = std::make_unique<Ways>(Ways{std::move(data), std::move(acks), {}});
  if (queues) ways_->back.emplace(path->ack_spacing);
  if (path->changes) turns_ = std::make_unique<Turns>();
}

/// A segment goes out: the one that is held learns what comes behind it.
void FluidStream::carry(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) {
  const Segment segment{now, number, wire, sent};
  if (held_.number >= 0) decide(now, static_cast<double>(payload(segment) + to_come_again()));
  if (!turns_) {
    pass(segment, 0);
    return;
  }
  turns_->segments.push(segment);
  turns_->wire += wire;
  turns_->bytes += payload(segment);
}

/// The segment's turn at the bottleneck, for which so many bytes wait behind it.
inline void FluidStream::pass(const Segment& segment, std::int64_t waiting) {
  const std::int64_t behind = waiting + tcp_.unsent() + to_come_again();
  if (bottleneck_.pass(segment.came, segment.wire, static_cast<double>(behind))) {
    travel(segment);
  } else if (bottleneck_.may_spare() && !Bottleneck::is_queue(static_cast<double>(waiting))) {
    held_ = segment;
  } else {
    ++dropped_;
  }
}

/// The turn of the first one that waits begins.
void FluidStream::take_turn() {
  if (held_.number >= 0) {
    decide(next_turn(), static_cast<double>(turns_->bytes));
    return;
  }
  const Segment next = turns_->segments.front();
  turns_->segments.pop();
  turns_->wire -= next.wire;
  turns_->bytes -= payload(next);
  pass(next, turns_->bytes);
}

/// Bytes of segments that are gone and not sent again yet: they come behind what is sent now.
std::int64_t FluidStream::to_come_again() const {
  const std::int64_t gone = dropped_ + lost_ - tcp_.output().copies();
  return std::max<std::int64_t>(gone, 0) * tcp_.path().segment;
}

/// Whether the segment that is held is dropped is known: so many bytes come behind it at `now`.
void FluidStream::decide(double now, double behind) {
  const Segment held = std::exchange(held_, {});
  if (now < bottleneck_.drop_time() && Bottleneck::is_queue(behind)) {
    ++dropped_;
    return;
  }
  bottleneck_.spare();
  travel(held);
}

/// On from the bottleneck to the receiver, unless it is lost on the way.
inline void FluidStream::travel(const Segment& segment) {
  wire_sent_ += segment.wire;
  if (ways_ && ways_->data_loss.next()) {
    ++lost_;
    return;
  }
  ++arrived_;
  const StreamPath& path = tcp_.path();
  const double direct = bottleneck_.departure() + path.arrival + path.forwarding * segment.wire;
  last_arrival_ = std::max(direct, last_arrival_ + path.second_hop * segment.wire);
  tcp_.arrive(last_arrival_, segment.number, segment.wire, segment.sent);
}

std::int64_t FluidStream::take_over(double now, double began, double ended, double wire) {
  const StreamPath& path = tcp_.path();
  const double full = static_cast<double>(path.segment) + path.header;
  const double rate = wire / (ended - began);
  const auto count = static_cast<std::int64_t>(std::ceil(wire / full));
  // Segments are acknowledged in pairs.
  const double answered = (now - path.round_trip - began) * rate;
  std::int64_t k = 0;
  while (k < count && std::min(static_cast<double>(k + 2) * full, wire) <= answered) k += 2;
  const std::int64_t before = std::min(k, count);
  for (; k < count; ++k) {
    const double end = std::min(static_cast<double>(k + 1) * full, wire);
    const double own = end - static_cast<double>(k) * full;
    last_arrival_ =
        std::max(last_arrival_, began + end / rate + path.arrival + path.forwarding * own);
    const auto bytes = std::max<std::int64_t>(1, std::llround(own - path.header));
    tcp_.take_over(now, bytes, path.stamp(began), last_arrival_);
  }
  return count - before;
}

/// What has not left the bottleneck at `now` leaves it, and arrives, as much later as the new rate
/// makes it.
void FluidStream::serve(double now, double rate) {
  if (rate == bottleneck_.rate()) return;
  bottleneck_.set_rate(now, rate);
  const StreamPath& path = tcp_.path();
  const double way =
      path.arrival + path.forwarding * (static_cast<double>(path.segment) + path.header);
  tcp_.move([&](double& arrival) {
    if (arrival < kNever) arrival = bottleneck_.moved(now, arrival - way) + way;
  });
  last_arrival_ = bottleneck_.free_at();
}

void FluidStream::release() {
  tcp_.release();
  if (turns_ && !waits()) turns_->segments.release();  // a copy of what has arrived may wait
}

double FluidStream::next_ack() const {
  const TcpReceiver& receiver = tcp_.receiver();
  const auto& acks = receiver.acknowledgements();
  const double direct =
      (acks.empty() ? receiver.deadline() : acks.front().time) + tcp_.path().ack_arrival;
  return waits_back() ? ways_->back->arrival(direct) : direct;
}

/// The receiver's oldest acknowledgement reaches the sender, unless it is lost.
inline void FluidStream::take_ack(double now) {
  TcpReceiver& receiver = tcp_.receiver();
  if (receiver.acknowledgements().empty()) receiver.time_out();
  if (waits_back()) ways_->back->arrived(now);
  if (ways_ && ways_->ack_loss.next()) {
    receiver.acknowledgements().pop();
  } else {
    tcp_.acknowledge(now, receiver.acknowledgements().begin());
  }
}

void FluidStream::hold_acks(double now, double behind) {
  if (waits_back() && ways_->back->is_closed()) {
    WayBack& back = *ways_->back;
    if (behind == back.behind()) return;
    const double latency = tcp_.path().ack_arrival;
    TcpReceiver& receiver = tcp_.receiver();
    if (back.released(now, receiver.deadline() + latency) > receiver.deadline() + latency)
      receiver.time_out();
    NumberedQueue<Acknowledgement>& acks = receiver.acknowledgements();
    for (std::uint64_t i = acks.begin(); i != acks.end(); ++i)
      acks[i].time = back.released(now, acks[i].time + latency) - latency;
    back.open();
  }
  if (behind < 0) return;
  if (!ways_) ways_ = std::make_unique<Ways>();
  if (!ways_->back) ways_->back.emplace(tcp_.path().ack_spacing);
  ways_->back->close(now, behind);
}

void FluidStream::run(double now, double ahead) {
  double until = tcp_.unsent() > 0 ? std::max(now, ahead) : now;
  for (;;) {
    const double ack = next_ack(), turn = next_turn(), timer = tcp_.next_event();
    const double next = std::min(ack, timer);
    if (std::min({next, decision(), turn}) > until) return;
    if (decision() <= std::min(next, turn)) {
      decide(decision(), 0);
    } else if (turn <= next) {
      take_turn();
    } else if (!tcp_.run_timer(ack)) {
      take_ack(ack);
    }
    // What is paced is paced as far as it was to go at first.
    if (!tcp_.congestion().is_paced()) until = tcp_.unsent() > 0 ? std::max(now, ahead) : now;
  }
}

}  // namespace gradwire::sim
