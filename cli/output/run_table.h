#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>

#include "cli/output/table.h"
#include "results/store/store.h"

namespace gradwire::cli {

/// One row a run: the fields that people compare, or all fields.
Table run_table(std::span<const results::RunSummary> runs, bool all_fields);
/// The former as text, the latter in the formats for machines.
Table run_table(std::span<const results::RunSummary> runs, const Context& context);
/// The fields of a run under the names of `--format json`, with "type": "run".
nlohmann::ordered_json run_json(const results::RunSummary& run);
/// A run by number, or by a tag that one run carries. Throws Error(kUsage) if there is none.
results::RunSummary find_run(const results::Store& store, const std::string& name);
/// Runs that pass a filter expression (see `gradwire list --help`); empty = all.
std::vector<results::RunSummary> filtered_runs(const results::Store& store,
                                               const std::string& filter);

}  // namespace gradwire::cli
