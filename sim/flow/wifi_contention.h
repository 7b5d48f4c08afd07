#pragma once
#include <cmath>

namespace gradwire::sim {

/// By how much longer turns take where several contend for the air: collisions, and turns for
/// acknowledgements (1: not at all). `up`: stations that send; `down`: stations that the base sends
/// to, which contend by their acknowledgements alone, and together count as one sender where any
/// station sends too:
///     1 + k_up log2(senders)        k_up = 0.09
///     1 + k_down log2(down)         k_down = 0.03, nobody sends up
/// Fitted to `packet` (ns-3 3.44), 1 to 8 stations 10 m from the base: docs/network.md.
inline double wifi_contention(int up, int down) {
  constexpr double kUp = 0.09, kDown = 0.03;
  const int senders = up + (down > 0 ? 1 : 0);
  if (up > 0) return 1 + kUp * std::log2(senders);
  return down > 0 ? 1 + kDown * std::log2(down) : 1;
}

}  // namespace gradwire::sim
