#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/rows/row.h"

/// `gradwire bench measured`: predictions against tables of what others measured.
namespace gradwire::bench {

struct MeasuredOptions {
  std::vector<std::string> tables = {};  ///< CSV files; none = those that ship
  std::uint64_t seed = 1;                ///< of the half that gives constants
  bool list = false;                     ///< say every row
  std::string figure = {};               ///< stem of an SVG of all rows and a CSV; empty = none
};

/// Every row of the tables is predicted twice: with constants from half of its own group (`half`),
/// and with constants from the other groups (`strangers`), those that ship among them. Rows of
/// figures: median and worst error and the share of rows inside the 90 % band, by group and of all;
/// rows of the tables that have no form are said with the reason and counted, and each reason is a
/// row, skipped. Throws Error (a file
/// that cannot be read).
std::vector<BenchRow> bench_measured(const MeasuredOptions& options, const Say& say);

}  // namespace gradwire::bench
