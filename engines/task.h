#pragma once
#include <string>
#include <vector>

namespace gradwire::engines {

/// A task of a batch system: of the runs that `folder`/work lists, each `of`-th from the `index`-th
/// on (from 0). What is under way and what has come is told by files in the folder: given-INDEX
/// and report-ROUND-INDEX-N, lines of report_lines.h. Ends after a step on SIGTERM or SIGINT.
/// Throws Error: a folder that is none, a missing capability (reported, too).
void run_task(const std::string& folder, int index, int of);

/// The reports in a folder, by name, and what tasks had under way when they ended.
std::vector<std::string> report_files(const std::string& folder);
std::vector<std::string> given_files(const std::string& folder);

}  // namespace gradwire::engines
