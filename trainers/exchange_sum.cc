#include <algorithm>
#include <cstring>

#include "trainers/exchange.h"
#include "trainers/measure.h"
#include "trainers/movers.h"
#include "trainers/sum_reduction.h"

namespace gradwire::trainers {
namespace {

using compressors::SideInputs;
using compressors::SumTerms;
using sim::CollectiveKind;

/// The elements of a tensor or bucket in a flat buffer.
template <typename Vector, typename Slot>
auto slice(Vector& values, const Slot& slot) {
  return std::span(values).subspan(static_cast<std::size_t>(slot.first),
                                   static_cast<std::size_t>(slot.count));
}

class SumExchange final : public Exchange {
 public:
  SumExchange(const ExchangeSettings& settings, const Layout& layout)
      : settings_(settings),
        layout_(layout),
        sum_(*settings.codec->sum_terms()),
        shared_(settings.codec->wants_shared_scale()),
        terms_(workers()),
        scales_(workers(), std::vector<float>(layout.tensors().size(), -1.0f)),
        agreed_(workers(), std::vector<float>(layout.tensors().size(), -1.0f)) {
    if (!settings.device) return;
    // A server adds what it unpacks; a hop between workers adds to the own, unrounded term.
    packed_ = settings.server || settings.device->packs_exactly();
    settings.device->choose(packed_ ? DevicePayload::kPacked : DevicePayload::kTerms);
  }

  std::vector<Stage> stages(std::size_t b, Seconds aggregate) const override;
  bool shares_scales() const override { return shared_; }

  void propose(int worker, GradientSpans gradients) override {
    if (settings_.device && shared_) return settings_.device->propose(worker, gradients);
    if (settings_.device) return;
    for (std::size_t t = 0; t < gradients.size(); ++t) {
      scales_[static_cast<std::size_t>(worker)][t] =
          settings_.codec->local_scale(view(t, gradients[t]));
    }
  }

  void agree(StepTraffic& traffic) override {
    if (settings_.device) read_device_scales();
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      if (!settings_.server) agree_among_workers(traffic, b);
      for (int s = 0; settings_.server && s < settings_.shards; ++s) agree_at_server(traffic, b, s);
    }
  }

  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    const auto w = static_cast<std::size_t>(worker);
    // Not before there is data: a replayed profile has none.
    terms_[w].resize(static_cast<std::size_t>(layout_.elements()));
    if (settings_.device) return settings_.device->encode(worker, gradients, agreed_[w], step);
    for (std::size_t t = 0; t < gradients.size(); ++t) {
      const TensorSlot& slot = layout_.tensors()[t];
      const compressors::Draws draws{RandomStream{settings_.seed, static_cast<std::uint32_t>(step),
                                                  static_cast<std::uint32_t>(worker),
                                                  static_cast<std::uint32_t>(slot.parameter)}};
      sum_.to_terms(view(t, gradients[t]), SideInputs{agreed_[w][t]}, draws,
                    slice(terms_[w], slot));
    }
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    if (settings_.device) read_device_terms();
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
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

  void charge(StepTraffic& traffic) const override;

  std::span<const float> replica(int worker) const override {
    return replica_[static_cast<std::size_t>(worker)];
  }

  CodecSeconds time_bucket(std::size_t b, GradientSpans gradients, int repetitions) override;

