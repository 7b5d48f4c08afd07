#pragma once
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "results/points/nccl_log.h"
#include "tests/results/points/samples.h"

/// Logs of nccl-tests, made for tests.
namespace gradwire::results {

inline std::string each_line(const std::string& text,
                             const std::function<std::string(std::string)>& of) {
  std::string changed;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    changed += of(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return changed;
}

inline std::string with_label(const std::string& label, const std::string& text) {
  return each_line(text, [&](const std::string& line) { return label + line; });
}

/// The only run of a sample.
inline NcclRun run_of(const std::string& text, const std::string& file = "a.txt") {
  const auto runs = read_nccl_log(text, file);
  REQUIRE(runs.size() == 1);
  return runs[0];
}

inline std::size_t timings_of(const NcclRun& run) {
  std::size_t count = 0;
  for (const NcclRow& row : run.rows) count += row.timings.size();
  return count;
}

/// Rows of 1, 4 and 16 MiB of `parts` ranks' buffers, with a busbw of 10 GB/s, which is `share` of
/// size over time; `between` stands behind the type. `old`: algbw is as before June 2020.
inline std::string rows_of(double share, int parts, const std::string& between, bool old = false) {
  std::string text;
  for (const long count : {1L << 18, 1L << 20, 1L << 22}) {
    const double bytes = 4.0 * static_cast<double>(count) * parts, seconds = bytes * share / 10e9;
    char figures[64], row[320];
    std::snprintf(figures, sizeof figures, "%9.2f %7.2f %7.2f 0", 1e6 * seconds,
                  old ? 10.0 : bytes / seconds * 1e-9, 10.0);
    std::snprintf(row, sizeof row, "%12.0f %12ld float %s %s %s\n", bytes, count, between.c_str(),
                  figures, figures);
    text += row;
  }
  return text;
}

inline const std::string kOldHead =
    "#       size    count    type     time   algbw   busbw  error     time   algbw   busbw  "
    "error\n";
inline const std::string kOldSums =
    "#  size  count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error\n";
inline const std::string kHead =
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";

}  // namespace gradwire::results
