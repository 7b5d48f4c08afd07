// How a stream sends: what goes out next, its way through the bottleneck, its arrival.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {

std::int64_t TcpStream::space() const {
  const std::int64_t window = std::min({congestion_.size(), path_->buffer, offered_});
  return std::max<std::int64_t>(0, window - board_.in_flight());
}

void TcpStream::send_pending(double now) {
  while (send_next(now, space())) {
  }
}

/// Sends a segment if there is one and `space` lets it. (RFC 6675's NextSeg.)
bool TcpStream::send_next(double now, std::int64_t space) {
  if (space <= 0) return false;
  const std::int64_t lost = kernel_ ? board_.next_lost_anywhere() : board_.next_lost();
  if (lost != Scoreboard::kNone) {
    if (kernel_ ? space < board_.at(lost).bytes : exceeds(lost, space)) return false;
    send_again(now, lost, space);
    return true;
  }
  if (unsent() > 0) {
    if (space < std::min(path_->segment, unsent()) || board_.outstanding() >= path_->buffer)
      return false;
    send_new(now, std::min(path_->segment, unsent()));
    return true;
  }
  if (state_ != State::kRecovery || kernel_) return false;
  const std::int64_t doubtful = board_.next_doubtful();
  if (doubtful == Scoreboard::kNone || exceeds(doubtful, space)) return false;
  send_again(now, doubtful, space);
  return true;
}

/// Whether more waits from segment `number` on than fits into a space of less than a full segment:
/// then nothing is sent (RFC 1122, 4.2.3.4).
bool TcpStream::exceeds(std::int64_t number, std::int64_t space) const {
  if (space >= path_->segment) return false;
  std::int64_t bytes = unsent();
  for (std::int64_t i = number; i < board_.end() && bytes <= space; ++i)
    bytes += board_.at(i).bytes;
  return bytes > space;
}

void TcpStream::send_new(double now, std::int64_t bytes) {
  board_.push(bytes);
  sent_ += bytes;
  ++counts_.first;
  charge(static_cast<double>(bytes) + path_->header, false);
  emit(now, board_.end() - 1);
}

/// `most`: bytes that may go out with it; 0: a full segment.
void TcpStream::send_again(double now, std::int64_t number, std::int64_t most) {
  const std::int64_t full = most > 0 ? std::min(most, path_->segment) : path_->segment;
  if (board_.at(number).bytes < full && number + 1 < board_.end() && !kernel_ && !paced_) {
    if (!joined_) joined_ = std::make_unique<JoinedCopies>();
    joined_->join(board_, number, full);
  }
  board_.send_again(number);
  ++counts_.again;
  charge(board_.at(number).bytes + path_->header, true);
  emit(now, number);
}

/// The message that the stream's last byte belongs to pays for it; for copies the oldest one that
/// has not arrived, if any.
void TcpStream::charge(double wire, bool again) {
  if (messages_.empty()) return;
  std::uint64_t m = std::max(again ? arrived_ : sending_, messages_.begin());
  if (m == messages_.end()) return;
  while (!again && m + 1 != messages_.end() && messages_[m].end < sent_) ++m;
  messages_[m].wire += static_cast<std::int64_t>(wire);
  messages_[m].retransmissions += again ? 1 : 0;
  if (!again) sending_ = m;
}

/// Whether the segment, which comes behind all that were sent before it and pass, is the last of a
/// bundle.
bool TcpStream::is_pushed(std::int64_t number) {
  auto& pushed = kernel_->pushed;
  while (!pushed.empty() && pushed.front() < number) pushed.pop();
  if (pushed.empty() || pushed.front() != number) return false;
  pushed.pop();
  return true;
}

/// How many segments arrive with this one.
int TcpStream::segments_with(std::int64_t number, double wire) {
  return joined_ ? joined_->arrive(board_, number, static_cast<std::int64_t>(wire - path_->header))
                 : 1;
}

void TcpStream::arrive(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) {
  wire_sent_ += wire;
  last_arrival_ = now;
  take_in(number, wire, sent);
}

/// The receiver has the segment at last_arrival_.
void TcpStream::take_in(std::int64_t number, double wire, std::int32_t sent) {
  ++(receiver_.has(number) ? counts_.duplicate : counts_.arrived);
  const bool is_last = unsent() == 0 && number + 1 == board_.end();
  const bool wanted = constants().acknowledge_messages && is_last;
  receiver_.arrive(number, last_arrival_, sent, wanted || (kernel_ && is_pushed(number)),
                   segments_with(number, wire));
  note_arrival(last_arrival_);
}

