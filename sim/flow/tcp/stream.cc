#include "sim/flow/tcp/stream.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gradwire::sim {
namespace {

constexpr double kLeastSample = 1e-6;  // s: what a round trip of no whole tick counts as
constexpr double kLeastDeviations = 0.001;
constexpr double kDeviations = 4;
constexpr double kSmoothing = 0.125;
constexpr double kDeviationSmoothing = 0.25;
/// ns-3 3.44 multiplies bytes by bytes in 32 bits here (tcp-prr-recovery.cc): from some 80 segments
/// on, recovery sends nothing until the product has wrapped around.
constexpr std::int64_t kProductMask = 0xFFFFFFFF;

Bottleneck::Discipline discipline_of(const TcpPath& path, const TcpConstants& constants) {
  return {codel_target(path, constants), codel_interval(path, constants), path.queue};
}

TcpReceiver::Quickness quickness_of(const TcpPath& path, const TransportSettings& transport) {
  const TcpConstants& constants = transport.constants;
  const double silence = constants.kernel_recovery
                             ? 2 * path.propagation + transport.min_rto.value()
                             : TcpStream::kNever;
  return {transport.delayed_ack.value(), static_cast<int>(constants.quick_acks), silence};
}

}  // namespace

double codel_target(const TcpPath& path, const TcpConstants& constants) {
  return std::max(constants.codel_target, constants.codel_segments * path.segment_time);
}

double codel_interval(const TcpPath& path, const TcpConstants& constants) {
  return std::max(constants.codel_interval, 2 * codel_target(path, constants));
}

TcpStream::TcpStream(const TcpPath& path, const TransportSettings& transport, LossSequence data,
                     LossSequence acks)
    : path_(path),
      constants_(&shared_constants(transport.constants)),
      header_(static_cast<double>((transport.wire_segment - transport.segment).count())),
      segment_(transport.segment.count()),
      initial_(transport.initial_window * segment_),
      ticks_per_second_(std::round(1 / constants_->tick)),
      buffer_(transport.buffer.count()),
      min_rto_(transport.min_rto.value()),
      data_loss_(std::move(data)),
      ack_loss_(std::move(acks)),
      bottleneck_(discipline_of(path, *constants_)),
      congestion_(transport),
      receiver_(quickness_of(path, transport)),
      smoothed_(sample_of(0, tick_of(2 * path.propagation))),
      deviation_(smoothed_ / 2),
      rto_(std::max(min_rto_, smoothed_ + kDeviations * deviation_)) {
  if (!constants_->kernel_recovery) return;
  kernel_ = std::make_unique<KernelSender>();
  smoothed_ = 2 * path.propagation;
  deviation_ = smoothed_ / 2;
  rto_ = kernel_rto();
}

std::int32_t TcpStream::tick_of(double time) const {
  // The kernel's rules measure without time stamps.
  return constants_->kernel_recovery
             ? 0
             : static_cast<std::int32_t>(std::floor(time * ticks_per_second_));
}

double TcpStream::sample_of(std::int32_t sent, std::int32_t now) const {
  return now > sent ? (now - sent) / ticks_per_second_ : kLeastSample;
}

void TcpStream::write(double now, std::uint64_t id, std::int64_t bytes) {
  written_ += bytes;
  messages_.push({id, written_, kNever, 0, 0});
  if (kernel_) {
    restart_after_idle(now);
    send_kernel(now);
  } else {
    send_pending(now);
  }
}

void TcpStream::cancel(double now, std::uint64_t id) {
  std::int64_t removed = 0;
  std::int64_t begin = std::min(sent_, messages_.empty() ? 0 : messages_.front().end);
  for (std::uint64_t m = messages_.begin(); m != messages_.end(); ++m) {
    Message& message = messages_[m];
    const std::int64_t end = message.end;
    if (message.id == id && removed == 0)
      removed = std::max<std::int64_t>(0, end - std::max(begin, sent_));
    message.end -= removed;
    begin = end;
  }
  written_ -= removed;
  note_arrival(now);
}

/// What has not left the bottleneck at `now` leaves it, and arrives, as much later as the new rate
/// makes it.
void TcpStream::serve(double now, double rate) {
  if (rate == bottleneck_.rate()) return;
  bottleneck_.set_rate(now, rate);
  const double way =
      path_.propagation + path_.forwarding * (static_cast<double>(segment_) + header_);
  const auto move = [&](double& arrival) {
    if (arrival < kNever) arrival = bottleneck_.moved(now, arrival - way) + way;
  };
  Ring<Acknowledgement>& acks = receiver_.acknowledgements();
  for (std::uint64_t i = acks.begin(); i != acks.end(); ++i) {
    move(acks[i].time);
  }
  for (std::uint64_t i = messages_.begin(); i < arrived_; ++i) move(messages_[i].arrival);
  receiver_.move(move);
  last_arrival_ = bottleneck_.free_at();
}

