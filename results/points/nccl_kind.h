#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "results/points/nccl_columns.h"

/// Which of nccl-tests printed a table, and how many ranks it had.
namespace gradwire::results {

/// What a log says of a table beside its rows.
struct NcclHints {
  std::string program;  ///< a name of nccl_program_in; empty where there is none
  int program_line = 0;
  bool announced = false;  ///< by the test itself ("# Collective test starting: ...")
  int ranks = 0;           ///< of one group; 0 = not listed
  int processes = 0;       ///< that list a rank 0
};

/// The program of nccl-tests that a line names, without "_perf"; empty where it names none. In a
/// line by which a test announces itself, any program that ends in "_perf".
std::string_view nccl_program_in(std::string_view line, bool announced);

/// Sets the run's test, ranks, rows (with algbw as versions since June 2020 say it) and notes.
/// Throws Error: a test that is not read, one rank, ranks that cannot be told, figures that
/// contradict each other.
void tell_test(NcclRun& run, std::vector<NcclLine> lines, const NcclHints& hints,
               const std::string& file);

}  // namespace gradwire::results
