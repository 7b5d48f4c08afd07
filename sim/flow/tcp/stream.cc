#include "sim/flow/tcp/stream.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/cluster/handshake.h"
#include "sim/cluster/link_kind.h"

namespace gradwire::sim {
namespace {

constexpr double kLeastSample = 1e-6;  // s: what a round trip of no whole tick counts as
/// What follows a packet counts where it is a larger share of a message's time.
constexpr double kFelt = 0.01;
/// Segments that `packet` keeps in a socket before they are sent: no message can take them back.
constexpr std::int64_t kInSocket = 256;

/// Bytes of an acknowledgement for a block that it names selectively.
constexpr double kBlock = 8;

Bottleneck::Discipline discipline_of(const TcpPath& path, const TransportSettings& transport) {
  const TcpConstants& constants = transport.constants;
  Bottleneck::Discipline discipline{codel_times(path, constants)};
  discipline.line_rate = path.line_rate;
  discipline.spreads = transport.congestion_control == TransportSettings::CongestionControl::kBbr;
  // The links on which kernels are measured queue by themselves.
  discipline.at_device = !constants.kernel_recovery;
  discipline.at_wire = path.changes && path.line_changes;
  if (discipline.at_device)
    discipline.quantum = static_cast<double>(transport.wire_segment.count());
  return discipline;
}

TcpReceiver::Quickness quickness_of(const TcpPath& path, const TransportSettings& transport) {
  const TcpConstants& constants = transport.constants;
  const double silence = constants.kernel_recovery
                             ? 2 * path.propagation + transport.min_rto.value()
                             : TcpStream::kNever;
  const double growth = constants.quick_share * static_cast<double>(transport.buffer.count()) /
                        static_cast<double>(transport.segment.count());
  const auto quick = static_cast<int>(constants.quick_acks);
  const auto block = static_cast<float>(constants.kernel_recovery ? 0 : kBlock * path.ack_a_byte);
  return {transport.delayed_ack.value(), quick + static_cast<int>(growth), silence, quick, block};
}

}  // namespace

StreamPath::StreamPath(const TcpPath& path, const TransportSettings& transport, double clock)
    : TcpPath(path),
      discipline(discipline_of(path, transport)),
      header(static_cast<double>((transport.wire_segment - transport.segment).count())),
      segment(transport.segment.count()),
      arrival(path.propagation),
      ack_arrival(path.ack_latency) {
  using CongestionControl = TransportSettings::CongestionControl;
  if (!transport.constants.kernel_recovery)
    shake_hands(transport.congestion_control == CongestionControl::kBbr);
  if (clock >= 0) clock_ahead = clock;
}

/// The handshake has taken three ways of a packet without payload when the first byte may be sent:
/// by so much the clock of time stamps is ahead. (On round trips of less than a tick, which counts
/// as 1 us, that decides which of them count as a tick, and so when HyStart ends slow start.)
void StreamPath::shake_hands(bool paced) {
  const Handshake opening = handshake_of(*this, gap_a_byte, header);
  handshake = opening.round_trip;
  clock_ahead = opening.whole;
  following = std::min(kFollowingBytes, header) * gap_a_byte;
  felt_below = (following / kFelt - propagation) * line_rate;
  // A fluid's deliveries wait for what follows, where that is next to nothing: so do a stream's,
  // unless their pace hangs on them.
  ack_arrival -= following;
  (paced ? arrival : ack_arrival) -= following;
}

TcpStream::TcpStream(std::shared_ptr<const StreamPath> path, const TransportSettings& transport,
                     LossSequence data, LossSequence acks)
    : path_(std::move(path)),
      offered_(static_cast<std::int64_t>(transport.constants.first_offer)),
      bottleneck_(std::shared_ptr<const Bottleneck::Discipline>(path_, &path_->discipline)),
      congestion_(transport),
      receiver_(quickness_of(*path_, transport)),
      smoothed_(2 * path_->propagation),
      deviation_(smoothed_ / 2),
      rto_(measured_rto()) {
  if (data.loses()) ways().data_loss = std::make_unique<LossSequence>(std::move(data));
  if (acks.loses()) ways().ack_loss = std::make_unique<LossSequence>(std::move(acks));
  // Where acknowledgements may come faster than they pass.
  if (path_->ack_spacing > path_->segment_time)
    ways().back = std::make_unique<WayBack>(path_->ack_spacing);
  if (path_->changes) turns_ = std::make_unique<Turns>();
  if (!constants().kernel_recovery) {
    smoothed_ = sample_of(0, static_cast<std::int32_t>(path_->handshake * path_->ticks_per_second));
    deviation_ = smoothed_ / 2;
    rto_ = measured_rto();
  }
  if (congestion_.is_paced()) start_pacing();
  if (!constants().kernel_recovery) return;
  kernel_ = std::make_unique<KernelSender>();
  rto_ = kernel_rto();
}

void TcpStream::note_handshake(double sent, double answered) {
  if (kernel_) return;
  smoothed_ = sample_of(tick_of(sent), tick_of(answered));
  deviation_ = smoothed_ / 2;
  rto_ = measured_rto();
  if (congestion_.is_paced()) start_pacing();
}

/// Modulo 2^32, as time stamps are: 50 days.
std::int32_t TcpStream::tick_of(double time) const {
  // The kernel's rules measure without time stamps.
  if (constants().kernel_recovery) return 0;
  const auto ticks =
      static_cast<std::int64_t>(std::floor((time + path_->clock_ahead) * path_->ticks_per_second));
  return static_cast<std::int32_t>(ticks);
}

double TcpStream::sample_of(std::int32_t sent, std::int32_t now) const {
  const auto ticks =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(now) - static_cast<std::uint32_t>(sent));
  return ticks > 0 ? ticks / path_->ticks_per_second : kLeastSample;
}