 private:
  std::size_t workers() const { return static_cast<std::size_t>(settings_.workers); }
  compressors::TensorView view(std::size_t t, std::span<const float> data) const {
    const TensorSlot& slot = layout_.tensors()[t];
    return {slot.name, slot.shape, data};
  }
  std::size_t main_stage() const { return shared_ ? (settings_.server ? 5 : 3) : 1; }
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
      std::copy(scales.begin(), scales.end(), scales_[w].begin());
    }
  }
  /// A device's payload of tensor t as terms.
  void read_terms(int worker, std::size_t t, std::span<std::uint32_t> terms) const {
    const Message payload = settings_.device->payload(worker, t);
    if (packed_) return sum_.unpack_store(payload, 1, terms);
    GRADWIRE_ASSERT(payload.size() == terms.size_bytes());
    std::memcpy(terms.data(), payload.data(), payload.size());
  }
  void read_device_terms() {
    settings_.device->wait();
    for (std::size_t w = 0; w < workers(); ++w) {
      for (std::size_t t = 0; t < layout_.tensors().size(); ++t) {
        read_terms(static_cast<int>(w), t, slice(terms_[w], layout_.tensors()[t]));
      }
    }
  }

  void to_values(std::size_t worker, std::span<float> values) const {
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    for (std::size_t t = 0; t < layout_.tensors().size(); ++t) {
      const TensorSlot& slot = layout_.tensors()[t];
      sum_.to_values(slice(terms_[worker], slot), SideInputs{agreed_[worker][t]}, factor,
                     slice(values, slot));
    }
  }

  /// The part of a bucket's tensors (or elements) that is a shard's.
  sim::ChunkRange part_of(std::size_t count, int shard) const {
    return sim::chunk_range(static_cast<std::int64_t>(count), settings_.shards, shard);
  }
  /// Of every worker, the proposed scales of a part of bucket b's tensors, as they travel: f32
  /// each.
  std::vector<Message> scale_messages(const BucketSlot& bucket, sim::ChunkRange part) const {
    std::vector<Message> messages;
    for (const std::vector<float>& own : scales_) {
      messages.push_back(std::as_bytes(
          std::span(own).subspan(bucket.first_tensor + static_cast<std::size_t>(part.first),
                                 static_cast<std::size_t>(part.count))));
    }
    return messages;
  }
  /// largest[t] = the largest scale of tensor t that has arrived, 0 if none has.
  static void take_largest(std::span<const Received> messages, std::span<float> largest) {
    std::fill(largest.begin(), largest.end(), 0.0f);
    for (const Received& message : messages) {
      std::vector<float> scales(largest.size());
      std::memcpy(scales.data(), message.bytes.data(), 4 * scales.size());
      for (const sim::ChunkRange& lost :
           touched_elements(message.gaps, 32, static_cast<std::int64_t>(scales.size())))
        std::fill_n(scales.begin() + lost.first, lost.count, 0.0f);
      for (std::size_t t = 0; t < largest.size(); ++t) largest[t] = std::max(largest[t], scales[t]);
    }
  }
  std::span<float> agreed(std::size_t worker, const BucketSlot& bucket) {
    return std::span(agreed_[worker]).subspan(bucket.first_tensor, bucket.tensors());
  }

  void agree_among_workers(StepTraffic& traffic, std::size_t b);
  void agree_at_server(StepTraffic& traffic, std::size_t b, int shard);
  void combine_among_workers(StepTraffic& traffic, std::size_t b);
  void combine_at_server(StepTraffic& traffic, std::size_t b, int shard);

  ExchangeSettings settings_;
  const Layout& layout_;
  const SumTerms& sum_;
  bool shared_;
  bool packed_ = false;                            ///< with a device: what it gives is packed
  std::vector<std::vector<std::uint32_t>> terms_;  ///< [worker][element]
  std::vector<std::vector<float>> scales_;         ///< [worker][tensor], proposed
  std::vector<std::vector<float>> agreed_;         ///< [worker][tensor], the largest
  std::vector<std::vector<float>> replica_;        ///< [worker][element]
};

