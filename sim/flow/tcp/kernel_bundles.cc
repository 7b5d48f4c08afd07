// How Linux gathers segments: bundles for segmentation offload, and the wait for larger ones.
//
//     largest   max(2, (pace / 1024 + 64 KiB >> (least round trip / 512 us)) / segment), 64 KiB at
//               most; pace = r W / smoothed round trip, r = 2 far below the threshold, else 1.2
//     a bundle  min(largest, W / 2, what the window leaves)
//     waits     unless it is the largest, or a third of the window, or nothing was sent for 1 ms,
//               or the next acknowledgement is further away than min(1 ms, half a round trip), or
//               one segment is left, or in recovery
//
// Source: Linux 6.x, net/ipv4/tcp_output.c (tcp_tso_autosize, tcp_tso_should_defer,
// tcp_write_xmit; read, not copied). Bounds between what was written at once are left out.
#include <algorithm>
#include <cmath>

#include "sim/flow/tcp/stream.h"

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

/// Segments.
std::int64_t TcpStream::largest_bundle() const {
  const std::int64_t window = congestion_.size();
  const bool starts = window < congestion_.threshold() / 2;
  const double out = static_cast<double>(std::max(window, board_.outstanding()));
  double bytes = (starts ? kStartPace : kPace) * out / smoothed_ * kPaceTime;
  const double near = std::floor(std::min(kernel_->least_round_trip, 1.0) / kNear);
  if (near < 32) bytes += static_cast<double>(kLargest >> static_cast<int>(near));
  return std::max(kLeast, std::min(static_cast<std::int64_t>(bytes), kLargest) / path_->segment);
}

/// Whether it waits for a larger bundle than the `room` segments that the window leaves.
bool TcpStream::defers(double now, std::int64_t room) const {
  if (state_ == State::kRecovery || state_ == State::kLoss) return false;
  if (unsent() <= path_->segment || board_.empty()) return false;
  if (now - kernel_->last_sent > kPatience || room >= largest_bundle()) return false;
  if (kWindowShare * room >= std::min(congestion_.size(), path_->buffer) / path_->segment)
    return false;
  const double oldest = kernel_->sent_at[static_cast<std::uint64_t>(board_.first())];
  return oldest + smoothed_ - now <= std::min(kPatience, smoothed_ / 2);
}

/// Sends what the window allows, in bundles. Whether more could go that waits for the window.
bool TcpStream::send_bundles(double now) {
  if (!constants().bundles) {
    send_pending(now);
    return false;
  }
  for (;;) {
    while (board_.next_lost_anywhere() != Scoreboard::kNone)
      if (!send_next(now, space())) return false;
    const std::int64_t free = std::min(space(), path_->buffer - board_.outstanding());
    if (unsent() <= 0 || free < std::min(path_->segment, unsent())) return false;
    const std::int64_t room = std::max<std::int64_t>(1, free / path_->segment);
    if (defers(now, room)) return free <= unsent();
    const std::int64_t half = std::max<std::int64_t>(1, congestion_.segments() / 2);
    const std::int64_t bundle = std::min({room, half, largest_bundle(), segments_in(unsent())});
    for (std::int64_t i = 1; i <= bundle; ++i) {
      if (bundle > 1 && i == bundle) kernel_->pushed.push(board_.end());
      send_new(now, std::min(path_->segment, unsent()));
    }
  }
}

}  // namespace gradwire::sim
