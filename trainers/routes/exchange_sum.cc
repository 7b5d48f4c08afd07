#include <algorithm>
#include <cstring>

#include "trainers/channel/framing.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/movers.h"
#include "trainers/routes/scale_agreement.h"
#include "trainers/routes/sum_groups.h"
#include "trainers/routes/sum_plan.h"
#include "trainers/routes/sum_reduction.h"
#include "trainers/routes/term_coder.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

class SumExchange final : public Exchange {
 public:
  SumExchange(const ExchangeSettings& settings, const Layout& layout, StateStore& states)
      : settings_(settings),
        layout_(layout),
        buckets_(buckets_of(settings, layout)),
        tensors_(tensors_of(buckets_, layout)),
        states_(states),
        groups_(*settings.codec, layout),
        plan_(settings_, layout_, groups_),
        coder_(settings_, layout_, groups_),
        scales_(settings_, layout_, groups_),
        shared_(groups_.shares_scales()),
        steps_(workers()),
        terms_(workers()) {
    if (settings.device) choose_payload();
  }

  std::vector<Stage> stages(std::size_t b, Seconds aggregate) const override {
    return plan_.stages(b, aggregate);
  }
  bool shares_scales() const override { return shared_; }

  void propose(int worker, GradientSpans gradients) override {
    if (!shared_) return;
    if (brings_values_) return settings_.device->encode(worker, gradients, {}, 0);
    if (settings_.device) return settings_.device->propose(worker, gradients);
    propose_here(worker, gradients);
  }

