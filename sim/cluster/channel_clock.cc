#include "sim/cluster/channel_clock.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gradwire::sim {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr std::int64_t kMillisecond = 1'000'000;  // ns
constexpr double kNeverNs = static_cast<double>(ChannelClock::kNever);

double nanoseconds(Seconds time) {
  return time.value() / kNanosecond;
}

}  // namespace

ChannelClock::ChannelClock(const LinkSpec& spec, const RateSchedulePtr& schedule)
    : rate_(spec.rate),
      schedule_(schedule),
      offset_(std::llround(nanoseconds(spec.schedule_offset))) {
  const auto own = [this](Seconds time) {
    return std::round(nanoseconds(time)) + static_cast<double>(offset_);
  };
  for (const Outage& outage : spec.outages)
    outages_.push_back({own(outage.begin), own(outage.end)});
}

std::int64_t ChannelClock::end_of(std::int64_t start, Bytes frame, Bytes packet) {
  const bool trace = schedule_ && !schedule_->opportunities().empty();
  const std::int64_t end =
      trace ? end_by_trace(start + offset_, packet) : end_by_rate(start + offset_, frame);
  return end >= kNever ? kNever : end - offset_;
}

const ChannelClock::Interval* ChannelClock::outage_at(double time) const {
  const auto after =
      std::upper_bound(outages_.begin(), outages_.end(), time,
                       [](double t, const Interval& outage) { return t < outage.end; });
  return after != outages_.end() && after->begin <= time ? &*after : nullptr;
}

/// bits per second at `time` (ns); it holds until `next_change`.
double ChannelClock::rate_at(double time, double& next_change) const {
  next_change = kNeverNs;
  if (const Interval* outage = outage_at(time)) {
    next_change = outage->end;
    return 0;
  }
  const auto outage =
      std::upper_bound(outages_.begin(), outages_.end(), time,
                       [](double t, const Interval& each) { return t < each.begin; });
  if (outage != outages_.end()) next_change = outage->begin;
  if (!schedule_) return rate_.value();
  const double period = nanoseconds(schedule_->period());
  const double round = period > 0 ? std::floor(time / period) * period : 0;
  const auto& pieces = schedule_->pieces();
  const auto next = std::upper_bound(
      pieces.begin() + 1, pieces.end(), time - round,
      [](double t, const RateSchedule::Piece& piece) { return t < nanoseconds(piece.begin); });
  const double end = next != pieces.end() ? round + nanoseconds(next->begin)
                     : period > 0         ? round + period
                                          : kNeverNs;
  next_change = std::min(next_change, end);
  return (next - 1)->rate.value();
}

std::int64_t ChannelClock::end_by_rate(std::int64_t start, Bytes frame) const {
  double time = static_cast<double>(start);
  double bits = frame.bits();
  while (time < kNeverNs) {
    double next_change = 0;
    const double rate = rate_at(time, next_change);
    const double needed = rate > 0 ? bits / rate / kNanosecond : kNeverNs;
    if (time + needed <= next_change) return std::llround(std::min(time + needed, kNeverNs));
    bits -= rate * (next_change - time) * kNanosecond;
    // A period that is no whole number of floating steps must not stop the clock.
    time = std::max(next_change, std::nextafter(time, kNeverNs));
  }
  return kNever;
}

/// Of the next instant.
std::int64_t ChannelClock::instant() const {
  const auto& lines = schedule_->opportunities();
  return (round_ * lines.back() + lines[line_]) * kMillisecond;
}

/// To the first instant that is not before `start`.
void ChannelClock::seek(std::int64_t start) {
  const auto& lines = schedule_->opportunities();
  const std::int64_t period = lines.back() * kMillisecond;
  // The last line's instant is also the next round's 0: begin with the former.
  round_ = std::max<std::int64_t>(start - 1, 0) / period;
  const std::int64_t inside = start - round_ * period;
  const std::int64_t wanted = (inside + kMillisecond - 1) / kMillisecond;
  line_ = static_cast<std::size_t>(std::lower_bound(lines.begin(), lines.end(), wanted) -
                                   lines.begin());
  GRADWIRE_ASSERT(line_ < lines.size());
  left_ = RateSchedule::kOpportunityBytes;
}

void ChannelClock::skip_outages() {
  while (const Interval* outage = outage_at(static_cast<double>(instant())))
    seek(static_cast<std::int64_t>(outage->end));
}

std::int64_t ChannelClock::end_by_trace(std::int64_t start, Bytes packet) {
  if (left_ == 0 || instant() < start) seek(start);
  std::int64_t needed = packet.count();
  for (;;) {
    skip_outages();
    const std::int64_t passing = std::min(needed, left_);
    needed -= passing;
    left_ -= passing;
    const std::int64_t now = instant();
    if (left_ == 0) {
      left_ = RateSchedule::kOpportunityBytes;
      if (++line_ == schedule_->opportunities().size()) {
        line_ = 0;
        ++round_;
      }
    }
    if (needed == 0) return now;
  }
}

}  // namespace gradwire::sim
