#include "engines/part_runner.h"

#include <algorithm>
#include <chrono>

#include "engines/parts_folder.h"
#include "engines/work_list.h"
#include "runner/interrupt.h"

namespace gradwire::engines {

PartRunner::PartRunner(Settings settings, int neighbours, std::string folder, std::string name,
                       int rank, runner::RunObserver& observer)
    : settings_(std::move(settings)),
      options_(run_options(settings_, neighbours)),
      folder_(std::move(folder)),
      name_(std::move(name)),
      observer_(observer) {
  options_.rank = rank;
  options_.profiles = &profiles_;
}

PartReport PartRunner::run(std::span<const std::string> lines) {
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<results::Store> store = results::Store::in_memory();
  PartReport report;
  for (const std::string& line : lines) {
    if (runner::interrupted_by() != 0) break;
    report.runs.push_back(run_one(line, *store));
  }
  const bool stored = std::ranges::any_of(report.runs, [](const auto& run) { return run.run > 0; });
  if (stored) {
    report.part = part_file(folder_, name_ + "-" + std::to_string(parts_++));
    store->copy_to(report.part);
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

RunReport PartRunner::run_one(const std::string& line, results::Store& store) {
  const WorkItem item = item_of(line);
  RunReport report{item.place, 0, "", false};
  runner::RunProgress progress;
  progress.run = static_cast<int>(item.place) + 1;
  progress.runs = settings_.runs;
  options_.uid = item.uid;
  options_.detail = item.detail;
  try {
    const auto outcome =
        runner::run_scenario(item.scenario, options_, store, observer_, progress, report.run);
    report.interrupted = outcome == runner::RunOutcome::kInterrupted;
  } catch (const results::StoreError&) {
    throw;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::kCapability) throw;
    report.error = error.what();
  }
  return report;
}

}  // namespace gradwire::engines
