#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

/// What nccl-tests (and rccl-tests) print: https://github.com/NVIDIA/nccl-tests, versions with and
/// without `redop`, `root` and `#wrong`, and with one or two groups of columns (out of place, in
/// place).
///
///     algbw = S / t                      S: the size printed, of the whole result; t: one
///     operation busbw = algbw x 2 (n - 1) / n      all_reduce_perf (doc/PERFORMANCE.md there)
///     busbw = algbw x (n - 1) / n        all_gather_perf, reduce_scatter_perf
namespace gradwire::results {

enum class NcclTest { kAllReduce, kAllGather, kReduceScatter };

struct NcclTiming {
  double seconds = 0;
  double algbw = 0, busbw = 0;  ///< B/s
  bool wrong = false;           ///< the results were wrong
};

struct NcclRow {
  int line = 0;
  double bytes = 0;
  std::vector<NcclTiming> timings;  ///< out of place; in place
};

/// One run of one test.
struct NcclRun {
  NcclTest test = NcclTest::kAllReduce;
  int ranks = 0;
  int hosts = 0;  ///< 0 = not said
  std::vector<NcclRow> rows;
  bool finished = false;  ///< its summary is there
};

/// Every run in the log, in its order; or the run of a file that `-J` wrote. Sizes whose count is 0 are left out. Throws Error with the
/// line: rows that are cut off, columns that contradict each other (size, time, algbw, busbw,
/// ranks), tests other than the three, CPU times, no row at all.
std::vector<NcclRun> read_nccl_log(std::string_view text, const std::string& file);

}  // namespace gradwire::results
