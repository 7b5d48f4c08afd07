#include "sim/flow/cells/datagrams.h"

#include <algorithm>

#include "sim/graph/byte_ranges.h"

namespace gradwire::sim {

void DatagramFlow::write(std::uint64_t id, std::int64_t bytes) {
  const std::int64_t count = (bytes + way_.segment - 1) / way_.segment;
  Message message;
  message.id = id;
  message.first = next_;
  message.payload = bytes;
  message.there.assign(static_cast<std::size_t>(count), false);
  messages_.push_back(std::move(message));
  next_ += count;
}

void DatagramFlow::cancel(std::uint64_t id) {
  const auto found = std::ranges::find(messages_, id, &Message::id);
  if (found == messages_.end()) return;
  found->is_cancelled = true;
  found->sent = static_cast<std::int64_t>(found->there.size());
  while (has_more() && messages_[sending_].is_cancelled) ++sending_;
  drop_cancelled();
}

CellPacket DatagramFlow::send(double now) {
  Message& message = messages_[sending_];
  const std::int64_t number = message.first + message.sent;
  const std::int64_t bytes =
      std::min(way_.segment, message.payload - message.sent * way_.segment) + way_.header;
  message.wire += bytes;
  next_time_ = now + static_cast<double>(bytes) / way_.rate;
  if (++message.sent == static_cast<std::int64_t>(message.there.size())) {
    message.due = now + way_.latest;
    ++sending_;
    while (has_more() && messages_[sending_].is_cancelled) ++sending_;
  }
  return {.number = number, .wire = static_cast<std::int32_t>(bytes)};
}

/// A datagram is there: it ends all messages before its own, and its own if it is the last one.
void DatagramFlow::arrive(std::int64_t number) {
  while (!messages_.empty()) {
    Message& message = messages_.front();
    const auto place = number - message.first;
    if (place < 0) return;  // given up, or cancelled
    const auto count = static_cast<std::int64_t>(message.there.size());
    if (place < count && !message.is_cancelled)
      message.there[static_cast<std::size_t>(place)] = true;
    if (place + 1 < count) return;
    end_first();
    if (place < count) return;
  }
}

double DatagramFlow::deadline() const {
  return messages_.empty() ? kNever : messages_.front().due;
}

void DatagramFlow::give_up(double now) {
  while (!messages_.empty() && messages_.front().due <= now) end_first();
}

std::vector<ByteRange> DatagramFlow::missing_of(const Message& message) const {
  std::vector<ByteRange> missing;
  for (std::size_t i = 0; i < message.there.size(); ++i) {
    if (message.there[i]) continue;
    const std::int64_t first = static_cast<std::int64_t>(i) * way_.segment;
    append(missing, {first, std::min(way_.segment, message.payload - first)});
  }
  return missing;
}

void DatagramFlow::end_first() {
  const Message& message = messages_.front();
  ended_.push_back({message.id, message.wire, missing_of(message)});
  messages_.pop_front();
  sending_ -= sending_ > 0;
  drop_cancelled();
}

void DatagramFlow::drop_cancelled() {
  if (!messages_.empty() && messages_.front().is_cancelled) end_first();
}

void DatagramSender::wake(std::int32_t number, DatagramFlow& flow) {
  if (std::ranges::find(active_, number, &std::pair<std::int32_t, DatagramFlow*>::first) ==
      active_.end())
    active_.emplace_back(number, &flow);
}

std::int32_t DatagramSender::send(double now, CellPacket& packet) {
  std::erase_if(active_, [](const auto& each) { return !each.second->has_more(); });
  for (std::size_t i = 0; free_at_ <= now && i < active_.size(); ++i) {
    turn_ = (turn_ + 1) % active_.size();
    auto& [number, flow] = active_[turn_];
    if (flow->next_time() > now) continue;
    packet = flow->send(now);
    packet.connection = number;
    free_at_ = now + packet.wire / rate_;
    return number;
  }
  return -1;
}

double DatagramSender::next_event() const {
  double soonest = kNever;
  for (const auto& [number, flow] : active_)
    if (flow->has_more()) soonest = std::min(soonest, flow->next_time());
  return std::max(soonest, free_at_);
}

}  // namespace gradwire::sim
