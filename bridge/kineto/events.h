#pragma once
#include <vector>

#include "bridge/kineto/trace.h"

/// What a rank did, from its trace: the same events as a script tells the hub.
///
/// Compute is wall time: what passes between two events, less what the rank only waited. In a trace
/// of a GPU the clock is the device's: a call is made when the kernels launched before it have
/// ended, and whatever the device does, or waits for the host, is compute. Where a rank waits:
///   - at once, where the call says so (`async_op=False`);
///   - DistributedDataParallel: where a bucket's gradients are copied back;
///   - where it was idle until the moment at which the data came (to 100 us);
///   - else before the optimiser's step, or at the end of the profiler's.
/// It only waited from its last operation before that place to the next, at most until the data
/// came. A trace of a loaded machine has its load in it.
namespace gradwire::bridge::kineto {

/// From the first whole step on (ProfilerStep, or the optimiser's where there is none), to the end
/// of the last. Throws Error(kFailure) naming `path` where nothing is left.
std::vector<Event> events_of(const Trace& trace, const std::string& path);

}  // namespace gradwire::bridge::kineto
