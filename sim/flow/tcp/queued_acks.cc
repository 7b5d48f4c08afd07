#include "sim/flow/tcp/queued_acks.h"

#include <algorithm>

namespace gradwire::sim {

/// s: when the next one comes to the first queue.
double QueuedAcks::enters(const TcpReceiver& receiver) const {
  const auto& acks = receiver.acknowledgements();
  return entered_ < acks.end() ? acks[entered_].time : receiver.deadline();
}

double QueuedAcks::next(const TcpReceiver& receiver) const {
  double next = enters(receiver);
  for (const Place& each : places_)
    if (!each.coming.empty()) next = std::min(next, each.coming.front().time);
  return next;
}

void QueuedAcks::take(TcpReceiver& receiver, double time) {
  for (std::size_t place = 1; place < places_.size(); ++place) {
    NumberedQueue<Coming>& coming = places_[place].coming;
    if (coming.empty() || coming.front().time > time) continue;
    const Coming ack = coming.front();
    coming.pop();
    enter(place, ack);
    return;
  }
  if (entered_ == receiver.acknowledgements().end()) receiver.time_out();
  const double blocks = receiver.acknowledgements()[entered_].blocks;
  enter(0, {time, entered_++, static_cast<std::int32_t>(wire_ + block_ * blocks)});
}

void QueuedAcks::enter(std::size_t place, const Coming& ack) {
  if (place == places_.size()) {
    arrived_.push(ack);
    return;
  }
  places_[place].queue->push(places_[place].flow,
                             {ack.time, static_cast<std::int64_t>(ack.number), ack.wire, 0});
}

void QueuedAcks::pass(std::size_t place, std::uint64_t number, std::int32_t wire,
                      double departure) {
  places_[place].carried += wire;
  if (places_[place].loss && places_[place].loss->next()) return;
  const Coming onwards{departure + places_[place].onwards, number, wire};
  if (place + 1 == places_.size()) {
    arrived_.push(onwards);
  } else {
    places_[place + 1].coming.push(onwards);
  }
}

}  // namespace gradwire::sim
