#include "trainers/schedules/model_acts.h"

#include "base/serial.h"
#include "trainers/routes/set_exchange.h"

namespace gradwire::trainers {

ModelActs::ModelActs(Learner& learner, SetUpdates& updates)
    : learner_(learner), updates_(updates), acts_(learner.method().acts_on_model()) {
  if (!acts_) return;
  infos_ = tensor_infos(learner.model().parameters());
  remembered_.resize(learner.method().remembers(infos_));
  methods::SharedModel shared = model(learner.moment_at(0), {});
  learner.method().start(shared);
  learner.weights_changed();
}

methods::SharedModel ModelActs::model(const Moment& moment, std::span<float> mean) {
  const Layout& layout = learner_.layout();
  methods::SharedModel model{.moment = moment,
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
  return model;
}

void ModelActs::begin_step() {
  if (acts_) learner_.set_loss_scale(learner_.method().loss_scale(remembered_));
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

std::vector<scenarios::Figure> ModelActs::figures() const {
  std::vector<scenarios::Figure> figures;
  if (!acts_) return figures;
  for (const auto& [name, value] : learner_.method().figures(remembered_))
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
