#include <algorithm>
#include <cstring>

#include "trainers/channel/framing.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/movers.h"
#include "trainers/routes/sum_groups.h"
#include "trainers/routes/sum_reduction.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

using compressors::SideInputs;
using compressors::SumTerms;
using sim::CollectiveKind;

class SumExchange final : public Exchange {
 public:
  SumExchange(const ExchangeSettings& settings, const Layout& layout, StateStore& states)
      : settings_(settings),
        layout_(layout),
        buckets_(buckets_of(settings, layout)),
        tensors_(tensors_of(buckets_, layout)),
        states_(states),
        groups_(*settings.codec, layout),
        shared_(groups_.shares_scales()),
        steps_(workers()),
        terms_(workers()),
        scales_(workers(), std::vector<float>(layout.tensors().size(), -1.0f)),
        agreed_(workers(), std::vector<float>(layout.tensors().size(), -1.0f)) {
    for (std::size_t t = 0; t < layout.tensors().size(); ++t)
      scratch_size_ = std::max(scratch_size_, groups_.codec(t).scratch_size(spec(t)));
    if (settings.device) choose_payload();
  }

  std::vector<Stage> stages(std::size_t b, Seconds aggregate) const override;
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
    for (const std::size_t b : buckets_) {
      if (groups_.scaled(b).empty()) continue;
      if (!settings_.server) agree_among_workers(traffic, b);
      for (int s = 0; settings_.server && s < settings_.shards; ++s) agree_at_server(traffic, b, s);
    }
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
    if (settings_.device) return settings_.device->encode(worker, gradients, agreed_[w], step);
    encode_here(states_, worker, gradients, step, agreed_[w], terms_[w]);
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    if (brings_values_) {
      if (!shared_) read_device_values();
      for (std::size_t w = 0; w < workers(); ++w)
        encode_here(states_, static_cast<int>(w), values_[w], steps_[w], agreed_[w], terms_[w]);
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
  compressors::TensorSpec spec(std::size_t t) const { return spec_of(layout_.tensors()[t]); }
  /// The bucket's first collective of terms; those of its other groups follow.
  std::size_t main_stage(std::size_t b) const {
    if (groups_.scaled(b).empty()) return 1;
    return settings_.server ? 5 : 3;
  }
  /// Where a group's sum comes back from the server: after all pushes and the server's own work.
  std::size_t pull_stage(std::size_t b, std::size_t group) const {
    return main_stage(b) + groups_.of(b).size() + 1 + group;
  }

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

  std::span<std::byte> state_of(StateStore& states, int worker, std::size_t t) const {
    return states.at({worker, layout_.tensors()[t].parameter},
                     groups_.codec(t).state_size(spec(t)));
  }

  float scale_of(StateStore& states, int worker, std::size_t t, std::span<const float> data) const {
    return groups_.codec(t).proposed_scale(view(t, data), state_of(states, worker, t),
                                           thread_scratch(scratch_size_));
  }

  void propose_here(int worker, GradientSpans gradients) {
    std::vector<float>& own = scales_[static_cast<std::size_t>(worker)];
    for (const std::size_t b : buckets_)
      for (const ScaleGroup& group : groups_.scaled(b))
        for (const std::size_t t : group) own[t] = scale_of(states_, worker, t, gradients[t]);
  }

  void encode_tensor(StateStore& states, int worker, std::size_t t, std::span<const float> data,
                     std::int64_t step, float scale, std::span<std::uint32_t> terms) const {
    const TensorSlot& slot = layout_.tensors()[t];
    compressors::TermsJob job;
    job.tensor = view(t, data);
    job.side.shared_scale = scale;
    job.draws.stream = {settings_.seed, static_cast<std::uint32_t>(step),
                        static_cast<std::uint32_t>(worker),
                        static_cast<std::uint32_t>(slot.parameter)};
    job.state = state_of(states, worker, t);
    job.terms = terms;
    groups_.codec(t).encode_terms(job, thread_scratch(scratch_size_));
  }

  void encode_here(StateStore& states, int worker, GradientSpans gradients, std::int64_t step,
                   std::span<const float> scales, std::vector<std::uint32_t>& terms) const {
    for (const std::size_t t : tensors_)
      encode_tensor(states, worker, t, gradients[t], step, scales[t],
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
      std::copy(scales.begin(), scales.end(), scales_[w].begin());
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

  void to_values(std::size_t worker, std::span<float> values) const {
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    for (const std::size_t t : tensors_) {
      const TensorSlot& slot = layout_.tensors()[t];
      groups_.codec(t).sum_terms()->to_values(slice(terms_[worker], groups_.terms_of(t)),
                                              SideInputs{agreed_[worker][t]}, factor,
                                              slice(values, slot));
    }
  }

  /// The part of a bucket's tensors (or elements) that is a shard's.
  sim::ChunkRange part_of(std::size_t count, int shard) const {
    return sim::chunk_range(static_cast<std::int64_t>(count), settings_.shards, shard);
  }
  /// The scales of a bucket that travel, or a part of them, out of those by tensor: of each group
  /// the largest.
  std::vector<float> picked(std::span<const float> scales, std::size_t b,
                            sim::ChunkRange part) const {
    std::vector<float> some;
    for (std::int64_t i = part.first; i < part.first + part.count; ++i) {
      float& largest = some.emplace_back(0.0f);
      for (const std::size_t t : groups_.scaled(b)[static_cast<std::size_t>(i)])
        largest = std::max(largest, scales[t]);
    }
    return some;
  }
  /// The reverse.
  void place(std::span<const float> some, std::size_t b, sim::ChunkRange part,
             std::span<float> scales) const {
    for (std::size_t i = 0; i < some.size(); ++i)
      for (const std::size_t t : groups_.scaled(b)[static_cast<std::size_t>(part.first) + i])
        scales[t] = some[i];
  }
  /// Of every worker, the proposed scales of a part of bucket b's, as they travel: f32 each.
  std::vector<std::vector<float>> proposals(std::size_t b, sim::ChunkRange part) const {
    std::vector<std::vector<float>> all;
    for (const std::vector<float>& own : scales_) all.push_back(picked(own, b, part));
    return all;
  }
  static std::vector<Message> messages_of(const std::vector<std::vector<float>>& proposals) {
    std::vector<Message> messages;
    for (const std::vector<float>& own : proposals)
      messages.push_back(std::as_bytes(std::span(own)));
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
  void agree_among_workers(StepTraffic& traffic, std::size_t b);
  void agree_at_server(StepTraffic& traffic, std::size_t b, int shard);
  void combine_among_workers(StepTraffic& traffic, std::size_t b);
  void combine_at_server(StepTraffic& traffic, std::size_t b, int shard);
  sim::CollectiveSpec reduction_of(std::size_t b, const SumGroup& group) const;
  void charge_each(StepTraffic& traffic, std::size_t b, std::size_t stage, std::size_t size,
                   std::int64_t times, std::size_t shard) const;
  void charge_server(StepTraffic& traffic, std::size_t b) const;
  void charge_workers(StepTraffic& traffic, std::size_t b) const;
  void add_coding_times(std::size_t b, GradientSpans gradients, int repetitions,
                        std::span<float> scales, std::vector<std::uint32_t>& terms,
                        CodecSeconds& times);

  ExchangeSettings settings_;
  const Layout& layout_;
  std::vector<std::size_t> buckets_, tensors_;  ///< those that this exchange carries
  StateStore& states_;
  SumGroups groups_;
  bool shared_;                 ///< whether some tensor's scale is agreed on
  bool packed_ = false;         ///< with a device: what it gives is packed
  bool brings_values_ = false;  ///< with a device: the host encodes
  std::size_t scratch_size_ = 0;
  std::vector<std::int64_t> steps_;                          ///< [worker]
  std::vector<std::vector<std::span<const float>>> values_;  ///< [worker][tensor], of a device
  std::vector<std::vector<std::uint32_t>> terms_;            ///< [worker][element]
  std::vector<std::vector<float>> scales_;   ///< [worker][tensor], proposed; -1 = none
  std::vector<std::vector<float>> agreed_;   ///< [worker][tensor], the largest
  std::vector<std::vector<float>> replica_;  ///< [worker][element]
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
  if (const std::size_t scaled = groups_.scaled(b).size(); scaled > 0) {
    const auto scales = static_cast<std::int64_t>(scaled);
    worker(sim::OpKind::kEncode, "scale", StageCost::kScale);
    if (settings_.server) {
      collective(CollectiveKind::kPush, "push scales", scales);
      server("largest scale", StageCost::kNone);
      collective(CollectiveKind::kPull, "pull scales", scales);
    } else {
      collective(settings_.all_gather, "gather scales", scales);
    }
  }
  worker(sim::OpKind::kEncode, "encode", StageCost::kEncode);
  for (const SumGroup& group : groups_.of(b)) {
    if (settings_.server) {
      collective(CollectiveKind::kPush, "push", group.count);
      continue;
    }
    const bool by_parts = settings_.all_reduce == CollectiveKind::kRingReduceScatter;
    collective(settings_.all_reduce, by_parts ? "reduce-scatter" : "all-reduce", group.count);
    stages.back().collective = reduction_of(b, group);
    if (stages.back().collective.kind != CollectiveKind::kInNetworkAllReduce)  // in switches
      stages.back().collective.hop_per_element = aggregate / static_cast<double>(bucket.count);
  }
  if (settings_.server) {
    server("aggregate", StageCost::kAggregateAll);
    for (const SumGroup& group : groups_.of(b))
      collective(CollectiveKind::kPull, "pull", group.count);
  }
  worker(sim::OpKind::kDecode, "decode", StageCost::kDecode);
  return stages;
}

sim::CollectiveSpec SumExchange::reduction_of(std::size_t b, const SumGroup& group) const {
  sim::CollectiveSpec spec = all_reduce_spec(settings_, group.count, b);
  spec.width_bits.clear();
  for (int j = 1; j <= settings_.workers; ++j)
    spec.width_bits.push_back(static_cast<std::uint8_t>(group.sum->width_bits(j)));
  return spec;
}

void SumExchange::agree_among_workers(StepTraffic& traffic, std::size_t b) {
  const sim::ChunkRange all{0, static_cast<std::int64_t>(groups_.scaled(b).size())};
  const std::vector<std::vector<float>> proposed = proposals(b, all);
  const std::vector<Message> messages = messages_of(proposed);
  GatherMover mover(messages);
  traffic.move(b, 1, sizes_of(messages), mover);
  std::vector<float> largest(groups_.scaled(b).size());
  for (std::size_t w = 0; w < workers(); ++w) {
    take_largest(mover.received(static_cast<int>(w)), largest);
    place(largest, b, all, agreed_[w]);
  }
}

void SumExchange::agree_at_server(StepTraffic& traffic, std::size_t b, int shard) {
  const sim::ChunkRange part = part_of(groups_.scaled(b).size(), shard);
  const std::vector<std::vector<float>> proposed = proposals(b, part);
  const std::vector<Message> messages = messages_of(proposed);
  ServerMover push(messages);
  traffic.move(b, 1, sizes_of(messages), push, static_cast<std::size_t>(shard));
  std::vector<float> largest(static_cast<std::size_t>(part.count));
  take_largest(push.received(), largest);
  const std::vector<Message> answers(workers(), std::as_bytes(std::span<const float>(largest)));
  ServerMover pull(answers);
  traffic.move(b, 3, sizes_of(answers), pull, static_cast<std::size_t>(shard));
  std::vector<float> own(largest.size());
  for (std::size_t w = 0; w < workers(); ++w) {
    const Received& answer = pull.received()[w];
    take_largest({&answer, 1}, own);
    // Who does not learn what was agreed goes by its own.
    for (const sim::ChunkRange& lost : touched_elements(answer.gaps, 32, part.count))
      std::copy_n(proposed[w].begin() + lost.first, lost.count, own.begin() + lost.first);
    place(own, b, part, agreed_[w]);
  }
}

void SumExchange::combine_among_workers(StepTraffic& traffic, std::size_t b) {
  for (std::size_t g = 0; g < groups_.of(b).size(); ++g) {
    const SumGroup& group = groups_.of(b)[g];
    std::vector<std::span<std::uint32_t>> terms;
    for (auto& own : terms_) terms.push_back(slice(own, group));
    reduce_among_workers(traffic, b, main_stage(b) + g, *group.sum, reduction_of(b, group),
                         std::move(terms), replicas(traffic));
  }
}

void SumExchange::combine_at_server(StepTraffic& traffic, std::size_t b, int shard) {
  for (std::size_t g = 0; g < groups_.of(b).size(); ++g) {
    const SumGroup& group = groups_.of(b)[g];
    const sim::ChunkRange part = part_of(static_cast<std::size_t>(group.count), shard);
    std::vector<std::span<std::uint32_t>> terms;
    for (auto& own : terms_)
      terms.push_back(
          slice(own, group)
              .subspan(static_cast<std::size_t>(part.first), static_cast<std::size_t>(part.count)));
    reduce_at_server(traffic, {b, main_stage(b) + g, pull_stage(b, g)},
                     static_cast<std::size_t>(shard), *group.sum, terms, replicas(traffic));
  }
}

void SumExchange::charge(StepTraffic& traffic) const {
  for (const std::size_t b : buckets_)
    settings_.server ? charge_server(traffic, b) : charge_workers(traffic, b);
}

/// Every worker's message of that size, each sent so many times.
void SumExchange::charge_each(StepTraffic& traffic, std::size_t b, std::size_t stage,
                              std::size_t size, std::int64_t times, std::size_t shard) const {
  const std::vector<Bytes> sizes(workers(), Bytes(static_cast<std::int64_t>(size)));
  traffic.charge(b, stage, sizes, sizes[0] * (times * settings_.workers), shard);
}

void SumExchange::charge_server(StepTraffic& traffic, std::size_t b) const {
  for (int s = 0; s < settings_.shards; ++s) {
    const auto shard = static_cast<std::size_t>(s);
    if (const std::size_t scaled = groups_.scaled(b).size(); scaled > 0)
      for (const std::size_t stage : {1, 3})
        charge_each(traffic, b, stage, 4 * static_cast<std::size_t>(part_of(scaled, s).count), 1,
                    shard);
    for (std::size_t g = 0; g < groups_.of(b).size(); ++g) {
      const SumGroup& group = groups_.of(b)[g];
      const auto n =
          static_cast<std::size_t>(part_of(static_cast<std::size_t>(group.count), s).count);
      charge_each(traffic, b, main_stage(b) + g, group.sum->packed_size(n, 1), 1, shard);
      charge_each(traffic, b, pull_stage(b, g), group.sum->packed_size(n, settings_.workers), 1,
                  shard);
    }
  }
}

void SumExchange::charge_workers(StepTraffic& traffic, std::size_t b) const {
  if (const std::size_t scaled = groups_.scaled(b).size(); scaled > 0)
    charge_each(traffic, b, 1, 4 * scaled, settings_.workers - 1, 0);
  for (std::size_t g = 0; g < groups_.of(b).size(); ++g)
    traffic.charge(b, main_stage(b) + g, {}, reduction_bytes(reduction_of(b, groups_.of(b)[g])));
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
        for (const std::size_t t : group) scales[t] = scale_of(fresh, 0, t, gradients[t]);
    });
  times.encode +=
      times.scale + median_time(repetitions, [&] {
        for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t)
          encode_tensor(fresh, 0, t, gradients[t], 0, scales[t], slice(terms, groups_.terms_of(t)));
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
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      groups_.codec(t).sum_terms()->to_values(slice(total, groups_.terms_of(t)),
                                              SideInputs{scales[t]}, 1.0f,
                                              slice(values, layout_.tensors()[t]));
    }
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
