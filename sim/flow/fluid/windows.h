#pragma once
#include "sim/flow/tcp/stream.h"

/// When the window of TCP decides how fast a connection sends, and when it is a fluid.
///
/// Symbols. r0: round trip, s; beta: what a loss leaves of a window; target, interval: CoDel's, s.
/// A connection is a fluid
///   - where its window fills the pipe for ever once it has filled it: nothing is lost on the way,
///     and what CoDel's losses leave fills it, too:  beta (r0 + target) >= r0
///   - for a transfer that the window covers beside what is not acknowledged
/// but not where CoDel drops some of its segments and the repair is felt, or its timer goes off.
namespace gradwire::sim {

/// Whether a window that has filled the pipe once fills it ever after.
bool may_open(const TcpPath& path, const TransportSettings& transport);

/// Whether acknowledgements of segments `spacing` s apart may come too late for the sender's timer.
bool may_time_out(double spacing, const TransportSettings& transport);

/// Whether CoDel may drop some of so many segments, `spacing` s apart, so that their repair counts:
/// it does not before some have waited for its target and its interval. On short round trips repair
/// is quick, but where the share is so small that the segments that CoDel's target leaves in the
/// queue are too few to tell of a loss.
bool may_be_dropped(const StreamPath& path, double spacing, double segments);

}  // namespace gradwire::sim
