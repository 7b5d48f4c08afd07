#pragma once
#include "sim/cluster/link.h"

namespace gradwire::sim {

/// Bytes of a packet's time on such a device that follow it (the gap between frames, and what else
/// ns-3 counts as such): the next one waits for them, its own arrival does not.
inline constexpr double kFollowingBytes = 36;

/// Whether ns-3's point-to-point device can be that link: full duplex, of one rate, always there.
/// Of the others `packet` has a device of its own, which has no place behind the packet on the
/// wire, and carries a packet's gap with it.
inline bool is_plain(const LinkSpec& spec) {
  return !spec.schedule && !spec.schedule_back && spec.outages.empty() && !spec.half_duplex &&
         spec.jitter.value() <= 0;
}

}  // namespace gradwire::sim
