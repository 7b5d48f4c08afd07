#pragma once
#include <string>
#include <vector>

#include "bench/measured/table.h"
#include "bench/rows/row.h"

namespace gradwire::bench {

/// scenarios/published/prediction-errors.csv: how far measured steps lie from what `gradwire
/// predict` says of them as scenarios (scenario_form.h), on device profiles that nothing of the
/// row's source and workload was fitted to. A row a source, workload, device and precision
/// (results/prediction/published_errors.h).
std::string stranger_errors_csv();

/// The same row by row: source, workload, device, precision, workers, seconds measured, predicted,
/// and the band's.
std::string stranger_rows_csv();

/// Median and worst error and coverage of each group of `steps`, and of all the coverage. Says why
/// rows are no scenarios.
std::vector<BenchRow> scenario_rows(const std::vector<MeasuredStep>& steps, const Say& say);

}  // namespace gradwire::bench
