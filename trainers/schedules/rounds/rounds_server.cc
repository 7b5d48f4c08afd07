#include <algorithm>
#include <cstring>

#include "trainers/schedules/asynchronous/staleness.h"
#include "trainers/schedules/rounds/rounds_trainer.h"

/// What the server of federated rounds makes of what has arrived. Clients are added up in the order
/// of their trips' starts, whenever they arrived.
namespace gradwire::trainers {

/// By trip that has arrived: its part in the mean.
std::vector<float> RoundsTrainer::shares() const {
  std::vector<double> counts;
  double sum = 0;
  for (const auto& [number, trip] : trips_) {
    if (trip.stage != Stage::kArrived) continue;
    const auto samples = static_cast<double>(learner_.sampler().shard(trip.client).size());
    counts.push_back(choice().weighting == "samples" ? samples : 1.0);
    sum += counts.back();
  }
  std::vector<float> shares;
  auto count = counts.begin();
  for (const auto& [number, trip] : trips_) {
    if (trip.stage != Stage::kArrived) continue;
    shares.push_back(
        static_cast<float>(*count++ / sum * rate_factor(choice(), round_ - trip.round)));
  }
  return shares;
}

void RoundsTrainer::update_model() {
  new_message_ = now_.arrived > 0;
  if (now_.arrived == 0) return;
  const bool usual = choice().server_rate == 1 && choice().server_momentum == 0;
  if (up_.plain() && usual && now_.arrived_late == 0 && !broadcast_)
    average(shares());
  else
    move_by_changes(shares());
  learner_.weights_changed();
}

void RoundsTrainer::average(const std::vector<float>& shares) {
  std::vector<const Trip*> arrived;
  for (const auto& [number, trip] : trips_)
    if (trip.stage == Stage::kArrived) arrived.push_back(&trip);
  const std::span<float> model = learner_.weights();
  const auto& tensors = layout().tensors();
  learner_.pool().run(static_cast<int>(tensors.size()), [&](int tensor, int) {
    const TensorSlot& slot = tensors[static_cast<std::size_t>(tensor)];
    const std::span<float> own = slice(model, slot);
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      const std::byte* from = arrived[i]->update->message.data() + 4 * slot.first;
      for (std::size_t e = 0; e < own.size(); ++e) {
        float value;
        std::memcpy(&value, from + 4 * e, sizeof value);
        own[e] = i == 0 ? shares[i] * value : own[e] + shares[i] * value;
      }
    }
  });
}

void RoundsTrainer::move_by_changes(const std::vector<float>& shares) {
  struct Arrived {
    std::vector<std::span<const std::byte>> payloads;  ///< by tensor
    std::span<const float> sent;
  };
  std::vector<Arrived> arrived;
  for (const auto& [number, trip] : trips_)
    if (trip.stage == Stage::kArrived)
      arrived.push_back({up_.payloads(trip.update->message), sent_.at(trip.round)});
  const std::span<float> model = learner_.weights();
  std::vector<float> change(model.size());
  const auto& tensors = layout().tensors();
  learner_.pool().run(static_cast<int>(tensors.size()), [&](int tensor, int) {
    const auto t = static_cast<std::size_t>(tensor);
    const TensorSlot& slot = tensors[t];
    const auto first = static_cast<std::size_t>(slot.first);
    const auto end = first + static_cast<std::size_t>(slot.count);
    for (std::size_t i = 0; i < arrived.size(); ++i) {
      up_.add(t, arrived[i].payloads[t], shares[i], change);
      for (std::size_t e = first; up_.plain() && e < end; ++e)
        change[e] -= shares[i] * arrived[i].sent[e];
    }
    for (std::size_t e = first; uploads_[t].weights && !up_.plain() && e < end; ++e)
      change[e] -= model[e];
  });
  const auto rate = static_cast<float>(choice().server_rate);
  const auto momentum = static_cast<float>(choice().server_momentum);
  for (std::size_t e = 0; e < model.size(); ++e) {
    if (!velocity_.empty()) change[e] = velocity_[e] = momentum * velocity_[e] + change[e];
    change[e] *= rate;
    if (!broadcast_) model[e] += change[e];
  }
  if (broadcast_) broadcast_->send(round_, change, model);
}

}  // namespace gradwire::trainers
