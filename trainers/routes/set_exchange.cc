#include "trainers/routes/set_exchange.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "scenarios/methods.h"
#include "trainers/scenario_update.h"

namespace gradwire::trainers {
namespace {

/// Hands each bucket to the exchange of its set. A worker's own mean is put together from theirs.
class JoinedExchange final : public Exchange {
 public:
  JoinedExchange(std::vector<std::unique_ptr<Exchange>> parts,
                 std::vector<std::size_t> part_of_bucket, const Layout& layout)
      : parts_(std::move(parts)), part_of_(std::move(part_of_bucket)), layout_(layout) {
    GRADWIRE_ASSERT(part_of_.size() == layout.buckets().size());
    shares_scales_ = std::any_of(parts_.begin(), parts_.end(),
                                 [](const auto& part) { return part->shares_scales(); });
  }

  std::vector<Stage> stages(std::size_t bucket, Seconds aggregate) const override {
    return of(bucket).stages(bucket, aggregate);
  }
  bool shares_scales() const override { return shares_scales_; }
  bool shares_scales_of(std::size_t bucket) const override {
    return of(bucket).shares_scales_of(bucket);
  }
  void propose(int worker, GradientSpans gradients) override {
    for (const auto& part : parts_)
      if (part->shares_scales()) part->propose(worker, gradients);
  }
  void agree(StepTraffic& traffic) override {
    for (const auto& part : parts_)
      if (part->shares_scales()) part->agree(traffic);
  }
  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    for (const auto& part : parts_) part->encode(worker, gradients, step);
  }
  void combine(StepTraffic& traffic, std::span<float> mean) override {
    for (const auto& part : parts_) part->combine(traffic, mean);
    mean_ = mean;
  }
  bool answers_weights() const override {
    return std::ranges::any_of(parts_, [](const auto& part) { return part->answers_weights(); });
  }
  void answer(StepTraffic& traffic, std::span<float> weights) override {
    for (const auto& part : parts_) part->answer(traffic, weights);
  }
  void charge(StepTraffic& traffic) const override {
    for (const auto& part : parts_) part->charge(traffic);
  }
  CodecSeconds time_bucket(std::size_t bucket, GradientSpans gradients, int repetitions) override {
    return of(bucket).time_bucket(bucket, gradients, repetitions);
  }

  std::span<const float> replica(int worker) const override {
    std::vector<float>& own = replicas_[worker];
    own.resize(mean_.size());
    for (std::size_t b = 0; b < part_of_.size(); ++b) {
      const BucketSlot& bucket = layout_.buckets()[b];
      const std::span<const float> from = of(b).replica(worker);
      std::copy_n(from.begin() + bucket.first, bucket.count, own.begin() + bucket.first);
    }
    return own;
  }

 private:
  Exchange& of(std::size_t bucket) const { return *parts_[part_of_[bucket]]; }

  std::vector<std::unique_ptr<Exchange>> parts_;
  std::vector<std::size_t> part_of_;
  const Layout& layout_;
  bool shares_scales_ = false;
  std::span<const float> mean_;
  mutable std::map<int, std::vector<float>> replicas_;
};

std::string_view layer_of(std::string_view tensor) {
  return tensor.substr(0, std::min(tensor.rfind('.'), tensor.size()));
}

/// In forward order, of a layout whose model is not there.
std::vector<methods::TensorInfo> infos_of(const Layout& layout) {
  std::vector<methods::TensorInfo> infos(layout.tensors().size());
  for (const TensorSlot& slot : layout.tensors())
    infos[static_cast<std::size_t>(slot.parameter)] = {slot.name, slot.shape};
  for (methods::TensorInfo& info : infos)
    info.last_layer = layer_of(info.name) == layer_of(infos.back().name);
  return infos;
}

}  // namespace

std::vector<methods::TensorInfo> tensor_infos(std::span<const Parameter> parameters) {
  std::vector<methods::TensorInfo> infos;
  for (const Parameter& parameter : parameters)
    infos.push_back({parameter.name,
                     parameter.whole_layer ? std::span<const std::int64_t>() : parameter.shape,
                     layer_of(parameter.name) == layer_of(parameters.back().name)});
  return infos;
}

std::vector<std::size_t> sets_of(const methods::Method& method,
                                 std::span<const Parameter> parameters) {
  std::vector<std::size_t> sets;
  for (const methods::TensorInfo& info : tensor_infos(parameters)) {
    sets.push_back(method.set_of(info));
    GRADWIRE_ASSERT(sets.back() < method.sets());
  }
  return sets;
}

std::unique_ptr<Exchange> join_exchanges(std::vector<std::unique_ptr<Exchange>> parts,
                                         std::vector<std::size_t> part_of_bucket,
                                         const Layout& layout) {
  if (parts.size() == 1) return std::move(parts.front());
  return std::make_unique<JoinedExchange>(std::move(parts), std::move(part_of_bucket), layout);
}

std::unique_ptr<Exchange> make_set_exchange(const scenarios::Scenario& scenario,
                                            const methods::Method& method, std::size_t phase,
                                            const Layout& layout, StateStore& states,
                                            const std::function<void(ExchangeSettings&)>& change) {
  return make_set_exchange(
      scenario, method, [&](std::size_t set) { return method.plan(set, phase); }, layout, states,
      change);
}

std::unique_ptr<Exchange> make_set_exchange(
    const scenarios::Scenario& scenario, const methods::Method& method,
    const std::function<methods::SetPlan(std::size_t set)>& plan_of, const Layout& layout,
    StateStore& states, const std::function<void(ExchangeSettings&)>& change) {
  std::map<std::size_t, std::vector<std::size_t>> buckets;  // by set
  for (std::size_t b = 0; b < layout.buckets().size(); ++b)
    buckets[layout.buckets()[b].set].push_back(b);
  std::vector<std::unique_ptr<Exchange>> parts;
  std::vector<std::size_t> part_of(layout.buckets().size());
  for (const auto& [set, own] : buckets) {
    const methods::SetPlan plan = plan_of(set);
    ExchangeSettings settings = exchange_settings(scenario, plan.up);
    if (zero_stage(scenario) > 0 && scenarios::why_no_gradient_parts(scenario).empty())
      settings.all_reduce = sim::CollectiveKind::kRingReduceScatter;
    if (plan.down) settings.answer = compressors::make_codec(*plan.down);
    settings.weights_down = plan.weights_down;
    if (plan.masked) settings.kept = method.kept(infos_of(layout));
    if (buckets.size() > 1) settings.buckets = own;
    change(settings);
    for (const std::size_t b : own) part_of[b] = parts.size();
    parts.push_back(make_exchange(settings, layout, states));
  }
  return join_exchanges(std::move(parts), std::move(part_of), layout);
}

}  // namespace gradwire::trainers
