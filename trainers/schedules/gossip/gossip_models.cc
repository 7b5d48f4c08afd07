#include "trainers/schedules/gossip/gossip_models.h"

#include <algorithm>

#include "base/serial.h"
#include "trainers/schedules/memory_use.h"
#include "trainers/schedules/whole_model.h"

namespace gradwire::trainers {

GossipModels::GossipModels(Learner& learner, const sim::Mixing& mixing)
    : learner_(learner),
      mixing_(mixing),
      plan_(learner.method().gossip().value()),
      channel_(plans_up(learner.method(), 0), learner.layout(), learner.scenario().seed) {
  const auto workers = static_cast<std::size_t>(learner.workers());
  const auto threads = static_cast<std::size_t>(learner_.pool().threads());
  const std::vector<float> first(learner.weights().begin(), learner.weights().end());
  require_memory(learner_, "models");
  for (std::size_t w = 0; w < workers; ++w)
    updates_.emplace_back(learner.scenario(), learner.method(), learner.layout());
  x_.assign(workers, first);
  if (!plain()) y_.assign(workers, std::vector<float>(first.size()));
  if (updates_.front().watches_mixing()) start_.assign(workers, first);
  messages_.resize(workers);
  parts_.resize(workers);
  change_.resize(threads, std::vector<float>(plan_.differences ? first.size() : 0));
  for (std::size_t t = 0; t < threads; ++t) gradients_.push_back(learner.make_gradients());
}

double GossipModels::learn(int worker, int thread, std::int64_t step) {
  const auto w = static_cast<std::size_t>(worker);
  Gradients& gradients = *gradients_[static_cast<std::size_t>(thread)];
  if (!start_.empty()) std::ranges::copy(x_[w], start_[w].begin());
  learner_.place(thread, x_[w]);
  const double loss = learner_.pass(worker, thread, step, step, worker == 0, gradients);
  updates_[w].step(0, rate(step), GradientView(gradients.tensors()), x_[w]);
  return loss;
}

double GossipModels::pass(int worker, int thread, std::int64_t step, std::span<float> gradient) {
  Gradients& gradients = *gradients_[static_cast<std::size_t>(thread)];
  learner_.place(thread, x_[static_cast<std::size_t>(worker)]);
  return learner_.pass_into(worker, thread, step, step, worker == 0, gradients, gradient);
}

void GossipModels::update(int worker, std::int64_t step, std::span<const float> gradient) {
  const auto w = static_cast<std::size_t>(worker);
  if (!start_.empty()) std::ranges::copy(x_[w], start_[w].begin());
  updates_[w].step(0, rate(step), GradientView(gradient), x_[w]);
}

void GossipModels::encode(int worker, int thread, std::int64_t step) {
  const auto w = static_cast<std::size_t>(worker);
  if (plain()) return cut(worker);
  std::span<const float> values = x_[w];
  if (plan_.differences) {
    std::vector<float>& change = change_[static_cast<std::size_t>(thread)];
    learner_.check_local(worker, step, subtract_finite(x_[w], y_[w], change));
    values = change;
  } else {
    learner_.check_local(worker, step, all_finite(x_[w]));
    std::ranges::fill(y_[w], 0.0f);
  }
  channel_.encode(learner_.states(), worker, step, values, messages_[w]);
  const auto payloads = channel_.payloads(messages_[w]);
  for (std::size_t t = 0; t < payloads.size(); ++t) channel_.add(t, payloads[t], 1.0f, y_[w]);
  cut(worker);
}

/// A bucket's part of a message ends with its last payload.
void GossipModels::cut(int worker) {
  const auto w = static_cast<std::size_t>(worker);
  parts_[w].clear();
  if (channel_.plain()) {
    const auto values = plain() ? std::as_bytes(std::span<const float>(x_[w]))
                                : std::span<const std::byte>(messages_[w]);
    for (const BucketSlot& bucket : learner_.layout().buckets())
      parts_[w].push_back(values.subspan(4 * static_cast<std::size_t>(bucket.first),
                                         4 * static_cast<std::size_t>(bucket.count)));
    return;
  }
  const auto payloads = channel_.payloads(messages_[w]);
  const std::byte* begin = messages_[w].data();
  for (const BucketSlot& bucket : learner_.layout().buckets()) {
    const auto& last = payloads[bucket.end_tensor - 1];
    const std::byte* end = last.data() + last.size();
    parts_[w].emplace_back(begin, end);
    begin = end;
  }
}

std::span<const std::byte> GossipModels::message(int worker, std::size_t bucket) const {
  return parts_[static_cast<std::size_t>(worker)][bucket];
}

std::span<const std::byte> GossipModels::message(int worker) const {
  const auto w = static_cast<std::size_t>(worker);
  return plain() ? std::as_bytes(std::span<const float>(x_[w]))
                 : std::span<const std::byte>(messages_[w]);
}

std::vector<std::byte> GossipModels::message_to(std::span<const float> known, int worker,
                                                std::int64_t step) {
  GRADWIRE_ASSERT(plan_.differences);
  std::vector<float> change(known.size());
  learner_.check_local(worker, step,
                       subtract_finite(x_[static_cast<std::size_t>(worker)], known, change));
  std::vector<std::byte> message;
  channel_.encode(learner_.states(), worker, step, change, message);
  return message;
}

void GossipModels::hear(std::span<const std::byte> message, std::span<float> known) const {
  if (!plan_.differences) std::ranges::fill(known, 0.0f);
  if (plain()) {
    GRADWIRE_ASSERT(message.size() == known.size_bytes());
    std::ranges::copy(message, std::as_writable_bytes(known).begin());
    return;
  }
  const auto payloads = channel_.payloads(message);
  for (std::size_t t = 0; t < payloads.size(); ++t) channel_.add(t, payloads[t], 1.0f, known);
}

void GossipModels::mix_alone(int worker, std::int64_t step,
                             std::span<const std::span<const float>> known,
                             std::span<double> change) {
  const auto w = static_cast<std::size_t>(worker);
  std::span<const float> mine;
  if (!plain())
    mine = y_[w];
  else if (plan_.step != 1)
    mine = x_[w];
  mix_one(mixing_, worker, plan_.step, x_[w], mine, known, change, learner_.pool());
  if (!start_.empty()) updates_[w].mixed(0, rate(step), start_[w], x_[w]);
}

ModelSpread GossipModels::spread() {
  return spread_of(std::vector<std::span<float>>(x_.begin(), x_.end()), learner_.pool());
}

MixOutcome GossipModels::mix_all(std::int64_t step, bool learned) {
  const std::vector<std::span<float>> x(x_.begin(), x_.end());
  std::vector<std::span<const float>> y(y_.begin(), y_.end());
  if (plain() && plan_.step != 1) y.assign(x_.begin(), x_.end());
  const MixOutcome outcome = mix(mixing_, plan_.step, x, y, learner_.pool());
  if (learned && !start_.empty())
    learner_.pool().run(learner_.workers(), [&](int worker, int) {
      const auto w = static_cast<std::size_t>(worker);
      updates_[w].mixed(0, rate(step), start_[w], x_[w]);
    });
  return outcome;
}

std::vector<float> GossipModels::mean() {
  std::vector<float> mean(x_.front().size());
  mean_of(std::vector<std::span<float>>(x_.begin(), x_.end()), mean);
  return mean;
}

void GossipModels::take_mean() {
  mean_of(std::vector<std::span<float>>(x_.begin(), x_.end()), learner_.weights());
  learner_.weights_changed();
}

std::span<const float> GossipModels::known(int worker) const {
  const auto w = static_cast<std::size_t>(worker);
  return plain() ? x_[w] : y_[w];
}

std::int64_t GossipModels::method_bytes() const {
  const std::size_t model = x_.front().size();
  // Its own y and its neighbours', if messages are differences; the weights before its step.
  std::size_t most = 0;
  for (int i = 0; i < mixing_.workers(); ++i)
    most = std::max(most, mixing_.first_into(i + 1) - mixing_.first_into(i));
  const std::size_t copies = plan_.differences ? most + 1 : 0;
  return static_cast<std::int64_t>(4 * model * (copies + (start_.empty() ? 0 : 1)));
}

void GossipModels::save(std::ostream& out) const {
  for (std::size_t w = 0; w < x_.size(); ++w) {
    put_span(out, std::span<const float>(x_[w]));
    if (!plain()) put_span(out, std::span<const float>(y_[w]));
    if (!start_.empty()) put_span(out, std::span<const float>(start_[w]));
    updates_[w].save(out);
  }
}

void GossipModels::load(std::istream& in) {
  for (std::size_t w = 0; w < x_.size(); ++w) {
    get_into(in, std::span<float>(x_[w]));
    if (!plain()) get_into(in, std::span<float>(y_[w]));
    if (!start_.empty()) get_into(in, std::span<float>(start_[w]));
    updates_[w].load(in);
  }
}

}  // namespace gradwire::trainers
