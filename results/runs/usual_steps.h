#pragma once
#include <algorithm>
#include <span>

#include "results/store/store.h"

namespace gradwire::results {

/// The rows that a run's step time is the mean of: of a recording without the first and the last,
/// where those are told apart as start_up_s and after_steps_s.
inline std::span<const StepRow> usual_rows(std::span<const StepRow> rows,
                                           std::span<const MetricRow> metrics) {
  const auto tells = [&](std::string_view name) {
    return std::ranges::any_of(metrics, [&](const MetricRow& row) { return row.name == name; });
  };
  if (!rows.empty() && tells("after_steps_s")) rows = rows.first(rows.size() - 1);
  if (!rows.empty() && tells("start_up_s")) rows = rows.subspan(1);
  return rows;
}

}  // namespace gradwire::results
