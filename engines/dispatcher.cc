#include "engines/dispatcher.h"

#include <algorithm>

#include "engines/work_list.h"

namespace gradwire::engines {
namespace {

constexpr std::size_t kMostRuns = 64;

}  // namespace

Dispatcher::Dispatcher(std::vector<std::string> lines, int ranks, double seconds)
    : lines_(std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end())),
      ranks_(static_cast<std::size_t>(std::max(ranks, 1))),
      batch_s_(seconds) {}

void Dispatcher::note(std::size_t runs, double seconds) {
  runs_ += runs;
  seconds_ += seconds;
}

std::size_t Dispatcher::batch() const {
  if (runs_ == 0) return 1;
  const double fill = batch_s_ * static_cast<double>(runs_) / std::max(seconds_, 1e-6);
  const std::size_t fair = std::max<std::size_t>(lines_.size() / (2 * ranks_), 1);
  return std::min({static_cast<std::size_t>(std::max(fill, 1.0)), fair, kMostRuns});
}

std::vector<std::string> Dispatcher::next() {
  std::vector<std::string> given;
  const std::size_t most = batch();
  while (!lines_.empty() && given.size() < most) {
    const bool alone = label_of(lines_.front()).alone;
    if (alone && !given.empty()) break;
    given.push_back(std::move(lines_.front()));
    lines_.pop_front();
    if (alone) break;
  }
  return given;
}

}  // namespace gradwire::engines
