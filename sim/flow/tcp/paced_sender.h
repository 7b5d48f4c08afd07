#pragma once
#include <cstdint>
#include <limits>

#include "sim/flow/tcp/bbr.h"
#include "sim/flow/tcp/delivery_rate.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::sim {

/// What BBR draws from in a session of that seed; any numbers where there is no BBR.
inline StreamNumbers phases_of(const TransportSettings& transport, std::uint64_t seed) {
  const bool paced = transport.congestion_control == TransportSettings::CongestionControl::kBbr;
  return paced ? StreamNumbers::of_bbr(seed) : StreamNumbers();
}

/// What a sender with BBR knows beside the scoreboard (stream_paced.cc). Once the initial window
/// has been sent, the next segment waits after each for
///     its payload / pacing rate
/// but what a recovery sends at once.
struct PacedSender {
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  explicit PacedSender(const Bbr::Settings& settings)
      : bbr(settings), round_trip(settings.round_trip), least_round_trip(settings.round_trip) {}

  Bbr bbr;
  DeliveryRate rate;
  double timer = kNever;       ///< s: when the next segment may go out; kNever: at once
  double timer_set = 0;        ///< s: when that was decided
  double round_trip;           ///< s, the last one that was measured
  double least_round_trip;     ///< s, of the smoothed ones
  std::int64_t in_flight = 0;  ///< bytes, as last looked at
};

}  // namespace gradwire::sim
