#pragma once
#include <span>
#include <vector>

#include "results/store/store.h"

/// Exposed communication, the one definition of all tables, figures and views: of a worker, the
/// times at which a transfer of its, or its rank of a collective, was under way (its waiting for
/// others there counts) and neither its compute nor its codec lane worked.
namespace gradwire::results {

/// As segments labelled "exposed communication" on the network's lane, by worker, then time, apart;
/// each has the step of the transfer that was under way first. Transfers of worker -1 are those of
/// no single worker: every worker has a part in them.
std::vector<TimelineSegment> exposed_communication(std::span<const TimelineSegment> segments);

/// A time in which something was under way, without a pause.
struct BusyTime {
  double start_s = 0, end_s = 0;
  std::int64_t step = 0;  ///< of the segment that began it
};

/// Sum of the times.
double seconds_of(std::span<const BusyTime> times);

/// What one worker did: times of each kind lie apart, in order.
struct WorkerTimes {
  std::int32_t worker = 0;
  std::vector<BusyTime> compute;        ///< on the compute or the host lane
  std::vector<BusyTime> exposed_codec;  ///< encoding or decoding while nothing was computed
  std::vector<BusyTime> network;        ///< a transfer of its, or its rank of a collective
  std::vector<BusyTime> exposed;        ///< of these, while neither of the two others was under way
};
/// By worker. Transfers of worker -1 are in every worker's times, and make a "worker" of their own
/// where there is no other.
std::vector<WorkerTimes> times_of_workers(std::span<const TimelineSegment> segments);

/// Where workers' time went: means over workers, seconds.
///     compute + exposed_codec + exposed  <=  the step; the rest is idle time
struct TimeSplit {
  int workers = 0;
  double compute_s = 0;  ///< time in which a compute (or host) operation ran
  double codec_s = 0;  ///< time in which one encoded, decoded or added; it may hide behind compute
  double exposed_codec_s = 0;  ///< of it, the time in which no computation ran
  double network_s = 0;        ///< time in which a transfer or collective was under way
  double exposed_s = 0;        ///< of it, the time in which neither of the two others ran
};
/// Over workers 0 .. workers - 1, whatever of them occurs; hosts beyond are servers.
TimeSplit split_of(std::span<const TimelineSegment> segments, int workers);

}  // namespace gradwire::results
