#include "trainers/replays/recorded_steps.h"

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace gradwire::trainers {
namespace {

using bridge::Event;

[[noreturn]] void refuse_recording(const std::string& path, const std::string& why) {
  throw Error(ErrorKind::kScenario, "replay recording", path, why);
}

}  // namespace

RecordedSteps::RecordedSteps(const bridge::Recording& recording, const std::string& path)
    : recording_(recording), order_(recording.header.world) {
  follow();
  cut();
  drop_what_is_not_whole();
  if (ends_.empty())
    refuse_recording(path,
                     order_.conflict()
                         ? order_.describe_conflict()
                         : "it has no whole step: the script was cut off before its first ended");
  join_entangled();
  join_silent();
  if (calls() == 0) refuse_recording(path, "its ranks call no collective");
}

void RecordedSteps::follow() {
  for (const auto& [name, ranks] : recording_.groups)
    for (const int rank : ranks) order_.add_group(rank, name, ranks);
  for (const auto& events : recording_.events)
    for (const Event& event : events) order_.add(event);
}

std::size_t RecordedSteps::begin(std::int64_t step, int rank) const {
  return step == 0 ? 0 : end(step - 1, rank);
}

std::size_t RecordedSteps::end(std::int64_t step, int rank) const {
  return ends_[static_cast<std::size_t>(step)][static_cast<std::size_t>(rank)];
}

/// At each rank's k-th optimiser step, for as many as all ranks have; and at the end.
void RecordedSteps::cut() {
  std::size_t steps = std::numeric_limits<std::size_t>::max();
  std::vector<std::vector<std::size_t>> cuts(recording_.events.size());
  for (std::size_t rank = 0; rank < cuts.size(); ++rank) {
    const auto& events = recording_.events[rank];
    for (std::size_t i = 0; i < events.size(); ++i)
      if (events[i].kind == Event::Kind::kStep) cuts[rank].push_back(i + 1);
    steps = std::min(steps, cuts[rank].size());
  }
  told_ = steps > 0;
  ends_.resize(steps + (recording_.whole ? 1 : 0));
  for (std::size_t k = 0; k < ends_.size(); ++k)
    for (std::size_t rank = 0; rank < cuts.size(); ++rank)
      ends_[k].push_back(k < steps ? cuts[rank][k] : recording_.events[rank].size());
}

/// [rank][event]: the step that it is in; size() behind the last one.
std::vector<std::vector<std::int64_t>> RecordedSteps::steps_of_events() const {
  std::vector<std::vector<std::int64_t>> steps(recording_.events.size());
  for (std::size_t rank = 0; rank < steps.size(); ++rank) {
    std::int64_t step = 0;
    for (std::size_t i = 0; i < recording_.events[rank].size(); ++i) {
      while (step < size() && i >= end(step, static_cast<int>(rank))) ++step;
      steps[rank].push_back(step);
    }
  }
  return steps;
}

/// What was cut off, or called in another order by some, and all from there on.
void RecordedSteps::drop_what_is_not_whole() {
  const auto steps = steps_of_events();
  std::int64_t whole = size();
  for (std::size_t rank = 0; rank < steps.size(); ++rank)
    for (std::size_t i = 0; i < steps[rank].size(); ++i) {
      const Event& event = recording_.events[rank][i];
      if (event.kind != Event::Kind::kCall) continue;
      const bridge::Operation& operation =
          order_.operations()[order_.operation_of(static_cast<int>(rank), event.call.number)];
      if (!operation.complete() || !operation.alike) whole = std::min(whole, steps[rank][i]);
    }
  ends_.resize(static_cast<std::size_t>(whole));
}

/// Keeps the ends that are true; the last one stays.
void RecordedSteps::keep(const std::vector<bool>& ends_step) {
  std::vector<std::vector<std::size_t>> kept;
  for (std::size_t k = 0; k < ends_.size(); ++k)
    if (ends_step[k] || k + 1 == ends_.size()) kept.push_back(std::move(ends_[k]));
  ends_ = std::move(kept);
}

void RecordedSteps::join_entangled() {
  const auto steps = steps_of_events();
  std::vector<std::int64_t> called(order_.operations().size(), 0);  // the last member's step
  for (std::size_t rank = 0; rank < steps.size(); ++rank)
    for (std::size_t i = 0; i < steps[rank].size(); ++i) {
      const Event& event = recording_.events[rank][i];
      if (event.kind != Event::Kind::kCall) continue;
      std::int64_t& last = called[order_.operation_of(static_cast<int>(rank), event.call.number)];
      last = std::max(last, steps[rank][i]);
    }
  std::vector<bool> ends_step(ends_.size(), true);
  std::int64_t whole = size();
  for (std::size_t rank = 0; rank < steps.size(); ++rank)
    for (std::size_t i = 0; i < steps[rank].size(); ++i)
      for (const std::int64_t call : recording_.events[rank][i].waited) {
        const std::int64_t last = called[order_.operation_of(static_cast<int>(rank), call)];
        if (last >= size()) whole = std::min(whole, steps[rank][i]);
        for (std::int64_t k = steps[rank][i]; k < std::min(last, size()); ++k)
          ends_step[static_cast<std::size_t>(k)] = false;
      }
  ends_.resize(static_cast<std::size_t>(whole));
  keep(ends_step);
}

void RecordedSteps::join_silent() {
  std::vector<bool> ends_step(ends_.size(), false);
  for (std::int64_t k = 0; k < size(); ++k)
    for (int rank = 0; rank < recording_.header.world; ++rank)
      for (std::size_t i = begin(k, rank); i < end(k, rank); ++i)
        if (recording_.events[static_cast<std::size_t>(rank)][i].kind == Event::Kind::kCall)
          ends_step[static_cast<std::size_t>(k)] = true;
  if (size() > 1 && !ends_step.back()) {  // evaluation, or nothing, behind the last step
    ends_.pop_back();
    ends_step.pop_back();
  }
  keep(ends_step);
}

bool RecordedSteps::has_tail() const {
  if (!told_ || size() < 2) return false;
  for (int rank = 0; rank < recording_.header.world; ++rank)
    for (std::size_t i = begin(size() - 1, rank); i < end(size() - 1, rank); ++i)
      if (recording_.events[static_cast<std::size_t>(rank)][i].kind == Event::Kind::kStep)
        return false;
  return true;
}

std::int64_t RecordedSteps::calls() const {
  std::int64_t calls = 0;
  for (int rank = 0; rank < recording_.header.world && size() > 0; ++rank)
    for (std::size_t i = 0; i < end(size() - 1, rank); ++i)
      calls += recording_.events[static_cast<std::size_t>(rank)][i].kind == Event::Kind::kCall;
  return calls;
}

}  // namespace gradwire::trainers
