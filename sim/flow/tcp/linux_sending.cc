// What goes out by Linux's rules, and what use it makes of the window (linux_sender.h).
#include <algorithm>
#include <cmath>

#include "sim/flow/tcp/linux_sender.h"

namespace gradwire::sim {
namespace {

constexpr double kPatience = 1e-3;        // s
constexpr double kPaceTime = 1 / 1024.0;  // s of the pace that a bundle holds
constexpr double kNear = 512e-6;          // s: bundles are larger on paths as short as that
constexpr std::int64_t kLargest = 65536;  // bytes
constexpr std::int64_t kLeast = 2;        // segments
constexpr std::int64_t kWindowShare = 3;
constexpr double kStartPace = 2;
constexpr double kPace = 1.2;

}  // namespace

void LinuxSender::on_write(TcpOutput& out, double now) {
  const double idle = now - last_sent_;
  if (out.board().empty() && idle < kNever) {
    out.congestion().skip(idle);
    // After silence the window of then says little of the path now (RFC 2861).
    if (out.constants().idle_restart && idle > out.round_trip().timeout()) {
      out.congestion().restart(window_after_idle(out, now));
      used_ = 0;
      used_since_ = now;
    }
  }
  send(out, now);
}

void LinuxSender::note_sent(TcpOutput& out, double now, std::int64_t number) {
  if (static_cast<std::uint64_t>(number) == sent_at_.end())
    sent_at_.push(now);
  else
    sent_at(number) = now;
  transmissions_.push({now, number});
  last_sent_ = now;
  ++out_;
  // The timeout counts from the oldest segment's last copy.
  const Scoreboard& board = out.board();
  if (board.at(number).again && number == board.first() && timer_ == Timer::kTimeout)
    out.set_timer(now + out.round_trip().timeout());
}

/// Sends a segment if there is one and the window lets it: a lost one first.
bool LinuxSender::send_next(TcpOutput& out, double now) {
  const std::int64_t space = out.space();
  if (space <= 0) return false;
  const std::int64_t lost = out.board().next_lost_anywhere();
  if (lost == Scoreboard::kNone) {
    if (out.unsent() <= 0 || !out.may_send_new(space)) return false;
    note_sent(out, now, out.send_new(now));
  } else {
    if (space < out.board().at(lost).bytes) return false;
    note_sent(out, now, out.send_again(now, lost));
  }
  return true;
}

/// Sends what the window allows, in bundles. Whether more could go that waits for the window.
bool LinuxSender::send_bundles(TcpOutput& out, double now) {
  const std::int64_t segment = out.path().segment;
  for (;;) {
    while (out.board().next_lost_anywhere() != Scoreboard::kNone)
      if (!send_next(out, now)) return false;
    const std::int64_t free = std::min(out.space(), out.path().buffer - out.board().outstanding());
    if (out.unsent() <= 0 || free < std::min(segment, out.unsent())) return false;
    const std::int64_t room = std::max<std::int64_t>(1, free / segment);
    if (defers(out, now, room)) return free <= out.unsent();
    const std::int64_t half = std::max<std::int64_t>(1, out.congestion().segments() / 2);
    const std::int64_t bundle =
        std::min({room, half, largest_bundle(out), out.segments_in(out.unsent())});
    for (std::int64_t i = 1; i <= bundle; ++i) {
      if (bundle > 1 && i == bundle) pushed_.push(out.board().end());
      note_sent(out, now, out.send_new(now));
    }
  }
}

/// Sends what the window allows; a window that is not used shrinks.
void LinuxSender::send(TcpOutput& out, double now) {
  const std::uint64_t before = transmissions_.end();
  const bool waits = out.constants().bundles && send_bundles(out, now);
  while (!out.constants().bundles && send_next(out, now)) {
  }
  const bool sent = transmissions_.end() != before;
  const bool limited =
      waits || out.board().in_flight() + out.path().segment > out.congestion().size();
  if (sent || (limited && out.unsent() > 0)) note_use(out, limited);
  if (!sent || state_ != State::kOpen) return;
  arm(out, now);
  if (out.constants().idle_restart) shrink_unused(out, now);
}

/// Segments.
std::int64_t LinuxSender::largest_bundle(const TcpOutput& out) const {
  const std::int64_t window = out.congestion().size();
  const bool starts = window < out.congestion().threshold() / 2;
  const double most = static_cast<double>(std::max(window, out.board().outstanding()));
  double bytes = (starts ? kStartPace : kPace) * most / out.round_trip().smoothed() * kPaceTime;
  const double near = std::floor(std::min(least_round_trip_, 1.0) / kNear);
  if (near < 32) bytes += static_cast<double>(kLargest >> static_cast<int>(near));
  return std::max(kLeast,
                  std::min(static_cast<std::int64_t>(bytes), kLargest) / out.path().segment);
}

/// Whether it waits for a larger bundle than the `room` segments that the window leaves.
bool LinuxSender::defers(const TcpOutput& out, double now, std::int64_t room) const {
  const StreamPath& path = out.path();
  if (is_repairing() || out.unsent() <= path.segment || out.board().empty()) return false;
  if (now - last_sent_ > kPatience || room >= largest_bundle(out)) return false;
  if (kWindowShare * room >= std::min(out.congestion().size(), path.buffer) / path.segment)
    return false;
  const double smoothed = out.round_trip().smoothed();
  return sent_at(out.board().first()) + smoothed - now <= std::min(kPatience, smoothed / 2);
}

bool LinuxSender::ends_bundle(std::int64_t number) {
  while (!pushed_.empty() && pushed_.front() < number) pushed_.pop();
  if (pushed_.empty() || pushed_.front() != number) return false;
  pushed_.pop();
  return true;
}

std::int64_t LinuxSender::window_after_idle(const TcpOutput& out, double now) const {
  std::int64_t window = out.congestion().size();
  if (!out.constants().idle_restart || !out.board().empty()) return window;
  const double timeout = out.round_trip().timeout();
  const std::int64_t least = std::min(out.path().initial_window, window);
  for (double left = now - last_sent_ - timeout; left > 0 && window > least; left -= timeout)
    window /= 2;
  return std::max(window, least);
}

/// Whether the window was filled counts for a whole one.
void LinuxSender::note_use(const TcpOutput& out, bool limited) {
  const std::int64_t now_out = out.segments_in(out.board().outstanding());
  if (out.board().first() < use_end_ && !limited && (limited_ || now_out <= most_out_)) return;
  limited_ = limited;
  most_out_ = now_out;
  use_end_ = out.board().end();
}

bool LinuxSender::is_filled(const TcpOutput& out) const {
  const CongestionWindow& window = out.congestion();
  if (limited_) return true;
  return window.is_starting() && window.size() < 2 * most_out_ * out.path().segment;
}

/// After a timeout's time in which the window was never filled, it shrinks to what was used.
void LinuxSender::shrink_unused(TcpOutput& out, double now) {
  const bool filled = is_filled(out);
  if (!filled) {
    used_ = std::max(used_, out.segments_in(out.board().outstanding()));
    if (now - used_since_ < out.round_trip().timeout()) return;
    out.congestion().waste(std::max(used_ * out.path().segment, out.path().initial_window));
  }
  used_ = 0;
  used_since_ = now;
}

}  // namespace gradwire::sim
