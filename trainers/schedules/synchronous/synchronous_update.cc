#include <algorithm>

#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/own_passes.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// What the method has to say in a step of a synchronous trainer: what workers send, what becomes
/// of the mean and of the weights, what plans depend on.
namespace gradwire::trainers {

std::vector<methods::TensorInfo> SynchronousTrainer::tensors_in_layout() const {
  const auto infos = tensor_infos(learner_.model().parameters());
  std::vector<methods::TensorInfo> ordered;
  for (const TensorSlot& slot : layout().tensors())
    ordered.push_back(infos[static_cast<std::size_t>(slot.parameter)]);
  return ordered;
}

void SynchronousTrainer::decide() {
  if (method().decides_every() == 0) return;
  for (std::size_t e = 0; e < sums_.size(); ++e) sums_[e] += mean_[e];
  if (step_ % method().decides_every() != 0) return;
  std::vector<std::span<const float>> sums;
  for (const TensorSlot& slot : layout().tensors()) sums.push_back(slice(sums_, slot));
  decided_ = method().decide(tensors_, sums);
  std::ranges::fill(sums_, 0.0f);
  exchange_ = exchange_in(phase_);
  make_template();
}

std::vector<std::span<float>> SynchronousTrainer::memory() {
  return {memory_.begin(), memory_.end()};
}

void SynchronousTrainer::update_at_server(std::span<float> mean, int owner) {
  if (!method().updates_at_server()) return;
  for (std::size_t t = 0; t < tensors_.size(); ++t) {
    const TensorSlot& slot = layout().tensors()[t];
    const methods::TensorInfo& info = tensors_[t];
    const std::span<std::byte> bytes = learner_.states().at(
        {owner, slot.parameter, Direction::kDown}, 4 * method().server_state(info));
    method().at_server(info, moment(), slice(mean, slot),
                       {reinterpret_cast<float*>(bytes.data()), bytes.size() / 4});
  }
}

void SynchronousTrainer::update() {
  if (!acts_.before_update(moment(), mean_)) return learner_.weights_changed();
  const double rate = learner_.rate(moment());
  if (device_update_) return device_update_->step(rate, mean_);
  const std::vector<std::span<float>> own = memory();
  if (method().before_update(moment(), mean_, own))
    updates_.step(phase_, rate, GradientView(mean_), weights_);
  acts_.after_update(moment(), mean_);
  method().after_update(moment(), weights_, own);
  learner_.weights_changed();
}

void SynchronousTrainer::end_step(StepTraffic& traffic) {
  update_at_server(mean_);
  update();
  gather_after(traffic);
  if (!exchange_->answers_weights()) return;
  exchange_->answer(traffic, weights_);
  learner_.weights_changed();
}

void SynchronousTrainer::compute_of(int worker, int thread) {
  const auto w = static_cast<std::size_t>(worker);
  OwnPasses passes(learner_, worker, thread, step_, *gradients_[w]);
  losses_[w] = method().compute(passes, moment(), weights_, memory(), local_sums_[w]);
}

}  // namespace gradwire::trainers
