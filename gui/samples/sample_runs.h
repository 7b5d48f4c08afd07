#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "results/store/store.h"

/// Made-up but plausible runs: of tests, benchmarks and pictures of the desktop program.
namespace gradwire::gui::samples {

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

/// A store in memory, for windows with very many runs. `on_read` is called by every call that
/// reads, on its thread.
std::unique_ptr<results::Store> make_fake_store(int count, std::function<void()> on_read = {});

}  // namespace gradwire::gui::samples
