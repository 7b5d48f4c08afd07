#include "trainers/schedules/model_acts.h"

#include <cmath>

#include "base/serial.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/kept_model.h"

namespace gradwire::trainers {

ModelActs::ModelActs(Learner& learner, SetUpdates& updates)
    : learner_(learner), updates_(updates), acts_(learner.method().acts_on_model()) {
  if (!acts_) return;
  infos_ = tensor_infos(learner.model().parameters());
  remembered_.resize(learner.method().remembers(infos_));
  methods::SharedModel shared = model(learner.moment_at(0), {});
  learner.method().start(shared);
  learner.weights_changed();
  if (learner.method().makes_model())
    file_bytes_ = keep_model(learner, made_model(shared.moment)).size();
  for (int worker = 0; worker < learner.workers(); ++worker)
    layer_memory_.push_back(learner.method().layer_memory(remembered_, worker));
  if (layer_memory_[0].empty()) layer_memory_.clear();
  learner.set_layer_memory(layer_memory_);
}

methods::SharedModel ModelActs::model(const Moment& moment, std::span<float> mean) {
  const Layout& layout = learner_.layout();
  const Moment next = learner_.moment_at(moment.step + 1);
  methods::SharedModel model{.moment = moment,
                             .next = next,
                             .last = next.step >= learner_.scenario().workload.steps,
                             .seed = learner_.scenario().seed,
                             .tensors = infos_,
                             .remembered = remembered_};
  const auto slot = [&layout](std::size_t tensor) -> const TensorSlot& {
    return layout.tensors()[layout.tensor_of(static_cast<int>(tensor))];
  };
  for (std::size_t t = 0; t < infos_.size(); ++t) {
    model.weights.push_back(slice(learner_.weights(), slot(t)));
    if (!mean.empty()) model.mean.push_back(slice(mean, slot(t)));
  }
  model.forget = [this, slot](std::size_t tensor, std::size_t element) {
    updates_.forget(slot(tensor).first + static_cast<std::int64_t>(element));
  };
  model.mean_momentum = [this, slot, mean](std::size_t tensor) {
    const TensorSlot& own = slot(tensor);
    if (const auto kept = updates_.mean_momentum(own.first, own.count)) return *kept;
    double sum = 0;
    for (const float value : slice(mean, own)) sum += std::fabs(value);
    return sum / static_cast<double>(own.count);
  };
  return model;
}

void ModelActs::begin_step(const Moment& moment) {
  if (!acts_) return;
  learner_.set_loss_scale(learner_.method().loss_scale(remembered_));
  learner_.watch_layers(learner_.method().watches_layers(moment, remembered_));
}

bool ModelActs::before_update(const Moment& moment, std::span<float> mean) {
  if (!acts_) return true;
  methods::SharedModel shared = model(moment, mean);
  return learner_.method().accept(shared);
}

void ModelActs::after_update(const Moment& moment, std::span<float> mean) {
  if (!acts_) return;
  methods::SharedModel shared = model(moment, mean);
  learner_.method().finish(shared);
}

std::vector<float> ModelActs::made_model(const Moment& moment) {
  std::vector<float> made(learner_.weights().begin(), learner_.weights().end());
  methods::SharedModel copy = model(moment, {});
  for (std::size_t t = 0; t < copy.weights.size(); ++t)
    copy.weights[t] = std::span(made).subspan(
        static_cast<std::size_t>(copy.weights[t].data() - learner_.weights().data()),
        copy.weights[t].size());
  learner_.method().make_model(copy);
  return made;
}

std::vector<scenarios::Figure> ModelActs::figures() const {
  std::vector<scenarios::Figure> figures;
  if (!acts_) return figures;
  for (const auto& [name, value] : learner_.method().figures(remembered_))
    figures.push_back({name, value});
  if (file_bytes_ > 0) {
    figures.push_back({"model_file_bytes", static_cast<double>(file_bytes_), "B"});
    figures.push_back(
        {"fp32_model_bytes", 4.0 * static_cast<double>(learner_.weights().size()), "B"});
  }
  if (layer_memory_.empty()) return figures;
  const Learner::WatchedPass pass = learner_.watched_pass();
  for (const auto& [name, value] : learner_.method().pass_figures(pass.layer_memory, pass.errors))
    figures.push_back({name, value});
  return figures;
}

void ModelActs::save(std::ostream& out) const {
  if (acts_) put_span(out, std::span<const float>(remembered_));
}

void ModelActs::load(std::istream& in) {
  if (acts_) get_into(in, std::span<float>(remembered_));
}

}  // namespace gradwire::trainers