std::vector<Stage> SumExchange::stages(std::size_t b, Seconds aggregate) const {
  const BucketSlot& bucket = layout_.buckets()[b];
  std::vector<Stage> stages;
  const auto worker = [&](sim::OpKind op, const char* label, StageCost cost) {
    stages.push_back({StageKind::kWorker, op, label, cost});
  };
  const auto server = [&](const char* label, StageCost cost) {
    stages.push_back({StageKind::kServer, sim::OpKind::kAggregate, label, cost});
  };
  const auto collective = [&](CollectiveKind kind, const char* label, std::int64_t elements) {
    stages.push_back({StageKind::kCollective, sim::OpKind::kCollective, label, StageCost::kNone,
                      collective_spec(kind, settings_.workers, elements, b)});
  };
  if (shared_) {
    const auto tensors = static_cast<std::int64_t>(bucket.tensors());
    worker(sim::OpKind::kEncode, "scale", StageCost::kScale);
    if (settings_.server) {
      collective(CollectiveKind::kPush, "push scales", tensors);
      server("largest scale", StageCost::kNone);
      collective(CollectiveKind::kPull, "pull scales", tensors);
    } else {
      collective(settings_.all_gather, "gather scales", tensors);
    }
  }
  worker(sim::OpKind::kEncode, "encode", StageCost::kEncode);
  if (settings_.server) {
    collective(CollectiveKind::kPush, "push", bucket.count);
    server("aggregate", StageCost::kAggregateAll);
    collective(CollectiveKind::kPull, "pull", bucket.count);
  } else {
    collective(settings_.all_reduce, "all-reduce", bucket.count);
    sim::CollectiveSpec& spec = stages.back().collective;
    spec = all_reduce_spec(settings_, bucket.count, b);
    const bool in_switches = spec.kind == CollectiveKind::kInNetworkAllReduce;
    if (!in_switches) spec.hop_per_element = aggregate / static_cast<double>(bucket.count);
    spec.width_bits.clear();
    for (int j = 1; j <= settings_.workers; ++j) {
      spec.width_bits.push_back(static_cast<std::uint8_t>(sum_.width_bits(j)));
    }
  }
  worker(sim::OpKind::kDecode, "decode", StageCost::kDecode);
  return stages;
}

void SumExchange::agree_among_workers(StepTraffic& traffic, std::size_t b) {
  const BucketSlot& bucket = layout_.buckets()[b];
  const std::vector<Message> messages =
      scale_messages(bucket, {0, static_cast<std::int64_t>(bucket.tensors())});
  GatherMover mover(messages);
  traffic.move(b, 1, sizes_of(messages), mover);
  for (std::size_t w = 0; w < workers(); ++w) {
    take_largest(mover.received(static_cast<int>(w)), agreed(w, bucket));
  }
}

void SumExchange::agree_at_server(StepTraffic& traffic, std::size_t b, int shard) {
  const BucketSlot& bucket = layout_.buckets()[b];
  const sim::ChunkRange part = part_of(bucket.tensors(), shard);
  const auto first = static_cast<std::size_t>(part.first);
  const auto count = static_cast<std::size_t>(part.count);
  const std::vector<Message> messages = scale_messages(bucket, part);
  ServerMover push(messages);
  traffic.move(b, 1, sizes_of(messages), push, static_cast<std::size_t>(shard));
  std::vector<float> largest(count);
  take_largest(push.received(), largest);
  const std::vector<Message> answers(workers(), std::as_bytes(std::span<const float>(largest)));
  ServerMover pull(answers);
  traffic.move(b, 3, sizes_of(answers), pull, static_cast<std::size_t>(shard));
  for (std::size_t w = 0; w < workers(); ++w) {
    const Received& answer = pull.received()[w];
    const std::span<float> own = agreed(w, bucket).subspan(first, count);
    take_largest({&answer, 1}, own);
    // Who does not learn what was agreed goes by its own.
    const auto offset = static_cast<std::ptrdiff_t>(bucket.first_tensor + first);
    for (const sim::ChunkRange& lost : touched_elements(answer.gaps, 32, part.count))
      std::copy_n(scales_[w].begin() + offset + lost.first, lost.count, own.begin() + lost.first);
  }
}

void SumExchange::combine_among_workers(StepTraffic& traffic, std::size_t b) {
  const BucketSlot& bucket = layout_.buckets()[b];
  std::vector<std::span<std::uint32_t>> terms;
  for (auto& own : terms_) terms.push_back(slice(own, bucket));
  reduce_among_workers(traffic, b, main_stage(), sum_, all_reduce_spec(settings_, bucket.count, b),
                       std::move(terms), replicas(traffic));
}

void SumExchange::combine_at_server(StepTraffic& traffic, std::size_t b, int shard) {
  const BucketSlot& bucket = layout_.buckets()[b];
  const sim::ChunkRange part = part_of(static_cast<std::size_t>(bucket.count), shard);
  std::vector<std::span<std::uint32_t>> terms;
  for (auto& own : terms_)
    terms.push_back(
        slice(own, bucket)
            .subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count)));
  reduce_at_server(traffic, b, main_stage(), static_cast<std::size_t>(shard), sum_, terms,
                   replicas(traffic));
}

