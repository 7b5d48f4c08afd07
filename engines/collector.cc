#include "engines/collector.h"

#include <filesystem>

#include "runner/cost/sweep_details.h"

namespace gradwire::engines {
namespace {

void remove_part(const std::string& part) {
  std::error_code ignored;
  std::filesystem::remove(part, ignored);
}

}  // namespace

Collector::Collector(const scenarios::ScenarioFile& file, bool resume, results::Store& store,
                     runner::RunObserver& observer)
    : file_(file),
      resume_(resume),
      store_(store),
      observer_(observer),
      fates_(file.runs.size()),
      details_(file.runs.size()) {
  runner::ProfileCache profiles;
  if (file.runs.size() > 1) details_ = runner::sweep_details(file.runs, profiles);
}

runner::RunProgress Collector::progress_of(std::size_t place) const {
  runner::RunProgress progress;
  progress.run = static_cast<int>(place) + 1;
  progress.runs = static_cast<int>(file_.runs.size());
  progress.name = file_.runs[place].name;
  progress.seed = file_.runs[place].seed;
  return progress;
}

void Collector::skip_ended() {
  if (!resume_) return;
  for (const results::RunSummary& run : store_.runs())
    if (!results::has_ended(run.status) && run.status != results::RunStatus::kFailed)
      unfinished_[{run.header.scenario_hash, run.header.seed}] = run.header.uid;
  for (std::size_t place = 0; place < fates_.size(); ++place) {
    const scenarios::Scenario& scenario = file_.runs[place];
    const auto found = runner::find_ended(store_, scenario, details_[place]);
    if (!found) continue;
    ++skipped_;
    Fate& fate = fates_[place];
    fate.settled = fate.merged = true;
    fate.run = *found;
    const results::RunSummary summary = *store_.run(*found);
    if (summary.status == results::RunStatus::kDiverged) ++diverged_;
    observer_.on_run_ended(progress_of(place), summary, true);
  }
}

void Collector::settle(std::size_t place, Fate fate) {
  if (fates_.at(place).settled) return;  // another process was sooner
  fate.settled = true;
  if (!fate.error.empty()) {
    if (failed_++ == 0) why_failed_ = fate.error;
    observer_.on_run_failed(progress_of(place), fate.error);
  }
  if (!fate.part.empty()) ++left_in_[fate.part];
  fates_[place] = std::move(fate);
}

void Collector::take(const PartReport& report) {
  if (!report.part.empty()) left_in_[report.part] = 0;
  for (const RunReport& run : report.runs)
    settle(run.place, {.interrupted = run.interrupted,
                       .part = run.run > 0 ? report.part : std::string(),
                       .run = run.run,
                       .error = run.error});
  if (!report.part.empty()) forget_part(report.part, 0);
  advance();
}

void Collector::take_unreported(const std::string& part) {
  left_in_[part] = 0;
  std::map<std::pair<std::string, std::uint64_t>, results::RunId> ended;
  for (const results::RunSummary& run :
       results::Store::open(part, results::Store::Mode::kReadOnly)->runs())
    if (results::has_ended(run.status)) ended[{run.header.scenario_hash, run.header.seed}] = run.id;
  for (const std::size_t place : missing()) {
    const auto found = ended.find({file_.runs[place].hash, file_.runs[place].seed});
    if (found == ended.end()) continue;
    settle(place, {.part = part, .run = found->second, .error = {}});
    ended.erase(found);
  }
  forget_part(part, 0);
  advance();
}

void Collector::fail(std::size_t place, const std::string& why) {
  settle(place, {.part = {}, .error = why});
  advance();
}

void Collector::advance() {
  while (front_ < fates_.size() && fates_[front_].settled) {
    std::size_t end = front_ + 1;
    const std::string& part = fates_[front_].part;
    const auto joins = [&](const Fate& fate) {
      return fate.settled && !fate.merged && fate.part == part;
    };
    while (end < fates_.size() && joins(fates_[end])) ++end;
    merge(front_, end);
    front_ = end;
  }
}

void Collector::finish() {
  for (std::size_t place = front_; place < fates_.size(); ++place)
    if (fates_[place].settled) merge(place, place + 1);
  front_ = fates_.size();
}

/// Runs of one part, or of none.
void Collector::merge(std::size_t begin, std::size_t end) {
  const std::string part = fates_[begin].part;
  if (part.empty() || fates_[begin].merged) return;
  results::MergeOptions options{.runs = std::vector<results::RunId>(), .trusted = true};
  for (std::size_t place = begin; place < end; ++place) options.runs->push_back(fates_[place].run);
  const results::MergeResult merged = store_.merge(part, options);
  for (std::size_t place = begin; place < end; ++place)
    after_merging(place, merged.runs[place - begin]);
  forget_part(part, end - begin);
}

void Collector::after_merging(std::size_t place, results::RunId run) {
  Fate& fate = fates_[place];
  fate.merged = true;
  fate.run = run;
  const scenarios::Scenario& scenario = file_.runs[place];
  const results::RunSummary summary = *store_.run(run);
  if (resume_ && results::has_ended(summary.status))  // others of the same scenario and seed
    for (const std::string& tag : store_.discard_unfinished(scenario.hash, scenario.seed).tags)
      store_.tag(run, tag, true);
  if (summary.status == results::RunStatus::kDiverged) ++diverged_;
  if (fate.error.empty()) observer_.on_run_ended(progress_of(place), summary, false);
}

void Collector::forget_part(const std::string& part, std::size_t runs) {
  std::size_t& left = left_in_.at(part);
  left -= runs;
  if (left == 0) remove_part(part);
}

std::vector<std::size_t> Collector::missing() const {
  std::vector<std::size_t> places;
  for (std::size_t place = 0; place < fates_.size(); ++place)
    if (!fates_[place].settled) places.push_back(place);
  return places;
}

std::string Collector::predecessor(std::size_t place) const {
  const auto found = unfinished_.find({file_.runs[place].hash, file_.runs[place].seed});
  return found == unfinished_.end() ? std::string() : found->second;
}

runner::SweepResult Collector::result() const {
  runner::SweepResult result;
  for (const Fate& fate : fates_)
    if (fate.merged && fate.error.empty() && !fate.interrupted) result.runs.push_back(fate.run);
  result.failed = failed_;
  result.why_failed = why_failed_;
  result.diverged = diverged_;
  result.skipped = skipped_;
  return result;
}

}  // namespace gradwire::engines
