#pragma once
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <vector>

#include "results/reproductions/reproduction.h"
#include "results/store/store.h"

/// The bounds of a scenario's `expected` block as a reproduction: each against the mean over the
/// seeds of its runs.
namespace gradwire::results {

/// The virtual time at which that run was first at least that accurate; nothing where it never was.
using TimeToAccuracy = std::function<std::optional<double>(RunId run, double accuracy)>;
/// By the evaluations that are stored.
std::optional<double> time_to_accuracy(const Store& store, RunId run, double accuracy);

/// A figure that the run's workload reports of the whole run; nothing where it reports none.
using FigureOfWorkload = std::function<std::optional<double>(RunId run, const std::string& figure)>;
std::optional<double> figure_of_workload(const Store& store, RunId run, const std::string& figure);

/// What a target is below the accuracy that it is taken from, where a check does not say.
inline constexpr double kUsualTargetLess = 0.01;

/// Rows of the checks of `expected`, in their order: one each. The value is the mean of the figure
/// over the finished runs of its method; with `against`, that mean less (or over) the other
/// method's; the spread is the standard deviation over seeds, of pairs of one seed where two
/// methods are compared. A check with `target_of` is of the time to the accuracy at which that
/// method's run of the same seed ended, less `target_less`; without a value where a seed never
/// reached it. A check without a place or a comparison is of each run of its
/// method: a row for each of those that differ in more than the seed. Throws Error (kScenario) for
/// a check whose method has no finished run.
std::vector<ReproductionRow> check_reproduction(const std::string& name,
                                                const nlohmann::ordered_json& expected,
                                                std::span<const RunSummary> runs,
                                                const TimeToAccuracy& time_to_accuracy = {},
                                                const FigureOfWorkload& figure_of_workload = {});

}  // namespace gradwire::results
