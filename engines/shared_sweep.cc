#include "engines/shared_sweep.h"

#include <algorithm>

#include "engines/work_list.h"
#include "runner/interrupt.h"

namespace gradwire::engines {
namespace {

constexpr int kMostLosses = 3;

}  // namespace

SharedSweep::SharedSweep(const scenarios::ScenarioFile& file, const EngineOptions& options,
                         results::Store& store, runner::RunObserver& observer)
    : file_(file),
      options_(options),
      store_(store),
      observer_(observer),
      folder_(options.parts_folder),
      settings_(settings_of(options.sweep)),
      collector_(file, options.sweep.resume, store, observer) {
  settings_.runs = static_cast<int>(file.runs.size());
}

void SharedSweep::begin() {
  for (const std::string& part : folder_.parts()) store_left_part(part, store_);
  collector_.skip_ended();
}

bool SharedSweep::goes_on() const {
  return runner::interrupted_by() == 0 && !collector_.missing().empty();
}

std::size_t SharedSweep::write_work() {
  std::string text;
  const std::vector<std::size_t> missing = collector_.missing();
  for (const std::size_t place : missing)
    text += line_of(place, file_.runs[place], losses_.contains(place),
                    collector_.predecessor(place), collector_.detail(place)) +
            "\n";
  folder_.write("work", text);
  folder_.write("settings", text_of(settings_));
  under_way_.clear();
  asked_ = missing.size();
  return asked_;
}

int SharedSweep::processes(std::size_t runs, int most) const {
  const int asked = options_.processes > 0 ? options_.processes : most;
  return static_cast<int>(std::min(static_cast<std::size_t>(asked), runs));
}

void SharedSweep::take(int rank, const PartReport& report) {
  under_way_.erase(rank);
  PartReport kept = report;
  // Where processes are ended for one that was lost, their runs are given out again.
  if (!stopping_) std::erase_if(kept.runs, [](const auto& run) { return run.interrupted; });
  collector_.take(kept);
}

void SharedSweep::give_up(std::exception_ptr why) {
  if (!why_given_up_) why_given_up_ = std::move(why);
}

bool SharedSweep::wants_stop() const {
  return runner::interrupted_by() != 0 || why_given_up_;
}

void SharedSweep::end_of_processes(const std::string& words) {
  for (const std::string& part : folder_.parts())
    if (!collector_.knows(part)) collector_.take_unreported(part);
  if (why_given_up_) {
    collector_.finish();
    std::rethrow_exception(why_given_up_);
  }
  if (runner::interrupted_by() == 0) look_for_losses(words);
  ++settings_.round;
  settings_.resume = true;  // from checkpoints that lost processes have left
}

void SharedSweep::look_for_losses(const std::string& words) {
  const std::vector<std::size_t> missing = collector_.missing();
  if (missing.empty()) return;
  std::set<std::size_t> suspects;
  for (const auto& [rank, places] : under_way_) suspects.insert(places.begin(), places.end());
  if (suspects.empty() && missing.size() == asked_)
    throw Error(ErrorKind::kFailure, "share out the sweep", file_.name,
                "its processes ended without a run" + (words.empty() ? "" : ": " + words),
                "what has finished is kept, --resume does the rest");
  options_.say("a process was lost" + (words.empty() ? "" : " (" + words + ")") + "; " +
               std::to_string(missing.size()) + " runs are given out again");
  for (const std::size_t place : suspects)
    if (++losses_[place] == kMostLosses)
      collector_.fail(place, "cannot finish run " + std::to_string(place + 1) +
                                 ": its process was lost " + std::to_string(kMostLosses) +
                                 " times" + (words.empty() ? "" : "; the last time: " + words));
}

runner::SweepResult SharedSweep::finish() {
  collector_.finish();
  runner::SweepResult result = collector_.result();
  result.interrupted = runner::interrupted_by() != 0;
  return result;
}

}  // namespace gradwire::engines
