#pragma once
#include <span>
#include <string>

#include "results/points/link_facts.h"
#include "results/points/point_list.h"

/// Points from logs of nccl-tests and iperf3, read as they are.
///
/// nccl-tests: a point a size and column group, a lone collective. all_gather_perf and
/// reduce_scatter_perf of size S over n ranks are n - 1 hops of S / n: gathered messages of S / n.
/// alltoall_perf has them side by side: a direct all-gather's. all_reduce_perf is a ring of
/// messages of S, unless `exchange` says otherwise.
///
/// iperf3: where the line rate is given, a point (one transfer over one link); else it sets the
/// line rate: the one whose usual efficiency is what iperf3 saw. The least of several.
///
/// Where nothing says what the links are: line rate from the largest bus bandwidth, delay from the
/// shortest time. All of that is in `notes`.
namespace gradwire::results {

struct LogFile {
  std::string name;
  std::string text;
};

struct LogPoints {
  PointList list;
  LinkFacts facts;  ///< the given ones, and what iperf3 measured
};

/// Throws Error: neither kind of log, or as nccl_log.h and iperf_log.h say.
LogPoints points_from_logs(std::span<const LogFile> files, const LinkFacts& given);

}  // namespace gradwire::results
