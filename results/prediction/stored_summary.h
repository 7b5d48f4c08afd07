#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/prediction/step_fit.h"
#include "results/runs/figure_origin.h"
#include "results/store/store.h"

/// Summaries of steps as figures of stored runs.
namespace gradwire::results {

/// Figures named "summary_...", of the whole run: totals of times and bytes, and, where the buckets
/// differ (and are 256 at most), each one's: "summary_message_bytes_0", ...
std::vector<MetricRow> summary_metrics(const StepSummary& step, const RunOrigins& origins);

/// Empty where a run has none (it was stored by an earlier version, or its exchange has no closed
/// form).
std::optional<StepSummary> stored_summary(std::span<const MetricRow> metrics);
/// For who asks what its network gave the run: empty, too, where links may differ and an earlier
/// version stored their mean.
std::optional<StepSummary> stored_summary(std::span<const MetricRow> metrics,
                                          const std::string& scenario_json);

/// One point a finished run: its summary and the mean time of its steps. Runs without a summary are
/// left out, and said in `left_out`.
std::vector<StepPoint> stored_points(const Store& store, std::span<const RunId> runs,
                                     std::vector<std::string>& left_out);

}  // namespace gradwire::results
