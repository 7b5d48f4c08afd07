#include "gui/models/run_selection.h"

#include <algorithm>

namespace gradwire::gui {

using results::RunId;

bool RunSelection::contains(RunId id) const {
  return std::binary_search(sorted_.begin(), sorted_.end(), id);
}

void RunSelection::select(std::vector<RunId> runs, RunId current) {
  std::vector<RunId> sorted = runs;
  std::sort(sorted.begin(), sorted.end());
  const bool listed = std::binary_search(sorted.begin(), sorted.end(), current);
  if (!listed) current = runs.empty() ? 0 : runs.back();
  if (sorted == sorted_ && current == current_) return;
  runs_ = std::move(runs);
  sorted_ = std::move(sorted);
  current_ = current;
  emit changed();
}

void RunSelection::toggle(RunId id) {
  std::vector<RunId> runs = runs_;
  if (contains(id)) {
    std::erase(runs, id);
    select(std::move(runs));
  } else {
    runs.push_back(id);
    select(std::move(runs), id);
  }
}

}  // namespace gradwire::gui