  void agree(StepTraffic& traffic) override {
    if (brings_values_) {
      read_device_values();
      for (std::size_t w = 0; w < workers(); ++w) propose_here(static_cast<int>(w), values_[w]);
    } else if (settings_.device) {
      read_device_scales();
    }
    for (const std::size_t b : buckets_)
      if (!groups_.scaled(b).empty()) scales_.agree(traffic, b);
  }

  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    const auto w = static_cast<std::size_t>(worker);
    // Not before there is data: a replayed profile has none.
    terms_[w].resize(static_cast<std::size_t>(layout_.elements()));
    steps_[w] = step;
    if (brings_values_) {
      // Where scales are shared, the values have come for those.
      if (!shared_) settings_.device->encode(worker, gradients, {}, step);
      return;
    }
    if (settings_.device)
      return settings_.device->encode(worker, gradients, scales_.agreed(w), step);
    encode_here(states_, worker, gradients, step, scales_.agreed(w), terms_[w]);
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    if (brings_values_) {
      if (!shared_) read_device_values();
      for (std::size_t w = 0; w < workers(); ++w)
        encode_here(states_, static_cast<int>(w), values_[w], steps_[w], scales_.agreed(w),
                    terms_[w]);
    } else if (settings_.device) {
      read_device_terms();
    }
    for (const std::size_t b : buckets_) {
      if (!settings_.server) combine_among_workers(traffic, b);
      for (int s = 0; settings_.server && s < settings_.shards; ++s)
        combine_at_server(traffic, b, s);
    }
    to_values(0, mean);
    if (!several(traffic)) return;
    replica_.resize(workers());
    for (std::size_t w = 0; w < workers(); ++w) {
      replica_[w].resize(mean.size());
      to_values(w, replica_[w]);
    }
  }

  void charge(StepTraffic& traffic) const override {
    for (const std::size_t b : buckets_) plan_.charge(traffic, b);
  }

  std::span<const float> replica(int worker) const override {
    return replica_[static_cast<std::size_t>(worker)];
  }

  CodecSeconds time_bucket(std::size_t b, GradientSpans gradients, int repetitions) override;

 private:
  std::size_t workers() const { return static_cast<std::size_t>(settings_.workers); }
  /// Codecs that remember something do so on the host, from the device's values. Otherwise the
  /// device encodes: a server adds what it unpacks, a hop between workers adds to the own,
  /// unrounded term.
  void choose_payload() {
    brings_values_ = groups_.remembers();
    packed_ = settings_.server || settings_.device->packs_exactly();
    settings_.device->choose(brings_values_ ? DevicePayload::kValues
                             : packed_      ? DevicePayload::kPacked
                                            : DevicePayload::kTerms);
  }

  void propose_here(int worker, GradientSpans gradients) {
    const std::span<float> own = scales_.proposed(static_cast<std::size_t>(worker));
    for (const std::size_t b : buckets_)
      for (const ScaleGroup& group : groups_.scaled(b))
        for (const std::size_t t : group)
          own[t] = coder_.scale_of(states_, worker, t, gradients[t]);
  }

  void encode_here(StateStore& states, int worker, GradientSpans gradients, std::int64_t step,
                   std::span<const float> scales, std::vector<std::uint32_t>& terms) const {
    for (const std::size_t t : tensors_)
      coder_.encode(states, worker, t, gradients[t], step, scales[t],
                    slice(terms, groups_.terms_of(t)));
  }

  /// Whether every worker's own sum is wanted, or worker 0's stands for all.
  bool several(const StepTraffic& traffic) const {
    return settings_.every_replica || traffic.loses();
  }
  std::size_t replicas(const StepTraffic& traffic) const {
    return several(traffic) ? workers() : 1;
  }

  void read_device_scales() {
    settings_.device->wait();
    for (std::size_t w = 0; w < workers(); ++w) {
      const std::span<const float> scales = settings_.device->scales(static_cast<int>(w));
      std::ranges::copy(scales, scales_.proposed(w).begin());
    }
  }
  void read_device_values() {
    settings_.device->wait();
    values_.resize(workers());
    for (std::size_t w = 0; w < workers(); ++w)
      values_[w] = device_values(*settings_.device, layout_, static_cast<int>(w));
  }
  /// A device's payload of tensor t as terms.
  void read_terms(int worker, std::size_t t, std::span<std::uint32_t> terms) const {
    const Message payload = settings_.device->payload(worker, t);
    if (packed_) return groups_.codec(t).sum_terms()->unpack_store(payload, 1, terms);
    GRADWIRE_ASSERT(payload.size() == terms.size_bytes());
    std::memcpy(terms.data(), payload.data(), payload.size());
  }
  void read_device_terms() {
    settings_.device->wait();
    for (std::size_t w = 0; w < workers(); ++w) {
      for (const std::size_t t : tensors_) {
        read_terms(static_cast<int>(w), t, slice(terms_[w], groups_.terms_of(t)));
      }
    }
  }

  void to_values(std::size_t worker, std::span<float> values) {
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    for (const std::size_t t : tensors_)
      coder_.to_values(t, terms_[worker], scales_.agreed(worker)[t], factor, values);
  }

  void combine_among_workers(StepTraffic& traffic, std::size_t b);
  void combine_at_server(StepTraffic& traffic, std::size_t b, int shard);
  void add_coding_times(std::size_t b, GradientSpans gradients, int repetitions,
                        std::span<float> scales, std::vector<std::uint32_t>& terms,
                        CodecSeconds& times);

  ExchangeSettings settings_;
  const Layout& layout_;
  std::vector<std::size_t> buckets_, tensors_;  ///< those that this exchange carries
  StateStore& states_;
  SumGroups groups_;
  SumPlan plan_;
  TermCoder coder_;
  ScaleAgreement scales_;
  bool shared_;                      ///< whether some tensor's scale is agreed on
  bool packed_ = false;              ///< with a device: what it gives is packed
  bool brings_values_ = false;       ///< with a device: the host encodes
  std::vector<std::int64_t> steps_;  ///< [worker]
  std::vector<std::vector<std::span<const float>>> values_;  ///< [worker][tensor], of a device
  std::vector<std::vector<std::uint32_t>> terms_;            ///< [worker][element]
  std::vector<std::vector<float>> replica_;                  ///< [worker][element]
};

void SumExchange::combine_among_workers(StepTraffic& traffic, std::size_t b) {
  for (std::size_t g = 0; g < groups_.of(b).size(); ++g) {
    const SumGroup& group = groups_.of(b)[g];
    std::vector<std::span<std::uint32_t>> terms;
    for (auto& own : terms_) terms.push_back(slice(own, group));
    reduce_among_workers(traffic, b, plan_.main_stage(b) + g, *group.sum,
                         plan_.reduction_of(b, group), std::move(terms), replicas(traffic));
  }
}