void TcpStream::write(double now, std::uint64_t id, std::int64_t bytes, bool more) {
  written_ += bytes;
  messages_.push({id, written_, kNever, 0, 0});
  if (paced_) note_written();
  if (more && !kernel_) return;
  if (kernel_) {
    restart_after_idle(now);
    send_kernel(now);
    return;
  }
  send_written(now);
}

void TcpStream::send_written(double now) {
  paced_ ? send_paced(now) : send_pending(now);
}

void TcpStream::cancel(double now, std::uint64_t id) {
  std::int64_t removed = 0;
  const std::int64_t kept = sent_ + (kernel_ ? 0 : kInSocket * path_->segment);
  std::int64_t begin = std::min(sent_, messages_.empty() ? 0 : messages_.front().end);
  for (std::uint64_t m = messages_.begin(); m != messages_.end(); ++m) {
    Message& message = messages_[m];
    const std::int64_t end = message.end;
    if (message.id == id && removed == 0)
      removed = std::max<std::int64_t>(0, end - std::max(begin, kept));
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
      path_->arrival + path_->forwarding * (static_cast<double>(path_->segment) + path_->header);
  const auto move = [&](double& arrival) {
    if (arrival < kNever) arrival = bottleneck_.moved(now, arrival - way) + way;
  };
  NumberedQueue<Acknowledgement>& acks = receiver_.acknowledgements();
  for (std::uint64_t i = acks.begin(); i != acks.end(); ++i) {
    move(acks[i].time);
  }
  for (std::uint64_t i = messages_.begin(); i < arrived_; ++i) move(messages_[i].arrival);
  receiver_.move(move);
  last_arrival_ = bottleneck_.free_at();
}

void TcpStream::release() {
  board_.release();
  receiver_.release();
  messages_.release();
  if (turns_ && !queues()) turns_->segments.release();  // a copy of what has arrived may wait
}

bool TcpStream::is_settled() const {
  return state_ == State::kOpen && duplicates_ == 0 && held_ < 0 && !messages_.empty() &&
         messages_.front().end > sent_;
}

bool TcpStream::is_quiet() const {
  return state_ == State::kOpen && duplicates_ == 0 && messages_.empty() && unsent() == 0;
}

double TcpStream::unsent_segments() const {
  const std::int64_t bytes = messages_.front().end - sent_;
  const std::int64_t segments = (bytes + path_->segment - 1) / path_->segment;
  return static_cast<double>(segments);
}

double TcpStream::unsent_wire() const {
  return static_cast<double>(messages_.front().end - sent_) + unsent_segments() * path_->header;
}

double TcpStream::queued(double now) const {
  return std::max(0.0, free_at() - now) * bottleneck_.rate();
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
  const double window = static_cast<double>(std::min(size, path_->buffer));
  return window * (1 + path_->header / static_cast<double>(path_->segment)) / path_->round_trip;
}

std::int32_t TcpStream::ack_wire(std::uint64_t number) const {
  const double blocks = kernel_ ? 0 : kBlock * receiver_.acknowledgements()[number].blocks;
  return static_cast<std::int32_t>(path_->header + blocks);
}

void TcpStream::acknowledge(double now, std::uint64_t number) {
  auto& acks = receiver_.acknowledgements();
  while (!acks.empty() && acks.begin() < number) acks.pop();
  if (acks.begin() == number && !acks.empty()) take_ack(now);
}

double TcpStream::next_ack() const {
  if (carrier_) return kNever;
  const auto& acks = receiver_.acknowledgements();
  const double direct =
      (acks.empty() ? receiver_.deadline() : acks.front().time) + path_->ack_arrival;
  if (ways_ && ways_->back) return ways_->back->arrival(direct);
  return direct > met_ || direct <= met_since_ ? direct : met_;
}

void TcpStream::hold_acks(double now, double behind) {
  if (ways_ && ways_->back && ways_->back->is_closed()) {
    WayBack& back = *ways_->back;
    if (behind == back.behind()) return;
    const double latency = path_->ack_arrival;
    if (back.released(now, receiver_.deadline() + latency) > receiver_.deadline() + latency)
      receiver_.time_out();
    NumberedQueue<Acknowledgement>& acks = receiver_.acknowledgements();
    for (std::uint64_t i = acks.begin(); i != acks.end(); ++i)
      acks[i].time = back.released(now, acks[i].time + latency) - latency;
    back.open();
  }
  if (behind < 0) return;
  if (!ways().back) ways_->back = std::make_unique<WayBack>(path_->ack_spacing);
  ways_->back->close(now, behind);
}

double TcpStream::next_event() const {
  const double arrival = messages_.empty() ? kNever : messages_.front().arrival;
  const double next = std::min({next_ack(), timer_, arrival, decision(), next_turn()});
  return paced_ ? std::min(next, paced_->timer) : next;
}

void TcpStream::run(double now, double ahead) {
  if (paced_) {
    run_paced(unsent() > 0 ? std::max(now, ahead) : now);
    return;
  }
  for (;;) {
    const double until = unsent() > 0 ? std::max(now, ahead) : now;
    const double ack = next_ack(), turn = next_turn();
    if (std::min({ack, timer_, decision(), turn}) > until) return;
    if (decision() <= std::min({ack, timer_, turn})) {
      decide(decision(), 0);
    } else if (turn <= std::min(ack, timer_)) {
      take_turn();
    } else if (ack <= timer_) {
      if (receiver_.acknowledgements().empty()) receiver_.time_out();
      take_ack(ack);
    } else if (kernel_) {
      on_kernel_timer(timer_);
    } else {
      time_out(timer_);
    }
  }
}

}  // namespace gradwire::sim
