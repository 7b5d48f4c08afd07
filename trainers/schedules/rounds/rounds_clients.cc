#include <algorithm>
#include <cmath>

#include "trainers/schedules/rounds/rounds_trainer.h"
#include "trainers/schedules/whole_model.h"

/// What a client of federated rounds makes of the model that it was sent: its local steps, and the
/// message that says them.
namespace gradwire::trainers {

std::int64_t RoundsTrainer::local_steps(int client) const {
  if (!choice().local_epochs) return choice().local_steps;
  const double samples =
      *choice().local_epochs * static_cast<double>(learner_.sampler().shard(client).size());
  const double batches = std::ceil(samples / learner_.scenario().workload.batch_per_worker);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(batches));
}

Moment RoundsTrainer::moment(std::int64_t round, std::int64_t local_step) const {
  Moment moment = learner_.moment_at(round);
  moment.local_step = local_step;
  return moment;
}

void RoundsTrainer::train_ahead(Trip& due) {
  constexpr std::size_t kOfAThread = 4;  // more would even out the threads, and wait in memory
  const auto threads = static_cast<std::size_t>(learner_.pool().threads());
  const bool has_statistics = !learner_.statistics().empty();
  std::vector<Trip*> batch = {&due};
  if (threads > 1) {
    for (auto& [number, trip] : trips_) {
      if (batch.size() == threads * kOfAThread) break;
      const bool waits = trip.round == due.round && trip.stage == Stage::kTraining &&
                         !trip.drops_out && !trip.update && &trip != &due;
      // Statistics change when the recording client's training ends, and not before.
      if (waits && !(trip.records && has_statistics)) batch.push_back(&trip);
    }
  }
  learner_.pool().run(static_cast<int>(batch.size()), [&](int item, int thread) {
    Trip& trip = *batch[static_cast<std::size_t>(item)];
    trip.update = train(trip, thread);
  });
}

void RoundsTrainer::train_round() {
  std::vector<Trip*> trips;
  for (auto& [number, trip] : trips_) {
    // Statistics are those of who has trained, which a deadline decides.
    const bool waits = trip.records && !learner_.statistics().empty();
    if (trip.round == round_ && !trip.drops_out && !waits) trips.push_back(&trip);
  }
  learner_.pool().run(static_cast<int>(trips.size()), [&](int item, int thread) {
    Trip& trip = *trips[static_cast<std::size_t>(item)];
    trip.update = train(trip, thread);
  });
}

RoundsTrainer::LocalUpdate RoundsTrainer::train(const Trip& trip, int thread) {
  const std::int64_t steps = local_steps(trip.client);
  SetUpdates rule(learner_.scenario(), learner_.method(), learner_.layout());
  learner_.place(thread, sent_.at(trip.round));
  LocalUpdate update;
  for (std::int64_t h = 0; h < steps; ++h)
    update.loss += local_step(trip, thread, h, rule) / static_cast<double>(steps);
  encode(trip, thread, update);
  return update;
}

double RoundsTrainer::local_step(const Trip& trip, int thread, std::int64_t h, SetUpdates& rule) {
  Bench& bench = benches_[static_cast<std::size_t>(thread)];
  const std::int64_t draw = trip.round * local_steps(trip.client) + h;
  const bool records = trip.records && !learner_.statistics().empty();
  const double rate = learner_.rate(moment(trip.round, h));
  const std::span<float> weights = learner_.placed(thread);
  double loss = 0;
  if (choice().proximal > 0) {
    loss = learner_.pass_into(trip.client, thread, draw, trip.round, records, *bench.gradients,
                              bench.change);
    add_proximal(bench.change, static_cast<float>(choice().proximal), weights,
                 sent_.at(trip.round));
    rule.step(0, rate, GradientView(std::span<const float>(bench.change)), weights);
  } else {
    loss = learner_.local_pass(trip.client, thread, draw, trip.round, records, *bench.gradients);
    rule.step(0, rate, GradientView(bench.gradients->tensors()), weights);
  }
  learner_.weights_changed(thread);
  return loss;
}

/// What of `upload`, what a client changed, it sends: its weights instead where the method says so,
/// without what the method leaves out.
void RoundsTrainer::mask_upload(std::span<const float> trained, std::span<float> upload) const {
  for (std::size_t t = 0; t < uploads_.size(); ++t) {
    const TensorSlot& slot = learner_.layout().tensors()[t];
    const std::span<const float> own = slice(trained, slot);
    const std::span<float> sent = slice(upload, slot);
    if (uploads_[t].weights) std::ranges::copy(own, sent.begin());
    learner_.method().mask_upload(uploads_[t].set, own, sent);
  }
}

void RoundsTrainer::encode(const Trip& trip, int thread, LocalUpdate& update) {
  const std::span<const float> weights = learner_.placed(thread);
  std::vector<std::byte>& state = benches_[static_cast<std::size_t>(thread)].state;
  if (up_.plain()) {
    learner_.check_local(trip.client, trip.round, all_finite(weights));
    return up_.encode(state, trip.client, trip.round, weights, update.message);
  }
  clients_.read(trip.client, state);
  const std::vector<float>& sent = sent_.at(trip.round);
  std::vector<float>& change = benches_[static_cast<std::size_t>(thread)].change;
  learner_.check_local(trip.client, trip.round, subtract_finite(weights, sent, change));
  mask_upload(weights, change);
  up_.encode(state, trip.client, trip.round, change, update.message);
  state = clients_.propose(trip.client, std::move(state));
  update.message.shrink_to_fit();
}

}  // namespace gradwire::trainers
