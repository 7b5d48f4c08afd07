#pragma once
#include <cstdint>

#include "base/units.h"

namespace gradwire::sim {

/// Traffic between two hosts that is nobody's work, over TCP of its own.
///     Poisson   transfers of `size` start at independent exponential distances of mean size / rate
///     on-off    for exponential times of mean `on` a transfer of `size` starts every size / rate,
///               then none for exponential times of mean `off`; starts with an off time
struct BackgroundTraffic {
  enum class Pattern : std::uint8_t { kPoisson, kOnOff };
  int source = 0;
  int destination = 0;
  Pattern pattern = Pattern::kPoisson;
  BitsPerSecond rate{1e6};  ///< offered; on-off: while it is on
  Bytes size{100'000};
  Seconds on{1};
  Seconds off{1};
};

}  // namespace gradwire::sim
