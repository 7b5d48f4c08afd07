#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "results/reproduction.h"
#include "results/store.h"

/// The bounds of a scenario's `expected` block as a reproduction: each against the mean over the
/// seeds of its runs.
namespace gradwire::results {

/// A row a check of `expected`, in its order. The value is the mean of the figure over the finished
/// runs of its method; with `against`, that mean less (or over) the other method's; the spread is
/// the standard deviation over seeds, of pairs of one seed where two methods are compared. Throws
/// Error (kScenario) for a check whose method has no finished run.
std::vector<ReproductionRow> check_reproduction(const std::string& name,
                                                const nlohmann::ordered_json& expected,
                                                std::span<const RunSummary> runs);

}  // namespace gradwire::results