std::int64_t TcpStream::take_over(double now, double began, double ended, double wire) {
  const double full = static_cast<double>(path_->segment) + path_->header;
  const double rate = wire / (ended - began);
  const auto count = static_cast<std::int64_t>(std::ceil(wire / full));
  // Segments are acknowledged in pairs.
  const double answered = (now - path_->round_trip - began) * rate;
  std::int64_t k = 0;
  while (k < count && std::min(static_cast<double>(k + 2) * full, wire) <= answered) k += 2;
  const std::int64_t before = std::min(k, count);
  for (; k < count; ++k) {
    const double end = std::min(static_cast<double>(k + 1) * full, wire);
    const double payload = end - static_cast<double>(k) * full - path_->header;
    const auto bytes = std::max<std::int64_t>(1, std::llround(payload));
    board_.push(bytes);
    written_ += bytes;
    sent_ += bytes;
    ++counts_.first;
    ++counts_.arrived;
    const double arrival = began + end / rate + path_->arrival +
                           path_->forwarding * (end - static_cast<double>(k) * full);
    last_arrival_ = std::max(last_arrival_, arrival);
    receiver_.arrive(board_.end() - 1, last_arrival_, tick_of(began));
    note_arrival(last_arrival_);
  }
  if (timer_ == kNever && !board_.empty()) timer_ = now + rto_;
  return count - before;
}

/// On from the bottleneck to the receiver, unless it is lost on the way.
void TcpStream::travel(std::int64_t number, double wire, std::int32_t sent) {
  wire_sent_ += wire;
  if (ways_ && ways_->data_loss && ways_->data_loss->next()) {
    ++counts_.lost;
    return;
  }
  const double direct = bottleneck_.departure() + path_->arrival + path_->forwarding * wire;
  last_arrival_ = std::max(direct, last_arrival_ + path_->second_hop * wire);
  take_in(number, wire, sent);
}

void TcpStream::emit(double now, std::int64_t number) {
  const Scoreboard::Segment& segment = board_.at(number);
  if (timer_ == kNever) timer_ = now + rto_;
  if (state_ == State::kRecovery) reduced_out_ += segment.bytes;
  if (kernel_) {
    note_sent(now, number);
  } else if (paced_) {
    note_paced(now, number);
  } else {
    congestion_.set_limited(congestion_.size() < board_.in_flight() + path_->segment);
  }
  if (held_ != Scoreboard::kNone) decide(now, static_cast<double>(segment.bytes + to_come_again()));
  const double wire = segment.bytes + path_->header;
  if (carrier_) {
    carrier_->carry(now, number, static_cast<std::int32_t>(wire), tick_of(now));
  } else if (turns_) {
    turns_->segments.push({now, number, static_cast<std::int32_t>(segment.bytes), tick_of(now)});
    turns_->wire += wire;
    turns_->bytes += segment.bytes;
  } else if (bottleneck_.pass(now, wire, static_cast<double>(unsent() + to_come_again()))) {
    travel(number, wire, tick_of(now));
  } else {
    refuse(number, segment.bytes, tick_of(now), 0);
  }
}

/// The bottleneck lets a segment not pass, behind which so many bytes wait.
void TcpStream::refuse(std::int64_t number, std::int64_t bytes, std::int32_t sent,
                       std::int64_t waiting) {
  if (!bottleneck_.may_spare() || Bottleneck::is_queue(static_cast<double>(waiting))) {
    ++counts_.dropped;
    return;
  }
  held_ = number;
  held_bytes_ = static_cast<std::int32_t>(bytes);
  held_sent_ = sent;
}

/// The turn of the first one that waits begins.
void TcpStream::take_turn() {
  if (held_ != Scoreboard::kNone) {
    decide(next_turn(), static_cast<double>(turns_->bytes));
    return;
  }
  const Turns::Segment next = turns_->segments.front();
  turns_->segments.pop();
  const double wire = next.bytes + path_->header;
  turns_->wire -= wire;
  turns_->bytes -= next.bytes;
  const std::int64_t behind = turns_->bytes + unsent() + to_come_again();
  if (bottleneck_.pass(next.came, wire, static_cast<double>(behind))) {
    travel(next.number, wire, next.sent);
  } else {
    refuse(next.number, next.bytes, next.sent, turns_->bytes);
  }
}

/// Bytes of segments that are gone and not sent again yet: they come behind what is sent now.
std::int64_t TcpStream::to_come_again() const {
  const std::int64_t gone = counts_.dropped + counts_.lost - counts_.again;
  return std::max<std::int64_t>(gone, 0) * path_->segment;
}

/// Whether the segment that is held is dropped is known: so many bytes come behind it at `now`.
void TcpStream::decide(double now, double behind) {
  const std::int64_t number = std::exchange(held_, Scoreboard::kNone);
  if (now < bottleneck_.drop_time() && Bottleneck::is_queue(behind)) {
    ++counts_.dropped;
    return;
  }
  bottleneck_.spare();
  travel(number, held_bytes_ + path_->header, held_sent_);
}

void TcpStream::note_arrival(double time) {
  for (; received_segments_ < receiver_.next(); ++received_segments_)
    received_ += joined_ ? joined_->original(board_, received_segments_)
                         : board_.at(received_segments_).bytes;
  arrived_ = std::max(arrived_, messages_.begin());
  while (arrived_ != messages_.end() && messages_[arrived_].end <= received_)
    messages_[arrived_++].arrival = time;
}

}  // namespace gradwire::sim
