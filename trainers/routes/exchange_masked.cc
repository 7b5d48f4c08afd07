#include <algorithm>

#include "trainers/routes/exchange.h"

namespace gradwire::trainers {
namespace {

/// The elements of masks that all workers know, packed one after the other and carried by another
/// exchange, of tensors that have only those. All other elements of the mean are 0.
class MaskedExchange final : public Exchange {
 public:
  MaskedExchange(const ExchangeSettings& settings, const Layout& layout, StateStore& states)
      : layout_(layout),
        tensors_(tensors_of(buckets_of(settings, layout), layout)),
        packed_(layout.resized(settings.kept)),
        inner_(make_exchange(without_masks(settings), packed_, states)),
        workers_(static_cast<std::size_t>(settings.workers)),
        packed_mean_(static_cast<std::size_t>(packed_.elements())) {
    GRADWIRE_ASSERT(settings.device == nullptr);  // such methods are computed on the host
    if (!settings.mask.empty()) find_places(settings.mask);
  }

  std::vector<Stage> stages(std::size_t bucket, Seconds aggregate) const override {
    return inner_->stages(bucket, aggregate);
  }
  bool shares_scales() const override { return inner_->shares_scales(); }
  bool shares_scales_of(std::size_t bucket) const override {
    return inner_->shares_scales_of(bucket);
  }
  void propose(int worker, GradientSpans gradients) override {
    if (shares_scales()) inner_->propose(worker, pack(gradients, of(worker)));
  }
  void agree(StepTraffic& traffic) override { inner_->agree(traffic); }
  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    inner_->encode(worker, pack(gradients, of(worker)), step);
  }
  void combine(StepTraffic& traffic, std::span<float> mean) override {
    inner_->combine(traffic, packed_mean_);
    unpack(packed_mean_, mean);
  }
  void charge(StepTraffic& traffic) const override { inner_->charge(traffic); }
  std::span<const float> replica(int worker) const override {
    std::vector<float>& own = of(worker).replica;
    own.resize(static_cast<std::size_t>(layout_.elements()));
    unpack(inner_->replica(worker), own);
    return own;
  }
  CodecSeconds time_bucket(std::size_t bucket, GradientSpans gradients, int repetitions) override {
    Packed scratch;
    return inner_->time_bucket(bucket, pack(gradients, scratch), repetitions);
  }

 private:
  /// Of one worker; spans by tensor, those of other exchanges' tensors empty.
  struct Packed {
    std::vector<float> values;
    std::vector<std::span<const float>> spans;
    std::vector<float> replica;
  };

  static ExchangeSettings without_masks(ExchangeSettings settings) {
    settings.kept.clear();
    settings.mask = {};
    return settings;
  }
  Packed& of(int worker) const { return workers_[static_cast<std::size_t>(worker)]; }

  /// places_[tensor]: the elements of its mask, ascending.
  void find_places(std::span<const float> masks) {
    std::vector<std::size_t> first(layout_.tensors().size() + 1, 0);  // by parameter
    for (std::size_t p = 0; p + 1 < first.size(); ++p)
      first[p + 1] =
          first[p] +
          static_cast<std::size_t>(layout_.tensors()[layout_.tensor_of(static_cast<int>(p))].count);
    GRADWIRE_ASSERT(masks.size() >= first.back());
    places_.resize(layout_.tensors().size());
    for (const std::size_t t : tensors_) {
      const TensorSlot& slot = layout_.tensors()[t];
      const float* const mask = masks.data() + first[static_cast<std::size_t>(slot.parameter)];
      for (std::int64_t e = 0; e < slot.count; ++e)
        if (mask[e] != 0) places_[t].push_back(static_cast<std::uint32_t>(e));
      GRADWIRE_ASSERT(places_[t].size() == static_cast<std::size_t>(packed_.tensors()[t].count));
    }
  }

  GradientSpans pack(GradientSpans gradients, Packed& packed) const {
    GRADWIRE_ASSERT(!places_.empty());  // a replayed profile has no gradients
    packed.values.resize(packed_mean_.size());
    packed.spans.assign(layout_.tensors().size(), {});
    for (const std::size_t t : tensors_) {
      float* out = packed.values.data() + packed_.tensors()[t].first;
      packed.spans[t] = {out, places_[t].size()};
      const float* const from = gradients[t].data();
      for (const std::uint32_t e : places_[t]) *out++ = from[e];
    }
    return packed.spans;
  }

  void unpack(std::span<const float> values, std::span<float> mean) const {
    for (const std::size_t t : tensors_) {
      const TensorSlot& slot = layout_.tensors()[t];
      float* const out = mean.data() + slot.first;
      std::fill_n(out, slot.count, 0.0f);
      const float* from = values.data() + packed_.tensors()[t].first;
      for (const std::uint32_t e : places_[t]) out[e] = *from++;
    }
  }

  const Layout& layout_;
  std::vector<std::size_t> tensors_;  ///< those that this exchange carries
  Layout packed_;
  std::unique_ptr<Exchange> inner_;
  mutable std::vector<Packed> workers_;
  std::vector<float> packed_mean_;
  std::vector<std::vector<std::uint32_t>> places_;
};

}  // namespace

std::unique_ptr<Exchange> make_masked_exchange(const ExchangeSettings& settings,
                                               const Layout& layout, StateStore& states) {
  return std::make_unique<MaskedExchange>(settings, layout, states);
}

}  // namespace gradwire::trainers
