#include "sim/flow/tcp/bbr.h"

#include <algorithm>
#include <cmath>

namespace gradwire::sim {
namespace {

constexpr double kHighGain = 2.89;
constexpr double kWindowGain = 2;
constexpr double kPacingMargin = 0.01;
constexpr double kLargestPacing = 4e9;  // bits/s
constexpr double kGrowth = 1.25;        // of the bandwidth a round trip, while the pipe fills
constexpr int kFullRounds = 3;
constexpr std::uint32_t kBandwidthRounds = 10;
constexpr double kPhases[] = {1.25, 0.75, 1, 1, 1, 1, 1, 1};
constexpr int kPhaseCount = 8;
constexpr int kDrawnPhases = 6;
constexpr double kRoundTripAge = 10;    // s
constexpr double kProbeDuration = 0.2;  // s
constexpr std::int64_t kLeastInFlight = 4;
constexpr std::int64_t kQuanta = 3;             // segments on their way in hosts
constexpr std::int64_t kProbeQuanta = 2;        // more of them at gain 1.25
constexpr int kBurstRounds = 5;                 // that one maximum is of
constexpr std::int64_t kBurstForgotten = 4096;  // bytes acknowledged, then a burst begins anew
constexpr double kLongestBurst = 0.1;           // s, at the bandwidth
constexpr std::int64_t kNoLimit = 0xFFFFFFFF;   // bytes: windows have 32 bits
constexpr double kLeastTick = 1e-3;             // s: what a shorter handshake counts as

/// As 32 bits hold it.
std::int64_t wrapped(std::int64_t bytes) {
  return bytes & kNoLimit;
}

std::int64_t initial_bandwidth(const Bbr::Settings& settings) {
  const double ticks = std::max(1.0, std::floor(settings.round_trip / kLeastTick + 1e-9));
  return static_cast<std::int64_t>(8 * static_cast<double>(settings.initial_window) /
                                   (ticks * kLeastTick));
}

}  // namespace

Bbr::Bbr(const Settings& settings)
    : segment_(settings.segment),
      initial_(settings.initial_window),
      window_(initial_),
      threshold_(kNoLimit),
      prior_window_(initial_),
      pacing_gain_(kHighGain),
      window_gain_(kHighGain),
      bandwidth_(kBandwidthRounds, initial_bandwidth(settings)),
      round_trip_(settings.round_trip) {
  pacing_ = static_cast<std::int64_t>(kHighGain * static_cast<double>(bandwidth_.best()));
}

double Bbr::pacing_rate() const {
  return static_cast<double>(pacing_) / 8;
}

void Bbr::set_pacing(double gain) {
  const double rate = std::floor(gain * static_cast<double>(bandwidth_.best()));
  const auto paced =
      static_cast<std::int64_t>(std::min((1 - kPacingMargin) * rate, kLargestPacing));
  if (is_full_ || paced > pacing_) pacing_ = paced;
}

/// Bytes in flight at so many times the bandwidth-delay product.
std::int64_t Bbr::in_flight_at(double gain) const {
  const double product = static_cast<double>(bandwidth_.best()) * round_trip_ / 8;
  std::int64_t quanta = kQuanta;
  if (mode_ == Mode::kProbeBandwidth && phase_ == 0) quanta += kProbeQuanta;
  return static_cast<std::int64_t>(gain * product + static_cast<double>(quanta * segment_));
}

void Bbr::save_window(bool recovering) {
  const bool small = recovering || mode_ == Mode::kProbeRoundTrip;
  prior_window_ = small ? std::max(prior_window_, window_) : window_;
}

void Bbr::on_ack(const Acked& acked, const RateSample& sample) {
  count_round(sample, acked.delivered);
  if (sample.known) count_bursts(acked);
  if (mode_ == Mode::kProbeBandwidth && ends_phase(acked)) advance_phase(acked.now);
  look_whether_full(sample);
  drain(acked);
  update_round_trip(acked);
  probe_round_trip(acked);
  set_pacing(pacing_gain_);
  set_window(acked);
}

void Bbr::count_round(const RateSample& sample, std::int64_t delivered) {
  // Else whether a round starts stays as it was: ns-3's full pipe may count one twice.
  if (!sample.timed) return;
  round_starts_ = sample.prior_delivered >= round_end_;
  if (round_starts_) {
    round_end_ = delivered;
    ++round_;
    conserves_ = false;
  }
  if (sample.rate >= bandwidth_.best() || !sample.limited) bandwidth_.update(sample.rate, round_);
}

void Bbr::count_bursts(const Acked& acked) {
  if (acked.bytes <= 0) return;
  if (round_starts_ && ++burst_rounds_ >= kBurstRounds) {
    burst_rounds_ = 0;
    burst_ = 1 - burst_;
    bursts_[burst_] = 0;
  }
  const double seconds = std::floor(acked.now - burst_time_);
  auto expected = static_cast<std::int64_t>(static_cast<double>(bandwidth_.best()) * seconds / 8);
  if (burst_acked_ <= expected || burst_acked_ + acked.bytes >= kBurstForgotten) {
    burst_acked_ = 0;
    burst_time_ = acked.now;
    expected = 0;
  }
  burst_acked_ += acked.bytes;
  bursts_[burst_] = std::max(bursts_[burst_], std::min(burst_acked_ - expected, window_));
}

void Bbr::advance_phase(double now) {
  phase_time_ = now;
  phase_ = (phase_ + 1) % kPhaseCount;
  pacing_gain_ = kPhases[phase_];
}

bool Bbr::ends_phase(const Acked& acked) const {
  const bool is_long = acked.now - phase_time_ > round_trip_;
  if (pacing_gain_ == 1) return is_long;
  if (pacing_gain_ < 1) return is_long || acked.prior_in_flight <= in_flight_at(1);
  return is_long && (acked.lost > 0 || acked.prior_in_flight >= in_flight_at(pacing_gain_));
}

void Bbr::look_whether_full(const RateSample& sample) {
  if (is_full_ || !round_starts_ || sample.limited) return;
  if (static_cast<double>(bandwidth_.best()) >= kGrowth * static_cast<double>(full_bandwidth_)) {
    full_bandwidth_ = bandwidth_.best();
    full_rounds_ = 0;
    return;
  }
  is_full_ = ++full_rounds_ >= kFullRounds;
}

void Bbr::drain(const Acked& acked) {
  if (mode_ == Mode::kStartUp && is_full_) {
    mode_ = Mode::kDrain;
    pacing_gain_ = 1 / kHighGain;
    window_gain_ = kHighGain;
    threshold_ = in_flight_at(1);
  }
  if (mode_ == Mode::kDrain && acked.in_flight <= in_flight_at(1)) probe_bandwidth(acked.now);
}

void Bbr::probe_bandwidth(double now) {
  mode_ = Mode::kProbeBandwidth;
  window_gain_ = kWindowGain;
  const auto u = draws_.next();
  phase_ = kPhaseCount - 1 - static_cast<int>(kDrawnPhases * u);
  advance_phase(now);
}

void Bbr::update_round_trip(const Acked& acked) {
  round_trip_expired_ = acked.now > round_trip_time_ + kRoundTripAge;
  if (acked.round_trip > round_trip_ && !round_trip_expired_) return;
  round_trip_ = acked.round_trip;
  round_trip_time_ = acked.now;
}

void Bbr::probe_round_trip(const Acked& acked) {
  if (mode_ != Mode::kProbeRoundTrip && round_trip_expired_ && !was_idle_) {
    mode_ = Mode::kProbeRoundTrip;
    pacing_gain_ = window_gain_ = 1;
    save_window(acked.recovering);
    probe_end_ = -1;
    has_probed_ = true;
  }
  was_idle_ = false;
  if (mode_ != Mode::kProbeRoundTrip) return;
  if (probe_end_ >= 0) {
    probe_round_done_ = probe_round_done_ || round_starts_;
    end_round_trip_probe(acked.now);
  } else if (acked.in_flight <= kLeastInFlight * segment_) {
    probe_end_ = acked.now + kProbeDuration;
    probe_round_done_ = false;
    round_end_ = acked.delivered;
  }
}

void Bbr::end_round_trip_probe(double now) {
  if (!probe_round_done_ || now <= probe_end_) return;
  round_trip_time_ = now;
  window_ = std::max(window_, prior_window_);
  if (is_full_) {
    probe_bandwidth(now);
  } else {
    mode_ = Mode::kStartUp;
    pacing_gain_ = window_gain_ = kHighGain;
  }
}

void Bbr::set_window(const Acked& acked) {
  const bool probes = mode_ == Mode::kProbeRoundTrip;
  bool held = acked.bytes == 0;
  if (!held && acked.recovering) {
    if (acked.lost > 0) window_ = std::max(window_ - acked.lost, segment_);
    held = conserves_;
    if (held) window_ = std::max(window_, acked.in_flight + acked.bytes);
  }
  if (!held) {
    const auto longest =
        static_cast<std::int64_t>(static_cast<double>(bandwidth_.best()) * kLongestBurst / 8);
    const std::int64_t bursts = is_full_ ? std::min(std::max(bursts_[0], bursts_[1]), longest) : 0;
    const std::int64_t target = in_flight_at(window_gain_) + bursts;
    if (is_full_) {
      window_ = std::min(wrapped(window_ + acked.bytes), target);
    } else if (window_ < target || acked.delivered < initial_) {
      window_ = wrapped(window_ + acked.bytes);
    }
    window_ = std::max(window_, kLeastInFlight * segment_);
  }
  if (probes) window_ = std::min(window_, kLeastInFlight * segment_);
}

void Bbr::enter_recovery(std::int64_t in_flight, std::int64_t acked) {
  save_window(false);
  window_ = in_flight + std::max(acked, segment_);
  conserves_ = true;
  save_window(true);
}

void Bbr::leave_recovery() {
  conserves_ = false;
  window_ = threshold_;
}

void Bbr::on_timeout(bool recovering) {
  save_window(recovering);
  round_starts_ = true;
  window_ = segment_;
}

void Bbr::on_start(double now) {
  if (!has_probed_) return;
  was_idle_ = true;
  burst_time_ = now;
  burst_acked_ = 0;
  if (mode_ == Mode::kProbeBandwidth) {
    set_pacing(1);
  } else if (mode_ == Mode::kProbeRoundTrip) {
    end_round_trip_probe(now);
  }
}

}  // namespace gradwire::sim
