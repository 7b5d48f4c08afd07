#pragma once
#include <string>
#include <vector>

#include "cli/context.h"
#include "cli/runs/run.h"
#include "results/reproductions/reproduction.h"
#include "results/store/store.h"

/// Runs of a scenario file held against its `expected` block: `reproduce` and `check`.
namespace gradwire::cli {

/// What is being done, for messages.
struct Undertaking {
  std::string doing;  ///< "reproduce"
  std::string name;   ///< of the experiment; rows begin with it
};

/// Runs what has not ended in the database, then holds the means against the marks. Says so where
/// runs failed; the exit code is that of a run then, until `print_checks`.
std::vector<results::ReproductionRow> run_and_check(const Undertaking& undertaking,
                                                    const scenarios::ScenarioFile& file,
                                                    const RunArguments& arguments,
                                                    results::Store& store, Context& context);

/// The table; sets the exit code where a mark is missed or a negative control meets it.
void print_checks(const std::vector<results::ReproductionRow>& rows, Context& context);

}  // namespace gradwire::cli