void SumExchange::charge(StepTraffic& traffic) const {
  for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
    const BucketSlot& bucket = layout_.buckets()[b];
    const auto charge_each = [&](std::size_t stage, std::size_t size, std::int64_t times,
                                 std::size_t shard) {
      const std::vector<Bytes> sizes(workers(), Bytes(static_cast<std::int64_t>(size)));
      traffic.charge(b, stage, sizes, sizes[0] * (times * settings_.workers), shard);
    };
    for (int s = 0; settings_.server && s < settings_.shards; ++s) {
      const auto shard = static_cast<std::size_t>(s);
      const auto scales = 4 * static_cast<std::size_t>(part_of(bucket.tensors(), s).count);
      const auto n =
          static_cast<std::size_t>(part_of(static_cast<std::size_t>(bucket.count), s).count);
      if (shared_) charge_each(1, scales, 1, shard);
      if (shared_) charge_each(3, scales, 1, shard);
      charge_each(main_stage(), sum_.packed_size(n, 1), 1, shard);
      charge_each(main_stage() + 2, sum_.packed_size(n, settings_.workers), 1, shard);
    }
    if (settings_.server) continue;
    if (shared_) charge_each(1, 4 * bucket.tensors(), settings_.workers - 1, 0);
    traffic.charge(b, main_stage(), {},
                   reduction_bytes(stages(b, Seconds(0))[main_stage()].collective));
  }
}

CodecSeconds SumExchange::time_bucket(std::size_t b, GradientSpans gradients, int repetitions) {
  const BucketSlot& bucket = layout_.buckets()[b];
  const auto n = static_cast<std::size_t>(bucket.count);
  const auto each = [&](auto&& call) {
    return median_time(repetitions, [&] {
      for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
        const TensorSlot& slot = layout_.tensors()[t];
        call(t, static_cast<std::size_t>(slot.first - bucket.first),
             static_cast<std::size_t>(slot.count));
      }
    });
  };
  std::vector<float> scales(layout_.tensors().size(), -1.0f), values(n);
  std::vector<std::uint32_t> terms(n), total(n);
  // Adding is timed at half the workers, the middle of a ring's way.
  const int half = std::max(1, settings_.workers / 2);
  std::vector<std::byte> packed(sum_.packed_size(n, settings_.workers));
  const std::span<std::byte> partial = std::span(packed).first(sum_.packed_size(n, half));
  CodecSeconds times;
  if (settings_.device) {
    const DeviceEncoder::Times device = settings_.device->time_bucket(b, gradients, repetitions);
    times.scale = device.scale;
    times.encode = device.scale + device.encode;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      const TensorSlot& slot = layout_.tensors()[t];
      if (shared_) scales[t] = settings_.device->scales(-1)[t];
      read_terms(-1, t,
                 std::span(terms).subspan(static_cast<std::size_t>(slot.first - bucket.first),
                                          static_cast<std::size_t>(slot.count)));
    }
  } else if (shared_) {
    times.scale = each([&](std::size_t t, std::size_t, std::size_t) {
      scales[t] = settings_.codec->local_scale(view(t, gradients[t]));
    });
  }
  if (!settings_.device) {
    times.encode = times.scale + each([&](std::size_t t, std::size_t first, std::size_t count) {
                     sum_.to_terms(view(t, gradients[t]), SideInputs{scales[t]}, {},
                                   std::span(terms).subspan(first, count));
                   });
  }
  sum_.pack(terms, half, partial);
  times.aggregate = median_time(repetitions, [&] {
    std::fill(total.begin(), total.end(), 0u);
    sum_.unpack_add(partial, half, total);
    sum_.pack(total, half, partial);
  });
  sum_.pack(terms, settings_.workers, packed);
  times.decode =
      median_time(repetitions, [&] { sum_.unpack_store(packed, settings_.workers, total); });
  times.decode += each([&](std::size_t t, std::size_t first, std::size_t count) {
    sum_.to_values(std::span(total).subspan(first, count), SideInputs{scales[t]}, 1.0f,
                   std::span(values).subspan(first, count));
  });
  return times;
}

}  // namespace

std::unique_ptr<Exchange> make_sum_exchange(const ExchangeSettings& settings,
                                            const Layout& layout) {
  return std::make_unique<SumExchange>(settings, layout);
}

}  // namespace gradwire::trainers
