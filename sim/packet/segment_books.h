#pragma once
#include <cstdint>

namespace gradwire::sim {

struct SegmentCount {
  std::int64_t segments = 0;
  std::int64_t bytes = 0;  ///< of payload
};

/// What became of every TCP segment with payload, on the links of a cluster. At any moment
///
///     first + again = arrived + lost_in_queues + lost_on_links + in_flight
///     arrived = unique + duplicate
///
/// The terms are counted apart: `first` and `again` where sockets send, the arrived ones where
/// hosts hand packets to TCP, `in_flight` between the IP layers at the two ends of each link.
struct SegmentBooks {
  SegmentCount first;  ///< with bytes that had not been sent before
  SegmentCount again;
  SegmentCount arrived;
  SegmentCount unique;  ///< with bytes that had not arrived before
  SegmentCount duplicate;
  SegmentCount lost_in_queues;
  SegmentCount lost_on_links;
  SegmentCount in_flight;
};

}  // namespace gradwire::sim
