#include "trainers/schedules/late_rows.h"

#include <algorithm>
#include <utility>

namespace gradwire::trainers {

LateRows::LateRows(const Learner& learner)
    : learner_(learner),
      weights_(learner.weights().begin(), learner.weights().end()),
      statistics_(learner.statistics().begin(), learner.statistics().end()),
      replica_(learner.model().make_replica(learner.layout(), weights_, statistics_)),
      thread_(1) {}

void LateRows::add(scenarios::StepReport report, std::vector<float> weights,
                   std::span<const float> statistics) {
  rows_.push_back({std::move(report), std::move(weights), {}});
  Row& row = rows_.back();
  if (row.weights.empty()) return;
  row.statistics.assign(statistics.begin(), statistics.end());
  thread_.begin(static_cast<SideThreads::Key>(row.report.step), row.report.end,
                [this, &row](int) { evaluate(row); });
}

void LateRows::evaluate(Row& row) {
  std::ranges::copy(row.weights, weights_.begin());
  std::ranges::copy(row.statistics, statistics_.begin());
  replica_->weights_changed();
  row.report.evaluation = learner_.evaluate_on(*replica_);
}

void LateRows::close_first(scenarios::Session& session) {
  Row& row = rows_.front();
  if (!row.weights.empty()) thread_.take(static_cast<SideThreads::Key>(row.report.step));
  scenarios::StepReport report = std::move(row.report);
  rows_.pop_front();
  session.close(std::move(report));
}

void LateRows::close_ready(scenarios::Session& session) {
  const auto waits = [this](const Row& row) {
    return !row.weights.empty() &&
           !thread_.has_ended(static_cast<SideThreads::Key>(row.report.step));
  };
  while (!rows_.empty() && !waits(rows_.front())) close_first(session);
}

void LateRows::close_all(scenarios::Session& session) {
  while (!rows_.empty()) close_first(session);
}

}  // namespace gradwire::trainers
