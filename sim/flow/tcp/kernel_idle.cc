// What a sender that follows Linux makes of silence: the window of before says little of the path
// now (RFC 2861).
#include <algorithm>

#include "sim/flow/tcp/stream.h"

namespace gradwire::sim {

void TcpStream::resume_after(double last_sent) {
  kernel_->last_sent = last_sent;
}

/// A message comes after silence: the window of then says little of the path now (RFC 2861).
void TcpStream::restart_after_idle(double now) {
  const double idle = now - kernel_->last_sent;
  if (!board_.empty() || !(idle < kNever)) return;
  congestion_.skip(idle);
  if (!constants().idle_restart || idle <= rto_) return;
  congestion_.restart(window_after_idle(now));
  kernel_->used = 0;
  kernel_->used_since = now;
}

std::int64_t TcpStream::window_after_idle(double now) const {
  std::int64_t window = congestion_.size();
  if (!constants().idle_restart || !board_.empty()) return window;
  const std::int64_t least = std::min(path_->initial_window, window);
  for (double left = now - kernel_->last_sent - rto_; left > 0 && window > least; left -= rto_)
    window /= 2;
  return std::max(window, least);
}

}  // namespace gradwire::sim
