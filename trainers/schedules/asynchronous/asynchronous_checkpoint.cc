#include "trainers/schedules/asynchronous/asynchronous_trainer.h"

#include "base/serial.h"
#include "trainers/schedules/whole_model.h"
#include "trainers/trainer_error.h"

/// Saving and loading asynchronous training: the server's model and optimiser, codecs' states, and
/// every worker's trip with the graphs that it has under way. Which samples a worker sees is a
/// function of the seed.
namespace gradwire::trainers {

void AsynchronousTrainer::save_content(std::ostream& out) const {
  learner_.save(out);
  updates_.save(out);
  put(out, version_);
  put(out, started_);
  put(out, chain_);
  staleness_.save(out);
  put<std::uint64_t>(out, workers_.size());
  std::vector<float> flat;
  for (const Worker& worker : workers_) {
    put(out, worker.stage);
    put(out, worker.computed);
    put(out, worker.trips);
    put(out, worker.version);
    put(out, worker.order);
    put(out, worker.loss);
    put_span(out, std::span<const Bytes>(worker.messages));
    const bool under_way = worker.stage == Stage::kComputing || worker.stage == Stage::kSending;
    std::span<const float> values;
    if (under_way) values = worker.values;
    if (worker.gradients) {
      flat.resize(weights().size());
      copy_finite(*worker.gradients, learner_.layout(), flat);
      values = flat;
    }
    put_span(out, values);
    put(out, worker.computing);
    put(out, worker.sending);
  }
}

void AsynchronousTrainer::load_content(std::istream& in) {
  learner_.load(in);
  updates_.load(in);
  version_ = get<std::int64_t>(in);
  started_ = get<std::uint64_t>(in);
  chain_ = get<std::uint64_t>(in);
  staleness_.load(in);
  if (get<std::uint64_t>(in) != workers_.size())
    throw TrainerError("load", "checkpoint", "it has another number of workers",
                       "start the run afresh");
  worker_of_.clear();
  for (int w = 0; w < learner_.workers(); ++w) {
    Worker& worker = at(w);
    worker.stage = get<Stage>(in);
    worker.computed = get<bool>(in);
    worker.trips = get<std::int64_t>(in);
    worker.version = get<std::int64_t>(in);
    worker.order = get<std::uint64_t>(in);
    worker.loss = get<double>(in);
    worker.messages = get_vector<Bytes>(in);
    worker.values = get_vector<float>(in);
    worker.computing = get<sim::GraphId>(in);
    worker.sending = get<sim::GraphId>(in);
    if (worker.stage == Stage::kComputing || worker.stage == Stage::kSending)
      worker_of_[worker.computing] = w;
    if (worker.stage == Stage::kSending) worker_of_[worker.sending] = w;
  }
}

}  // namespace gradwire::trainers
