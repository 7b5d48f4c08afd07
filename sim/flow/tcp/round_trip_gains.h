#pragma once

/// Gains of RFC 6298, which every sender takes for its smoothed round trip.
namespace gradwire::sim {

inline constexpr double kSmoothing = 0.125;          ///< of round trips (alpha)
inline constexpr double kDeviationSmoothing = 0.25;  ///< of their deviation (beta)
inline constexpr double kDeviations = 4;             ///< in the time-out (K)

}  // namespace gradwire::sim
