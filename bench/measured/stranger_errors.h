#pragma once
#include <string>

namespace gradwire::bench {

/// scenarios/published/prediction-errors.csv: how far measured steps lie from what `gradwire
/// predict` says of them as scenarios (scenario_form.h), on device profiles that nothing of the
/// row's source and workload was fitted to. A row a source, workload, device and precision
/// (results/prediction/published_errors.h).
std::string stranger_errors_csv();

/// The same row by row: source, workload, device, precision, workers, seconds measured, predicted,
/// and the band's.
std::string stranger_rows_csv();

}  // namespace gradwire::bench
