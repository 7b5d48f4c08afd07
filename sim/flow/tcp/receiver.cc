#include "sim/flow/tcp/receiver.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kUpto = (1u << 30) - 1;  // Acknowledgement::upto
constexpr std::int32_t kMostBlocks = 3;          // RFC 2018, beside time stamps
constexpr double kClockTicks = 2e-9;  // s: clocks of reference programs tick in nanoseconds

}  // namespace

void TcpReceiver::OutOfOrderQueue::push(const OutOfOrder& next) {
  if (!runs_.empty()) {
    Run& last = runs_.back();
    const OutOfOrder follows = last.at(last.count);
    if (next.segment == follows.segment && next.reported_by == follows.reported_by) {
      ++last.count;
      return;
    }
  }
  runs_.push({next});
}

void TcpReceiver::OutOfOrderQueue::pop() {
  Run& run = runs_.front();
  if (--run.count == 0) {
    runs_.pop();
  } else {
    run.first = run.at(1);
  }
}

void TcpReceiver::keep(std::int64_t number) {
  const auto n = static_cast<std::uint64_t>(number);
  const bool after = n > kept_.begin() && n - 1 < kept_.end() && kept_[n - 1];
  const bool before = n + 1 < kept_.end() && kept_[n + 1];
  while (kept_.end() <= n) kept_.push(0);
  kept_[n] = 1;
  blocks_ += 1 - after - before;
}

void TcpReceiver::advance() {
  if (!kept_.empty() && kept_.front()) --blocks_;
  while (!kept_.empty() && kept_.front()) {
    kept_.pop();
    ++next_;
  }
}

inline void TcpReceiver::acknowledge(double time) {
  waiting_ = false;
  reported_ = next_;
  const std::int32_t blocks = std::min(blocks_, kMostBlocks);
  if (blocks > 0) time += static_cast<double>(quickness_.block) * blocks;
  Acknowledgement ack{.time = time, .echo = echo_};
  ack.upto = static_cast<std::uint32_t>(next_) & kUpto;
  ack.blocks = static_cast<std::uint32_t>(blocks);
  acks_.push(ack);
}

void TcpReceiver::arrive(std::int64_t number, double time, std::int32_t sent, bool wanted,
                         int count) {
  // Where both fall on one instant, as they do round after round, the older event is first.
  if (deadline() <= time + kClockTicks) time_out();
  if (time - latest_ > quickness_.silence) quick_ = std::max(quick_, quickness_.again);
  latest_ = time;
  for (; count > 1 && has(number); --count) ++number;
  if (has(number)) {
    acknowledge(time);
    return;
  }
  const bool in_order = number == next_;
  if (in_order && number <= reported_) echo_ = sent;
  const std::int64_t before = next_;
  if (in_order && kept_.empty() && count == 1) {
    ++next_;
    kept_.skip();
  } else {
    for (std::int64_t each = number; each < number + count; ++each)
      if (!has(each)) keep(each);
    advance();
  }
  for (std::int64_t each = number; !in_order && each < number + count; ++each)
    out_of_order_.push({each, acks_.end()});
  const bool gap = !kept_.empty() || next_ > before + count || !in_order;
  if (gap || waiting_ || quick_ > 0 || wanted) {
    quick_ = std::max(0, quick_ - 1);
    acknowledge(time);
    return;
  }
  waiting_ = true;
  since_ = time;
}

void TcpReceiver::time_out() {
  acknowledge(since_ + quickness_.delayed_ack);
}

}  // namespace gradwire::sim
