#pragma once
#include <algorithm>
#include <cmath>

namespace gradwire::sim {

/// What follows is for transports without windows, whose flows share a cell's air as a medium; TCP
/// is followed packet by packet (sim/flow/per_packet/air).
///
/// By how much longer turns take where several contend for the air: collisions, and turns for
/// acknowledgements (1: not at all). `up`: stations that send; `down`: stations that the base sends
/// to, which contend by their acknowledgements alone; where both ways are busy acknowledgements
/// travel with data:
///     1 + k_up log2(up)                    k_up = 0.09
///     1 + k_down log2(down)                k_down = 0.03, nobody sends up
///     k (1 + k_down log2(up))              k = 0.95, both ways
/// Fitted to `packet` (ns-3 3.44), 1 to 8 stations 10 m from the base, both ways 1 to 4 at 12 and
/// 28 m: docs/models/radio-cells.md.
inline double wifi_contention(int up, int down) {
  constexpr double kUp = 0.09, kDown = 0.03, kBoth = 0.95;
  if (up > 0 && down > 0) return kBoth * (1 + kDown * std::log2(up));
  if (up > 0) return 1 + kUp * std::log2(up);
  return down > 0 ? 1 + kDown * std::log2(down) : 1;
}

/// Of more than 8 phones each has less than turns leave it. `packet` takes 1.0 to 1.2 times as long
/// for 9 to 12 that send up, 1.1 to 1.4 times until 30, 1.3 to 1.8 for more; down 1.05 to 1.5 times
/// for 9 to 13, 1.1 to 1.6 until 25, 2.1 to 2.4 for more (20 to 300 m and 50 m, 10 MHz, 20 to 400
/// kB each).
inline double lte_crowd_up(int phones) {
  if (phones <= 8) return 1;
  if (phones <= 12) return 1.08;
  return phones <= 30 ? 1.3 : 1.5;
}
inline double lte_crowd_down(int phones) {
  if (phones <= 8) return 1;
  if (phones <= 13) return 1.2;
  return phones <= 25 ? 1.45 : 2.2;
}

/// By how much longer LTE's turns take, with `up` and `down` phones: ns-3's proportional fair
/// scheduler carries a fifth less down for two or more than for one (1 to 8 phones at 30 and 200 m,
/// 10 and 20 MHz: 0.16 to 0.24 less), and both ways carry less where both are busy, as
/// acknowledgements wait behind data in the phones (1, 3 and 6 at 60 and 200 m).
struct LteContention {
  double up = 1;
  double down = 1;
};
inline LteContention lte_contention(int up, int down) {
  constexpr double kShared = 1.25, kBoth = 0.08, kMost = 8;
  const double both = up > 0 && down > 0 ? 1 + kBoth * std::min(kMost, (up + down) / 2.0) : 1;
  return {both * lte_crowd_up(up), both * lte_crowd_down(down) * (down > 1 ? kShared : 1)};
}

}  // namespace gradwire::sim
