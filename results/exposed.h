#pragma once
#include <span>
#include <vector>

#include "results/store.h"

namespace gradwire::results {

/// Communication that nothing hides: of each worker the times at which a transfer of its was under
/// way and neither its compute nor its codec lane worked. Segments labelled "exposed communication"
/// on the network's lane, by worker, then time, apart; each has the step of the transfer that was
/// under way first.
std::vector<TimelineSegment> exposed_communication(std::span<const TimelineSegment> segments);

}  // namespace gradwire::results
