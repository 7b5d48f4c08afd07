#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "base/hash.h"
#include "trainers/schedules/gossip/asynchronous_gossip.h"
#include "trainers/schedules/memory_use.h"

/// What asynchronous gossip reports: ends of steps, rows of as many steps as there are workers,
/// figures and hashes.
namespace gradwire::trainers {

using scenarios::Session;

void AsynchronousGossip::finish_step(int w, Session& session) {
  Worker& worker = at(w);
  Hasher hasher;
  hasher.add(chain_);
  hasher.add(static_cast<std::uint64_t>(w));
  hasher.add(worker.loss);
  const auto [first, end] = edges_into(w);
  for (std::size_t e = first; e < end; ++e) {
    hasher.add(static_cast<std::uint64_t>(edges_[e].used));
    if (edges_[e].used < 0) continue;
    const std::int64_t age = at(mixing_.edges()[e].from).learned - edges_[e].used;
    staleness_.add(age);
    row_.staleness += static_cast<double>(age);
    row_.age += (session.now() - edges_[e].used_made).value();
    ++row_.used;
  }
  hasher.add(static_cast<std::uint64_t>(row_.payload.count()));
  chain_ = hasher.value();
  row_.loss += worker.loss;
  ++worker.step;
  worker.graph = 0;
  if (++row_.steps == static_cast<std::int64_t>(workers_.size())) {
    scenarios::StepReport report = take_row(session.now());
    close_row(std::move(report), rows_, beside_.get(), session);
  }
  if (rows_ < steps_total()) start_step(w, session);
}

scenarios::StepReport AsynchronousGossip::take_row(Seconds now) {
  const ModelSpread spread = models_.spread();
  double moved = 0;
  for (double& each : change_) {
    moved += each * each;
    each = 0;
  }
  distance_ = spread.distance;
  const double drift = spread.mean_square > 0 ? std::sqrt(moved / spread.mean_square) : 0;
  drift_ = std::max(drift_, drift);
  if (row_.messages > 0)
    edge_bytes_ = static_cast<double>(row_.payload.count()) / static_cast<double>(row_.messages);

  scenarios::StepReport report;
  report.step = rows_++;
  std::ranges::sort(ended_);
  report.graphs = std::exchange(ended_, {});
  report.end = now;
  report.loss = row_.loss / static_cast<double>(row_.steps);
  report.payload = row_.payload;
  report.dense_payload = models_.channel().plain_bytes() * row_.messages;
  report.encoded_values = models_.channel().plain_bytes() * row_.messages;
  ages_ += row_.age;
  const double used = std::max<double>(1, static_cast<double>(row_.used));
  report.figures = {{"consensus_distance", distance_},
                    {"mean_drift", drift},
                    {"edge_bytes", edge_bytes_, "B"},
                    {"staleness", row_.staleness / used, "steps"},
                    {"neighbour_age_s", row_.age / used, "s"}};
  row_ = {};
  return report;
}

scenarios::Evaluation AsynchronousGossip::evaluate() {
  if (rows_ == steps_total() && local_accuracy_.empty())
    for (int w = 0; w < learner_.workers(); ++w)
      local_accuracy_.push_back(learner_.evaluate(models_.weights(w)).accuracy);
  models_.take_mean();
  return learner_.evaluate();
}

std::uint64_t AsynchronousGossip::learning_hash() const {
  Hasher hasher;
  hasher.add(chain_);
  for (int w = 0; w < learner_.workers(); ++w) hasher.add_bytes(std::as_bytes(models_.weights(w)));
  return hasher.value();
}

std::vector<scenarios::Figure> AsynchronousGossip::figures() const {
  const auto of = [](std::int64_t value) { return static_cast<double>(value); };
  std::vector<scenarios::Figure> figures = {
      {"consensus_distance", distance_},
      {"mean_drift", drift_},
      {"edge_bytes", edge_bytes_, "B"},
      {"spectral_gap", mixing_.spectral_gap()},
      {"gossip_edges", static_cast<double>(edges_.size()), "edges"},
      {"staleness_mean", staleness_.mean(), "steps"},
      {"staleness_p50", of(staleness_.quantile(0.5)), "steps"},
      {"staleness_p90", of(staleness_.quantile(0.9)), "steps"},
      {"staleness_p99", of(staleness_.quantile(0.99)), "steps"},
      {"staleness_max", of(staleness_.largest()), "steps"},
      {"neighbour_age_s", (ages_ + row_.age) / std::max<double>(1, of(staleness_.updates())), "s"},
      {"messages_left_out", of(left_out_), "messages"},
      {"edges_lost", of(std::ranges::count(edges_, true, &Edge::lost)), "edges"}};
  if (!local_accuracy_.empty()) {
    const double sum = std::accumulate(local_accuracy_.begin(), local_accuracy_.end(), 0.0);
    figures.push_back({"local_accuracy_mean", sum / static_cast<double>(local_accuracy_.size())});
    figures.push_back({"local_accuracy_worst", *std::ranges::min_element(local_accuracy_)});
  }
  // Of the worker with most neighbours: a copy of each; of differences its own and theirs of it.
  std::size_t most = 0;
  for (int w = 0; w < learner_.workers(); ++w) {
    const auto [first, end] = edges_into(w);
    const std::size_t out = edges_of_[static_cast<std::size_t>(w)].size();
    most = std::max(most, end - first + (models_.says_differences() ? out + 1 : 0));
  }
  const auto model = static_cast<std::int64_t>(4 * change_.size());
  std::ranges::move(
      memory_figures(learner_, {.optimizer_bytes = models_.optimizer_bytes(),
                                .worker_bytes = model * static_cast<std::int64_t>(most) +
                                                models_.start_bytes()}),
      std::back_inserter(figures));
  return figures;
}

}  // namespace gradwire::trainers
