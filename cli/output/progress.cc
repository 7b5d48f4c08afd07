#include "cli/output/progress.h"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/plain_text.h"
#include "base/units.h"
#include "cli/output/json_text.h"
#include "cli/output/run_table.h"
#include "results/runs/fields.h"
#include "results/runs/summary.h"
#include "runner/cost/packet_forecast.h"

namespace gradwire::cli {
namespace {

using runner::RunProgress;

nlohmann::ordered_json progress_json(const RunProgress& p) {
  return {{"type", "progress"}, {"run", p.run},
          {"runs", p.runs},     {"name", p.name},
          {"method", p.method}, {"seed", p.seed},
          {"phase", p.phase},   {"step", p.step},
          {"steps", p.steps},   {"simulated_s", p.simulated_s},
          {"wall_s", p.wall_s}, {"remaining_s", p.remaining_s},
          {"loss", p.loss}};
}

void print_line(const nlohmann::ordered_json& json) {
  std::printf("%s\n", json_text(json).c_str());
  std::fflush(stdout);
}

std::string describe(const RunProgress& p) {
  std::string text = "[" + std::to_string(p.run) + "/" + std::to_string(p.runs) + "] " + p.method +
                     " seed " + std::to_string(p.seed);
  if (p.phase == "measuring") return text + "  measuring compute times";
  text += "  step " + std::to_string(p.step) + "/" + std::to_string(p.steps) + "  simulated " +
          format_duration(Seconds(p.simulated_s)) + " in " + format_duration(Seconds(p.wall_s));
  return p.remaining_s < 0 ? text : text + ", " + format_duration(Seconds(p.remaining_s)) + " left";
}

std::string bar(double share) {
  constexpr int kWidth = 20;
  const int full = static_cast<int>(share * kWidth + 0.5);
  return "[" + std::string(static_cast<std::size_t>(full), '#') +
         std::string(static_cast<std::size_t>(kWidth - full), '.') + "] ";
}

}  // namespace

void ProgressPrinter::print_bar(const RunProgress& p) {
  const double share = p.steps > 0 ? static_cast<double>(p.step) / static_cast<double>(p.steps) : 0;
  std::fprintf(stderr, "\r\033[K%s%s", bar(share).c_str(), describe(p).c_str());
  std::fflush(stderr);
  bar_shown_ = true;
}

void ProgressPrinter::on_progress(const RunProgress& progress) {
  const bool lines = context_.format() == Format::kJsonl;
  const bool bars = context_.use_progress_bar();
  const auto interval = std::chrono::milliseconds(lines || bars ? 100 : 30'000);
  const auto now = Clock::now();
  if (last_ == Clock::time_point{} && !lines && !bars) last_ = now;
  if (now - last_ < interval) return;
  last_ = now;
  if (lines)
    print_line(progress_json(progress));
  else if (bars)
    print_bar(progress);
  else
    context_.say(describe(progress));
}

void ProgressPrinter::on_forecast(const RunProgress& progress,
                                  const runner::PacketForecast& forecast) {
  if (context_.format() == Format::kJsonl)
    return print_line({{"type", "forecast"},
                       {"run", progress.run},
                       {"runs", progress.runs},
                       {"events", forecast.events},
                       {"forecast_s", forecast.wall_s}});
  clear();
  context_.say("[" + std::to_string(progress.run) + "/" + std::to_string(progress.runs) + "] " +
               progress.method + " on the packet executor: " + runner::in_words(forecast));
}

void ProgressPrinter::on_run_ended(const RunProgress& progress, const results::RunSummary& summary,
                                   bool skipped) {
  clear();
  if (context_.format() == Format::kJsonl) {
    auto row = run_json(summary);
    row["run"] = progress.run;
    row["runs"] = progress.runs;
    row["skipped"] = skipped;
    print_line(row);
  } else if (context_.verbose > 0 || summary.status != results::RunStatus::kFinished) {
    std::string text = "run " + std::to_string(summary.id) + ": " + summary.header.method + " on " +
                       results::engine_of(summary.header);
    const bool diverged = summary.status == results::RunStatus::kDiverged;
    text += skipped ? diverged ? " had diverged already" : " was finished already"
                    : " is " + results::status_in_words(summary);
    if (diverged && !summary.error.empty()) text += ": " + summary.error;
    context_.say(text);
  }
}

void ProgressPrinter::on_run_failed(const RunProgress& progress, const std::string& message) {
  clear();
  if (context_.format() == Format::kJsonl)
    print_line(
        {{"type", "error"}, {"run", progress.run}, {"runs", progress.runs}, {"message", message}});
  std::fprintf(stderr, "gradwire: run %d of %d failed: %s\n", progress.run, progress.runs,
               printable(message).c_str());
}

void ProgressPrinter::clear() {
  if (bar_shown_) std::fputs("\r\033[K", stderr);
  bar_shown_ = false;
}

}  // namespace gradwire::cli
