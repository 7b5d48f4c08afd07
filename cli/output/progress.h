#pragma once
#include <chrono>

#include "cli/context.h"
#include "runner/run_observer.h"

namespace gradwire::cli {

/// Shows a sweep's progress on stderr: a bar on a terminal, else a line every 30 seconds; with
/// --format jsonl, JSON lines of type progress, run and error on stdout.
class ProgressPrinter : public runner::RunObserver {
 public:
  explicit ProgressPrinter(const Context& context) : context_(context) {}
  void on_progress(const runner::RunProgress& progress) override;
  void on_forecast(const runner::RunProgress& progress,
                   const runner::PacketForecast& forecast) override;
  void on_run_ended(const runner::RunProgress& progress, const results::RunSummary& summary,
                    bool skipped) override;
  void on_run_failed(const runner::RunProgress& progress, const std::string& message) override;
  /// Removes the bar before other output.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  void print_bar(const runner::RunProgress& progress);

  const Context& context_;
  Clock::time_point last_{};
  bool bar_shown_ = false;
};

}  // namespace gradwire::cli
