#include "base/serial.h"
#include "trainers/schedules/gossip/asynchronous_gossip.h"

/// Saving and loading asynchronous gossip: all models, what each edge's receiver knows, what is on
/// its way, and every worker's step with the graph that it has under way.
namespace gradwire::trainers {

void AsynchronousGossip::save_content(std::ostream& out) const {
  learner_.save(out);
  put<std::uint64_t>(out, workers_.size());
  models_.save(out);
  for (const Worker& worker : workers_) {
    put(out, worker.stage);
    put(out, worker.computed);
    put(out, worker.step);
    put(out, worker.learned);
    put(out, worker.order);
    put(out, worker.loss);
    const bool needed = worker.stage == Stage::kComputing && worker.computed;
    put_span(out, needed ? std::span<const float>(worker.gradient) : std::span<const float>());
    put(out, worker.graph);
  }
  for (const Edge& edge : edges_) {
    put(out, edge.version);
    put(out, edge.used);
    put(out, edge.sent);
    put(out, edge.made);
    put(out, edge.used_made);
    put(out, edge.sent_made);
    put(out, edge.busy);
    put(out, edge.lost);
    put(out, edge.all);
    put_span(out, std::span<const float>(edge.known));
    put_span(out,
             edge.busy ? std::span<const std::byte>(edge.message) : std::span<const std::byte>());
    put(out, edge.graph);
  }
  put_span(out, std::span<const sim::GraphId>(ended_));
  put_span(out, std::span<const double>(change_));
  put(out, row_);
  put(out, rows_);
  put(out, started_);
  put(out, chain_);
  staleness_.save(out);
  put(out, ages_);
  put(out, left_out_);
  put(out, distance_);
  put(out, drift_);
  put(out, edge_bytes_);
  put_span(out, std::span<const double>(local_accuracy_));
}

void AsynchronousGossip::load_content(std::istream& in) {
  learner_.load(in);
  if (get<std::uint64_t>(in) != workers_.size())
    refuse_checkpoint("it has another number of workers");
  models_.load(in);
  owners_.clear();
  for (std::size_t w = 0; w < workers_.size(); ++w) {
    Worker& worker = workers_[w];
    worker.stage = get<Stage>(in);
    worker.computed = get<bool>(in);
    worker.step = get<std::int64_t>(in);
    worker.learned = get<std::int64_t>(in);
    worker.order = get<std::uint64_t>(in);
    worker.loss = get<double>(in);
    worker.gradient = get_vector<float>(in);
    worker.graph = get<sim::GraphId>(in);
    if (worker.graph != 0) owners_[worker.graph] = {false, w};
  }
  for (std::size_t e = 0; e < edges_.size(); ++e) {
    Edge& edge = edges_[e];
    edge.version = get<std::int64_t>(in);
    edge.used = get<std::int64_t>(in);
    edge.sent = get<std::int64_t>(in);
    edge.made = get<Seconds>(in);
    edge.used_made = get<Seconds>(in);
    edge.sent_made = get<Seconds>(in);
    edge.busy = get<bool>(in);
    edge.lost = get<bool>(in);
    edge.all = get<bool>(in);
    edge.known = get_vector<float>(in);
    edge.message = get_vector<std::byte>(in);
    edge.graph = get<sim::GraphId>(in);
    if (edge.busy) owners_[edge.graph] = {true, e};
  }
  ended_ = get_vector<sim::GraphId>(in);
  change_ = get_vector<double>(in);
  row_ = get<Row>(in);
  rows_ = get<std::int64_t>(in);
  started_ = get<std::uint64_t>(in);
  chain_ = get<std::uint64_t>(in);
  staleness_.load(in);
  ages_ = get<double>(in);
  left_out_ = get<std::int64_t>(in);
  distance_ = get<double>(in);
  drift_ = get<double>(in);
  edge_bytes_ = get<double>(in);
  local_accuracy_ = get_vector<double>(in);
}

}  // namespace gradwire::trainers
