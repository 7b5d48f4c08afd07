#include "trainers/schedules/own_passes.h"

#include <algorithm>

#include "trainers/schedules/whole_model.h"

namespace gradwire::trainers {

double OwnPasses::subtract_batch(std::span<const float> weights, std::span<const float> from,
                                 std::span<float> difference) {
  return of_batch(weights, [&](const Gradients& own) {
    return subtract_gradients(from, own, learner_.layout(), difference);
  });
}

double OwnPasses::add_batch(std::span<const float> weights, std::span<float> sum) {
  return of_batch(weights,
                  [&](const Gradients& own) { return add_gradients(own, learner_.layout(), sum); });
}

double OwnPasses::of_batch(std::span<const float> weights, const Learner::TakeGradient& take) {
  learner_.place_kept(thread_, weights);
  const bool records = worker_ == 0 && !recorded_;
  recorded_ = true;
  return learner_.pass_into(worker_, thread_, step_, step_, records, gradients_, take);
}

double OwnPasses::of_all(std::span<const float> weights, std::span<float> gradient) {
  constexpr std::size_t kPart = 256;  // samples at a time
  learner_.place_kept(thread_, weights);
  const std::span<const std::uint32_t> shard = learner_.sampler().shard(worker_);
  std::ranges::fill(gradient, 0.0f);
  double loss = 0;
  for (std::size_t at = 0; at < shard.size(); at += kPart) {
    const auto part = shard.subspan(at, std::min(kPart, shard.size() - at));
    const double share = static_cast<double>(part.size()) / static_cast<double>(shard.size());
    loss += share * learner_.pass_over(part, worker_, thread_, step_, false, gradients_);
    add(static_cast<float>(share), gradient);
  }
  return loss;
}

void OwnPasses::add(float factor, std::span<float> gradient) const {
  const auto tensors = gradients_.tensors();
  for (std::size_t t = 0; t < tensors.size(); ++t) {
    float* const out =
        gradient.data() + static_cast<std::size_t>(learner_.layout().tensors()[t].first);
    for (std::size_t e = 0; e < tensors[t].size(); ++e) out[e] += factor * tensors[t][e];
  }
}

}  // namespace gradwire::trainers