bool TcpStream::is_settled() const {
  return state_ == State::kOpen && duplicates_ == 0 && !messages_.empty() &&
         messages_.front().end > sent_;
}

bool TcpStream::is_quiet() const {
  return state_ == State::kOpen && duplicates_ == 0 && messages_.empty() && unsent() == 0;
}

double TcpStream::unsent_segments() const {
  const std::int64_t bytes = messages_.front().end - sent_;
  return static_cast<double>((bytes + segment_ - 1) / segment_);
}

double TcpStream::unsent_wire() const {
  return static_cast<double>(messages_.front().end - sent_) + unsent_segments() * header_;
}

double TcpStream::queued(double now) const {
  return std::max(0.0, bottleneck_.free_at() - now) * bottleneck_.rate();
}

double TcpStream::acks_sent() const {
  return static_cast<double>(receiver_.acknowledgements().end());
}

double TcpStream::demand() const {
  return demand_of(congestion_.size());
}

double TcpStream::demand_at(double now) const {
  return kernel_ ? demand_of(window_after_idle(now)) : demand();
}

double TcpStream::demand_of(std::int64_t size) const {
  const double window = static_cast<double>(std::min(size, buffer_));
  return window * (1 + header_ / static_cast<double>(segment_)) / path_.round_trip;
}

double TcpStream::next_event() const {
  const auto& acks = receiver_.acknowledgements();
  const double ack = acks.empty() ? receiver_.deadline() : acks.front().time;
  const double arrival = messages_.empty() ? kNever : messages_.front().arrival;
  return std::min({ack + path_.ack_latency, timer_, arrival});
}

void TcpStream::run(double now) {
  auto& acks = receiver_.acknowledgements();
  for (;;) {
    if (acks.empty() && receiver_.deadline() + path_.ack_latency <= std::min(now, timer_))
      receiver_.time_out();
    const double ack = acks.empty() ? kNever : acks.front().time + path_.ack_latency;
    if (std::min(ack, timer_) > now) return;
    if (ack <= timer_) {
      const Acknowledgement next = acks.front();
      const std::uint64_t number = acks.begin();
      acks.pop();
      if (!ack_loss_.next()) on_ack(ack, next, number);
    } else if (kernel_) {
      on_kernel_timer(timer_);
    } else {
      time_out(timer_);
    }
  }
}

std::int64_t TcpStream::space() const {
  return std::max<std::int64_t>(0, std::min(congestion_.size(), buffer_) - board_.in_flight());
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
    if (space < board_.at(lost).bytes) return false;
    send_again(now, lost);
    return true;
  }
  if (unsent() > 0) {
    if (space < std::min(segment_, unsent()) || board_.outstanding() >= buffer_) return false;
    send_new(now, std::min(segment_, unsent()));
    return true;
  }
  if (state_ != State::kRecovery || kernel_) return false;
  const std::int64_t doubtful = board_.next_doubtful();
  if (doubtful == Scoreboard::kNone || space < board_.at(doubtful).bytes) return false;
  send_again(now, doubtful);
  return true;
}

void TcpStream::send_new(double now, std::int64_t bytes) {
  board_.push(bytes);
  sent_ += bytes;
  ++counts_.first;
  charge(static_cast<double>(bytes) + header_, false);
  emit(now, board_.end() - 1);
}

