#pragma once
#include <string>
#include <string_view>
#include <vector>

/// What nccl-tests (and rccl-tests) print: https://github.com/NVIDIA/nccl-tests, of all versions
/// since 2019, whole or in part, whatever a launcher put before its lines (docs/models/points.md).
///
///     algbw = S / t                      S: the size printed, of the whole result; t: one
///     operation busbw = algbw x 2 (n - 1) / n      all_reduce_perf (doc/PERFORMANCE.md there)
///     busbw = algbw x (n - 1) / n        all_gather_perf, reduce_scatter_perf, alltoall_perf
///     algbw = busbw = S (n - 1) / n / t  all_gather_perf, reduce_scatter_perf before June 2020
namespace gradwire::results {

enum class NcclTest { kAllReduce, kAllGather, kReduceScatter, kAllToAll };
std::string_view name_of(NcclTest test);

struct NcclTiming {
  double seconds = 0;
  double algbw = 0, busbw = 0;  ///< B/s, as versions since June 2020 say it
  bool wrong = false;           ///< the results were wrong
  double blur = 0;              ///< half a unit of the last digit of the time, over the time
};

struct NcclRow {
  int line = 0;  ///< 0 in files that `-J` wrote
  double bytes = 0;
  std::vector<NcclTiming> timings;  ///< out of place; in place
};

/// One run of one test.
struct NcclRun {
  NcclTest test = NcclTest::kAllReduce;
  int ranks = 0;
  int hosts = 0;   ///< 0 = not said
  int groups = 1;  ///< of so many ranks each, that ran side by side (NCCL_TESTS_SPLIT)
  std::vector<NcclRow> rows;
  bool finished = false;           ///< its summary is there
  std::vector<std::string> notes;  ///< what the log leaves open, or has and is not used
};

/// Whether a text has nccl-tests' columns or rows, or is the file that `-J` writes.
bool is_nccl_log(std::string_view text);

/// Every run in the log, in its order; or of the files that `-J` wrote. Sizes whose count is 0 are
/// left out. Throws Error with the line: rows that are cut off, columns that contradict each other
/// (size, time, algbw, busbw, ranks), tests other than the four, one rank, CPU times, no row at
/// all.
std::vector<NcclRun> read_nccl_log(std::string_view text, const std::string& file);

}  // namespace gradwire::results