void SumExchange::combine_at_server(StepTraffic& traffic, std::size_t b, int shard) {
  for (std::size_t g = 0; g < groups_.of(b).size(); ++g) {
    const SumGroup& group = groups_.of(b)[g];
    const sim::ChunkRange part =
        shard_part(settings_, static_cast<std::size_t>(group.count), shard);
    std::vector<std::span<std::uint32_t>> terms;
    for (auto& own : terms_)
      terms.push_back(
          slice(own, group)
              .subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count)));
    reduce_at_server(traffic, {b, plan_.main_stage(b) + g, plan_.pull_stage(b, g)},
                     static_cast<std::size_t>(shard), *group.sum, terms, replicas(traffic));
  }
}

/// What the host does to a bucket's gradients: scales and terms, by tensor, of a fresh state.
void SumExchange::add_coding_times(std::size_t b, GradientSpans gradients, int repetitions,
                                   std::span<float> scales, std::vector<std::uint32_t>& terms,
                                   CodecSeconds& times) {
  const BucketSlot& bucket = layout_.buckets()[b];
  StateStore fresh;
  if (!groups_.scaled(b).empty())
    times.scale += median_time(repetitions, [&] {
      for (const ScaleGroup& group : groups_.scaled(b))
        for (const std::size_t t : group) scales[t] = coder_.scale_of(fresh, 0, t, gradients[t]);
    });
  times.encode +=
      times.scale + median_time(repetitions, [&] {
        for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t)
          coder_.encode(fresh, 0, t, gradients[t], 0, scales[t], slice(terms, groups_.terms_of(t)));
      });
}

CodecSeconds SumExchange::time_bucket(std::size_t b, GradientSpans gradients, int repetitions) {
  const BucketSlot& bucket = layout_.buckets()[b];
  std::vector<float> scales(layout_.tensors().size(), -1.0f);
  std::vector<float> values(static_cast<std::size_t>(layout_.elements()));
  std::vector<std::uint32_t> terms(values.size()), total(values.size());
  CodecSeconds times;
  DeviceEncoder::Times device;
  if (settings_.device) device = settings_.device->time_bucket(b, gradients, repetitions);
  if (brings_values_) {
    add_coding_times(b, device_values(*settings_.device, layout_, -1, b), repetitions, scales,
                     terms, times);
    times.encode += device.encode;
  } else if (!settings_.device) {
    add_coding_times(b, gradients, repetitions, scales, terms, times);
  } else {
    times.scale = device.scale;
    times.encode = device.scale + device.encode;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      if (shared_) scales[t] = settings_.device->scales(-1)[t];
      read_terms(-1, t, slice(terms, groups_.terms_of(t)));
    }
  }
  // Adding is timed at half the workers, the middle of a ring's way.
  const int half = std::max(1, settings_.workers / 2);
  for (const SumGroup& group : groups_.of(b)) {
    const auto n = static_cast<std::size_t>(group.count);
    std::vector<std::byte> packed(group.sum->packed_size(n, settings_.workers));
    const std::span<std::byte> partial = std::span(packed).first(group.sum->packed_size(n, half));
    const std::span<std::uint32_t> own = slice(terms, group), sum = slice(total, group);
    group.sum->pack(own, half, partial);
    times.aggregate += median_time(repetitions, [&] {
      std::fill(sum.begin(), sum.end(), 0u);
      group.sum->unpack_add(partial, half, sum);
      group.sum->pack(sum, half, partial);
    });
    group.sum->pack(own, settings_.workers, packed);
    times.decode +=
        median_time(repetitions, [&] { group.sum->unpack_store(packed, settings_.workers, sum); });
  }
  times.decode += median_time(repetitions, [&] {
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t)
      coder_.to_values(t, total, scales[t], 1.0f, values);
  });
  // fp32 values are terms as they stand; our copies of them are no codec's work.
  if (compressors::is_plain_codec(settings_.codec->name()) && !settings_.device)
    times.encode = times.decode = {};
  return times;
}

}  // namespace

std::unique_ptr<Exchange> make_sum_exchange(const ExchangeSettings& settings, const Layout& layout,
                                            StateStore& states) {
  return std::make_unique<SumExchange>(settings, layout, states);
}

}  // namespace gradwire::trainers