void TcpStream::send_again(double now, std::int64_t number) {
  board_.send_again(number);
  ++counts_.again;
  charge(board_.at(number).bytes + header_, true);
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

double TcpStream::jitter() {
  double delay = 0;
  for (const double most : jitters_)
    delay += most * static_cast<double>(uniform(jitter_draws_, jitters_drawn_++));
  return delay;
}

void TcpStream::emit(double now, std::int64_t number) {
  const Scoreboard::Segment& segment = board_.at(number);
  if (timer_ == kNever) timer_ = now + rto_;
  if (!kernel_) congestion_.set_limited(congestion_.size() < board_.in_flight() + segment_);
  if (state_ == State::kRecovery) reduced_out_ += segment.bytes;
  if (kernel_) note_sent(now, number);
  const double wire = segment.bytes + header_;
  if (!bottleneck_.pass(now, wire)) {
    ++counts_.dropped;
    return;
  }
  wire_sent_ += wire;
  if (data_loss_.next()) {
    ++counts_.lost;
    return;
  }
  const double departure = bottleneck_.departure();
  const double direct = departure + path_.propagation + path_.forwarding * wire + jitter();
  last_arrival_ = std::max(direct, last_arrival_ + path_.second_hop * wire);
  ++(receiver_.has(number) ? counts_.duplicate : counts_.arrived);
  const bool is_last = unsent() == 0 && number + 1 == board_.end();
  receiver_.arrive(number, last_arrival_, tick_of(now),
                   constants_->acknowledge_messages && is_last);
  note_arrival(last_arrival_);
}

void TcpStream::note_arrival(double time) {
  for (; received_segments_ < receiver_.next(); ++received_segments_)
    received_ += board_.at(received_segments_).bytes;
  arrived_ = std::max(arrived_, messages_.begin());
  while (arrived_ != messages_.end() && messages_[arrived_].end <= received_)
    messages_[arrived_++].arrival = time;
}

void TcpStream::measure(double now, const Acknowledgement& ack) {
  const std::int64_t upto = whole(ack.upto);
  if (measured_from_ >= board_.end() || upto <= measured_from_) return;
  measured_from_ = upto;
  const double sample = sample_of(ack.echo, tick_of(now));
  const double error = sample - smoothed_;
  smoothed_ += kSmoothing * error;
  deviation_ += kDeviationSmoothing * (std::abs(error) - deviation_);
  rto_ = measured_rto();
}

std::int64_t TcpStream::learn_sacks(std::uint64_t ack_number, std::int64_t upto) {
  std::int64_t bytes = 0;
  auto& arrived = receiver_.out_of_order();
  while (!arrived.empty() && arrived.front().told_by <= ack_number) {
    if (arrived.front().segment >= upto) bytes += board_.sack(arrived.front().segment);
    arrived.pop();
  }
  if (bytes > 0) board_.find_lost();
  return bytes;
}

/// The segment that `low` are the lowest bits of: none older than the board's first is told.
std::int64_t TcpStream::whole(std::uint32_t low) const {
  const std::int64_t first = board_.first();
  return first + static_cast<std::int32_t>(low - static_cast<std::uint32_t>(first));
}

void TcpStream::on_ack(double now, const Acknowledgement& ack, std::uint64_t number) {
  if (kernel_) {
    on_kernel_ack(now, ack, number);
    return;
  }
  measure(now, ack);
  const std::int64_t old = board_.first();
  const std::int64_t upto = whole(ack.upto);
  if (upto < old) return;
  const std::int64_t sacked = learn_sacks(number, upto);
  bool resent_arrived = false;
  if (state_ == State::kRecovery && upto < recover_) {
    for (std::int64_t i = old; i < upto; ++i)
      resent_arrived = resent_arrived || (board_.at(i).again && !board_.at(i).sacked);
  }
  const std::int64_t delivered = sacked + board_.acknowledge(upto);
  process(now, upto, old, sacked > 0, delivered, resent_arrived);
  send_pending(now);
}

/// Whole segments among acknowledged bytes; the rest counts towards the next call's.
std::int64_t TcpStream::whole_segments(std::int64_t bytes) {
  std::int64_t segments = bytes / segment_;
  remainder_ += bytes % segment_;
  if (remainder_ >= segment_) {
    ++segments;
    remainder_ -= segment_;
  }
  return segments;
}

void TcpStream::process(double now, std::int64_t upto, std::int64_t old, bool duplicate,
                        std::int64_t delivered, bool resent_arrived) {
  const int duplicates = duplicates_;
  if (duplicate) on_duplicate(now, delivered);
  if (upto == old) {
    if (!board_.empty()) congestion_.acknowledged(now, smoothed_);
    return;
  }
  const std::int64_t segments = whole_segments(delivered);
  if (!duplicate) duplicates_ = 0;
  if (upto < recover_ && state_ == State::kRecovery) {
    on_partial(now, segments, delivered, resent_arrived);
  } else if (upto < recover_ && state_ == State::kLoss) {
    congestion_.acknowledged(now, smoothed_);
    congestion_.grow(now, segments, upto, board_.end());
    restart_timer(now);
  } else {
    on_whole(now, upto, old, segments, duplicates, duplicate);
  }
}

void TcpStream::on_partial(double now, std::int64_t segments, std::int64_t delivered,
                           bool resent_arrived) {
  if (segments >= 1) reduce_rate(delivered, false, resent_arrived);
  if (!board_.at(board_.first()).again) {
    // The next one is taken for lost: sent at once, whatever the window.
    const std::int64_t lost = board_.next_lost();
    if (lost != Scoreboard::kNone) {
      send_again(now, lost);
    } else if (unsent() > 0) {
      send_new(now, std::min(segment_, unsent()));
    } else {
      send_again(now, board_.first());
    }
  }
  congestion_.acknowledged(now, smoothed_);
  if (first_partial_) restart_timer(now);
  first_partial_ = false;
}

void TcpStream::on_whole(double now, std::int64_t upto, std::int64_t old, std::int64_t segments,
                         std::int64_t duplicates, bool duplicate) {
  bool recovered = false;
  switch (state_) {
    case State::kOpen:
      congestion_.acknowledged(now, smoothed_);
      break;
    case State::kDisorder:
      if (segments >= duplicates) congestion_.acknowledged(now, smoothed_);
      if (!duplicate) state_ = State::kOpen;
      break;
    case State::kRecovery:
      segments = upto - old;
      congestion_.acknowledged(now, smoothed_);
      state_ = State::kOpen;
      first_partial_ = recovered = true;
      duplicates_ = 0;
      break;
    case State::kLoss:
      segments = upto - recover_;
      congestion_.acknowledged(now, smoothed_);
      state_ = State::kOpen;
      first_partial_ = true;
      break;
  }
  if (upto >= recover_) recovering_ = false;
  if (recovered) congestion_.set_size(congestion_.threshold());
  if (state_ != State::kOpen) return;
  congestion_.grow(now, segments, upto, board_.end());
  restart_timer(now);
}

void TcpStream::on_duplicate(double now, std::int64_t delivered) {
  if (state_ == State::kLoss) return;
  if (state_ == State::kRecovery) {
    reduce_rate(delivered, true, false);
    return;
  }
  ++duplicates_;
  state_ = State::kDisorder;
  const std::int64_t first = board_.first();
  const bool third = duplicates_ == Scoreboard::kDuplicates;
  if ((third && (first >= recover_ || !recovering_)) || board_.at(first).lost)
    enter_recovery(now, delivered);
}

void TcpStream::enter_recovery(double now, std::int64_t delivered) {
  board_.mark_first_lost();
  recover_ = board_.end();
  recovering_ = true;
  state_ = State::kRecovery;
  congestion_.cut();
  reduced_out_ = reduced_delivered_ = 0;
  reduced_flight_ = board_.in_flight();
  reduce_rate(delivered, true, false);
  send_again(now, board_.first());
}

/// Proportional rate reduction (RFC 6937), its slow-start bound where recovery makes progress.
void TcpStream::reduce_rate(std::int64_t delivered, bool duplicate, bool resent_arrived) {
  if (duplicate && reduced_delivered_ < reduced_flight_) delivered += segment_;
  if (delivered == 0) return;
  reduced_delivered_ += delivered;
  const std::int64_t in_flight = board_.in_flight();
  const std::int64_t threshold = congestion_.threshold();
  std::int64_t send = 0;
  if (in_flight > threshold) {
    const std::int64_t product = (reduced_delivered_ * threshold) & kProductMask;
    send = (product + reduced_flight_ - 1) / reduced_flight_ - reduced_out_;
  } else {
    std::int64_t limit = std::max(reduced_delivered_ - reduced_out_, delivered);
    if (resent_arrived) limit += segment_;
    send = std::min(limit, threshold - in_flight);
  }
  send = std::max<std::int64_t>(send, reduced_out_ > 0 ? 0 : segment_);
  congestion_.set_size(in_flight + send);
}

double TcpStream::measured_rto() const {
  return std::max(smoothed_ + std::max(kLeastDeviations, kDeviations * deviation_), min_rto_);
}

void TcpStream::restart_timer(double now) {
  rto_ = measured_rto();
  timer_ = board_.empty() ? kNever : now + rto_;
}

void TcpStream::time_out(double now) {
  ++timeouts_;
  duplicates_ = 0;
  board_.mark_all_lost();
  recover_ = board_.end();
  recovering_ = true;
  rto_ = std::min(2 * rto_, constants_->largest_rto);
  measured_from_ = board_.end();
  congestion_.cut();
  congestion_.collapse(now, board_.end());
  state_ = State::kLoss;
  timer_ = kNever;
  send_pending(now);
}

}  // namespace gradwire::sim
