#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>

/// Wi-Fi cells of more than 8 stations: turns of short messages, and who is through when.
///
/// Turns. TCP sends a message of B bytes in windows W, 2 W, 4 W, ...; one is a turn, of a full
/// turn's bytes T at most. Few are full, so that what a turn costs weighs more:
///     turns(B, W) = the number of min(T, W 2^k), k = 0, 1, ..., that hold B
///
/// Order. Whose turn is next is chance. Of n stations with m turns each the last turn of one is
/// through by a share t of all the time with probability t^m. Rates that are proportional to
/// weights w until a station is through bring that about where the station at the quantile u, t =
/// u^(1/m), has
///     w(u) = (1 - t^(m - 1))^(1 / (m - 1)) / t
/// (With S(t) what a weight of 1 has got by t and W(t) the weights that are left, w S = 1 at a
/// station's end, W S = t - t^m and S' = 1 / W.)
namespace gradwire::sim {

/// Down. The base's queue holds 500 packets, and 60 go out meanwhile. Where the largest windows of
/// all are o times as many, some of them lose the end of theirs and wait for a timeout: a share of
///     0.9 (1 - 1 / o)
/// which arrive a timeout and up to a third of the time until then after the round's start.
/// (`packet`: 10 of 20 stations with 200 kB each, 16 of 30 with 150 kB, 10 m from the base.)
inline constexpr std::size_t kCrowdedCell = 9;  ///< stations

inline double turns_of(double bytes, double window, double most) {
  double turns = 0;
  for (double left = bytes; left > 0 && turns < 1000; window *= 2, ++turns)
    left -= std::min(window, most);
  return turns;
}

/// The largest window of a message that begins with `window`, bytes.
inline double largest_window(double bytes, double window) {
  double largest = 0;
  for (double left = bytes; left > 0; window *= 2) {
    largest = std::max(largest, std::min(window, left));
    left -= window;
  }
  return largest;
}

/// Share of the stations that time out where so many packets come to the base at once.
inline double timed_out(double packets) {
  constexpr double kQueue = 560, kMost = 0.9;
  return packets > kQueue ? kMost * (1 - kQueue / packets) : 0;
}

/// `u` in [0, 1).
inline double weight_in_order(double turns, double u) {
  constexpr double kLeastTurns = 1.2, kLeast = 0.3;  // a stream that gets less times out
  const double m = std::max(turns, kLeastTurns);
  const double t = std::pow(std::max(u, 1e-3), 1 / m);
  return std::max(kLeast, std::pow(1 - std::pow(t, m - 1), 1 / (m - 1)) / t);
}

}  // namespace gradwire::sim
