#pragma once
#include <memory>
#include <string>
#include <vector>

#include "results/store.h"

/// Made-up but plausible runs for the desktop program's tests and pictures.
namespace gradwire::gui::test {

/// Run `index` (ids start at 1): methods, workers, seeds and figures vary with the index.
results::RunSummary sample_run(int index);
std::vector<results::RunSummary> sample_runs(int count);

/// Steps, accuracy and timeline of a sample run.
std::vector<results::StepRow> sample_steps(const results::RunSummary& run);
std::vector<results::MetricRow> sample_metrics(const results::RunSummary& run);
/// Two buckets, backward overlapped with encode and transfer; `steps` steps.
std::vector<results::TimelineSegment> sample_timeline(const results::RunSummary& run, int steps);

/// Writes `count` sample runs with steps, metrics and timelines through the real store.
void write_sample_database(const std::string& path, int count);

/// A store in memory, for tests of the window with very many runs.
std::unique_ptr<results::Store> make_fake_store(int count);

}  // namespace gradwire::gui::test
