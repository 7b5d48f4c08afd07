#include <algorithm>

#include "gui/timeline/timeline_geometry.h"
#include "results/exposed.h"

namespace gradwire::gui {

OverlapNumbers overlap_numbers(const TimelineRows& rows,
                               const std::vector<results::TimelineSegment>& segments,
                               std::int64_t step, int workers) {
  OverlapNumbers numbers;
  const auto span = std::ranges::find(rows.steps, step, &StepSpan::step);
  if (span == rows.steps.end()) return numbers;
  std::vector<results::TimelineSegment> own;
  std::ranges::copy_if(segments, std::back_inserter(own),
                       [step](const auto& segment) { return segment.step == step; });
  numbers.split = results::split_of(own, workers);
  numbers.step_s = span->end_s - span->start_s;
  return numbers;
}

}  // namespace gradwire::gui
