#include "sim/flow/per_packet/datagrams.h"

#include <algorithm>
#include <cmath>

#include "sim/cluster/datagram_wait.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/graph/byte_ranges.h"

namespace gradwire::sim {
namespace {

/// The instant of ns-3's clock, s: of equal instants equal ones, whatever sums lead to them.
double instant(double seconds) {
  return std::round(seconds * kNanoseconds) / kNanoseconds;
}

}  // namespace

DatagramFlow::Way datagram_way(const Cluster& cluster, std::span<const ChannelId> route,
                               const TransportSettings& transport) {
  const auto segment = static_cast<double>(transport.wire_segment.count());
  DatagramFlow::Way way;
  way.rate = std::numeric_limits<double>::infinity();
  double latest = datagram_wait(cluster, route, transport).value();
  for (const ChannelId id : route) {
    const LinkSpec& spec = cluster.channel(id);
    const double rate = cluster.nominal_rate(id).value() / 8;
    way.rate = std::min(way.rate, rate);
    latest += spec.delay.value() + kLateJitters * spec.jitter.value() + segment / rate;
  }
  way.latest = instant(latest) + 1 / kNanoseconds;  // what is due at that very instant is not late
  way.segment = transport.segment.count();
  way.header = (transport.wire_segment - transport.segment).count();
  return way;
}

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

Datagram DatagramFlow::send(double now) {
  Message& message = messages_[sending_];
  const std::int64_t number = message.first + message.sent;
  const std::int64_t bytes =
      std::min(way_.segment, message.payload - message.sent * way_.segment) + way_.header;
  message.wire += bytes;
  Datagram datagram{.number = number, .wire = static_cast<std::int32_t>(bytes)};
  next_time_ = instant(now + instant(static_cast<double>(bytes) / way_.rate));
  if (++message.sent == static_cast<std::int64_t>(message.there.size())) {
    message.due = datagram.due = instant(now + way_.latest);
    ++sending_;
    while (has_more() && messages_[sending_].is_cancelled) ++sending_;
  }
  return datagram;
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
  ended_.push_back({message.id, message.wire, 0, missing_of(message)});
  messages_.pop_front();
  sending_ -= sending_ > 0;
  drop_cancelled();
}

void DatagramFlow::drop_cancelled() {
  if (!messages_.empty() && messages_.front().is_cancelled) end_first();
}

void DatagramSender::wake(std::int32_t number, DatagramFlow& flow) {
  if (!flow.is_active_) active_.emplace_back(number, &flow);
  flow.is_active_ = true;
  await(flow);
}

void DatagramSender::await(DatagramFlow& flow) {
  if (flow.is_ready_ || flow.is_awaited_ || !flow.has_more()) return;
  awaited_.push({flow.next_time(), &flow});
  flow.is_awaited_ = true;
}

/// Those that have nothing more to send lose their places.
void DatagramSender::drop_finished() {
  const auto is_finished = [](const auto& each) { return !each.second->has_more(); };
  const auto forget = [this](DatagramFlow& flow) {
    flow.is_active_ = false;
    ready_ -= std::exchange(flow.is_ready_, false);
  };
  if (looks_again_) {
    for (const auto& each : active_)
      if (is_finished(each)) forget(*each.second);
    std::erase_if(active_, is_finished);
  } else if (finished_ < active_.size() && is_finished(active_[finished_])) {
    forget(*active_[finished_].second);
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(finished_));
  }
  looks_again_ = false;
  finished_ = SIZE_MAX;
}

void DatagramSender::find_ready(double now) {
  while (!awaited_.empty() && awaited_.top().time <= now) {
    DatagramFlow& flow = *awaited_.top().flow;
    awaited_.pop();
    flow.is_awaited_ = false;
    if (!flow.has_more()) continue;
    flow.is_ready_ = true;
    ++ready_;
  }
}

std::int32_t DatagramSender::send(double now, Datagram& packet) {
  drop_finished();
  find_ready(now);
  if (free_at_ > now || ready_ == 0) return -1;
  do {
    turn_ = (turn_ + 1) % active_.size();
  } while (!active_[turn_].second->is_ready_);
  auto& [number, flow] = active_[turn_];
  packet = flow->send(now);
  packet.connection = number;
  free_at_ = instant(now + instant(packet.wire / rate_));
  flow->is_ready_ = false;
  --ready_;
  if (flow->has_more())
    await(*flow);
  else
    finished_ = turn_;
  return number;
}

double DatagramSender::next_event() const {
  if (ready_ == 0 && awaited_.empty()) return kNever;
  return std::max(free_at_, ready_ > 0 ? 0 : awaited_.top().time);
}

}  // namespace gradwire::sim
