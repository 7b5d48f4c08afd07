#pragma once
#include <cstdint>

namespace gradwire::sim {

/// How ns-3's clock and the session's differ: by the time that was spent opening connections while
/// nothing was under way.
struct SessionClock {
  std::int64_t offset = 0;  ///< ns-3's less the session's, in nanoseconds
  /// The session's clock stands still. Links then neither lose nor hold anything back.
  bool setting_up = false;
};

}  // namespace gradwire::sim
