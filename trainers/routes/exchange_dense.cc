#include <algorithm>
#include <array>
#include <cstring>

#include "trainers/routes/exchange.h"
#include "trainers/routes/movers.h"
#include "trainers/routes/sum_reduction.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

using sim::CollectiveKind;

/// fp32 without a codec. The order of additions is the ring's (chunk c starts with rank c, then
/// c + 1, ...) or the server's (rank 0, 1, ...), so the result equals, bit for bit, what moving
/// every hop gives; but each gradient is read once, and nothing is copied. Where something is
/// missing, or messages are kept, every hop is moved.
class DenseExchange final : public Exchange {
 public:
  DenseExchange(const ExchangeSettings& settings, const Layout& layout)
      : settings_(settings),
        layout_(layout),
        buckets_(buckets_of(settings, layout)),
        gradients_(static_cast<std::size_t>(settings.workers)) {
    if (settings_.device) settings_.device->choose(DevicePayload::kValues);
  }

  std::vector<Stage> stages(std::size_t bucket, Seconds aggregate) const override {
    const std::int64_t elements = layout_.buckets()[bucket].count;
    const auto collective = [&](CollectiveKind kind, const char* label) {
      Stage stage{StageKind::kCollective, sim::OpKind::kCollective, label, StageCost::kNone,
                  collective_spec(kind, settings_.workers, elements, bucket)};
      stage.collective.hop_per_element = aggregate / static_cast<double>(elements);
      return stage;
    };
    if (by_parts()) return {collective(CollectiveKind::kRingReduceScatter, "reduce-scatter")};
    if (!settings_.server) return {collective(CollectiveKind::kRingAllReduce, "all-reduce")};
    return {collective(CollectiveKind::kPush, "push"),
            {StageKind::kServer, sim::OpKind::kAggregate, "aggregate", StageCost::kAggregateAll},
            collective(CollectiveKind::kPull, "pull")};
  }

  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    if (settings_.device) return settings_.device->encode(worker, gradients, {}, step);
    gradients_[static_cast<std::size_t>(worker)].assign(gradients.begin(), gradients.end());
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    mean_ = mean;
    if (settings_.device) read_device();
    if (traffic.needs_hops()) return move_hops(traffic, mean);
    replica_.clear();
    charge(traffic);
    for (const std::size_t b : buckets_) {
      const BucketSlot& bucket = layout_.buckets()[b];
      const int chunks = settings_.server ? 1 : settings_.workers;
      for (int chunk = 0; chunk < chunks; ++chunk) {
        add_chunk(bucket, sim::chunk_range(bucket.count, chunks, chunk), chunk, mean);
      }
    }
  }

  void charge(StepTraffic& traffic) const override {
    for (const std::size_t b : buckets_) charge_bucket(traffic, b);
  }

  std::span<const float> replica(int worker) const override {
    if (replica_.empty()) return mean_;
    return replica_[static_cast<std::size_t>(worker)];
  }

  CodecSeconds time_bucket(std::size_t bucket, GradientSpans gradients, int repetitions) override {
    std::vector<float> sum(static_cast<std::size_t>(layout_.buckets()[bucket].count));
    CodecSeconds times;
    std::vector<std::span<const float>> copies;
    if (settings_.device) {
      // fp32 needs no codec, but on its way to the network it crosses from the device to the host.
      times.encode = settings_.device->time_bucket(bucket, gradients, repetitions).encode;
      copies = device_values(*settings_.device, layout_, -1, bucket);
      gradients = copies;
    }
    times.aggregate = median_time(repetitions, [&] {
      float* out = sum.data();
      const BucketSlot& slot = layout_.buckets()[bucket];
      for (std::size_t t = slot.first_tensor; t < slot.end_tensor; ++t) {
        for (const float value : gradients[t]) *out++ += value;
      }
    });
    return times;
  }

 private:
  /// Each worker ends with a part; the mean has them all.
  bool by_parts() const { return settings_.all_reduce == CollectiveKind::kRingReduceScatter; }

  void charge_bucket(StepTraffic& traffic, std::size_t b) const {
    const std::int64_t bytes = 4 * layout_.buckets()[b].count;
    if (!settings_.server) {
      const int times = by_parts() ? 1 : 2;
      traffic.charge(b, 0, {}, Bytes(times * (settings_.workers - 1) * bytes));
      return;
    }
    for (int s = 0; s < settings_.shards; ++s) {
      const std::int64_t part = sim::chunk_range(bytes / 4, settings_.shards, s).count * 4;
      const std::vector<Bytes> sizes(gradients_.size(), Bytes(part));
      for (const std::size_t stage : {0, 2}) {
        traffic.charge(b, stage, sizes, Bytes(settings_.workers * part),
                       static_cast<std::size_t>(s));
      }
    }
  }

  void read_device() {
    settings_.device->wait();
    for (std::size_t w = 0; w < gradients_.size(); ++w) {
      gradients_[w] = device_values(*settings_.device, layout_, static_cast<int>(w));
    }
  }

  /// What each worker receives, as its own mean.
  void move_hops(StepTraffic& traffic, std::span<float> mean) {
    const compressors::SumTerms& codec = *settings_.codec->sum_terms();
    terms_.resize(gradients_.size());
    for (std::size_t w = 0; w < terms_.size(); ++w) {
      terms_[w].resize(mean.size());
      for (std::size_t t = 0; t < layout_.tensors().size(); ++t)
        std::memcpy(terms_[w].data() + layout_.tensors()[t].first, gradients_[w][t].data(),
                    gradients_[w][t].size_bytes());
    }
    for (const std::size_t b : buckets_) move_bucket(traffic, b, codec);
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    replica_.resize(terms_.size());
    for (std::size_t w = 0; w < terms_.size(); ++w) {
      replica_[w].resize(mean.size());
      codec.to_values(terms_[w], {}, factor, replica_[w]);
    }
    for (const std::size_t b : buckets_) {
      const BucketSlot& bucket = layout_.buckets()[b];
      std::copy_n(replica_[0].begin() + bucket.first, bucket.count, mean.begin() + bucket.first);
    }
  }

  void move_bucket(StepTraffic& traffic, std::size_t b, const compressors::SumTerms& codec) {
    const BucketSlot& bucket = layout_.buckets()[b];
    const int parts = settings_.server ? settings_.shards : 1;
    for (int s = 0; s < parts; ++s) {
      const sim::ChunkRange part = sim::chunk_range(bucket.count, parts, s);
      std::vector<std::span<std::uint32_t>> terms;
      for (auto& own : terms_)
        terms.push_back(std::span(own).subspan(static_cast<std::size_t>(bucket.first + part.first),
                                               static_cast<std::size_t>(part.count)));
      if (settings_.server)
        reduce_at_server(traffic, {b, 0, 2}, static_cast<std::size_t>(s), codec, terms,
                         terms_.size());
      else
        reduce_among_workers(traffic, b, 0, codec, all_reduce_spec(settings_, bucket.count, b),
                             std::move(terms), terms_.size());
    }
  }

  /// Elements `chunk` of `bucket`, tensor by tensor, starting with rank `first`.
  void add_chunk(const BucketSlot& bucket, sim::ChunkRange chunk, int first,
                 std::span<float> mean) {
    const std::int64_t begin = bucket.first + chunk.first, end = begin + chunk.count;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      const TensorSlot& slot = layout_.tensors()[t];
      const std::int64_t from = std::max(begin, slot.first);
      const std::int64_t to = std::min(end, slot.first + slot.count);
      if (from < to) add_ranks(t, from - slot.first, to - from, first, mean.data() + from);
    }
  }

  /// out[n] = (1/N) sum over ranks of tensor t's elements from `offset`, in blocks that stay in the
  /// first-level cache.
  void add_ranks(std::size_t t, std::int64_t offset, std::int64_t n, int first, float* out) const {
    constexpr std::int64_t kBlock = 1024;
    const std::size_t ranks = gradients_.size();
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    std::array<float, kBlock> sum;
    for (std::int64_t at = 0; at < n; at += kBlock) {
      const std::int64_t count = std::min(kBlock, n - at);
      const auto of = [&](std::size_t turn) {
        return gradients_[(static_cast<std::size_t>(first) + turn) % ranks][t].data() + offset + at;
      };
      std::copy_n(of(0), count, sum.data());
      for (std::size_t turn = 1; turn < ranks; ++turn) {
        const float* term = of(turn);
        for (std::int64_t e = 0; e < count; ++e) sum[static_cast<std::size_t>(e)] += term[e];
      }
      for (std::int64_t e = 0; e < count; ++e)
        out[at + e] = factor * sum[static_cast<std::size_t>(e)];
    }
  }

  ExchangeSettings settings_;
  const Layout& layout_;
  std::vector<std::size_t> buckets_;
  std::vector<std::vector<std::span<const float>>> gradients_;  ///< [worker][tensor]
  std::span<const float> mean_;
  // Where hops are moved.
  std::vector<std::vector<std::uint32_t>> terms_;  ///< [worker][element]
  std::vector<std::vector<float>> replica_;        ///< [worker][element]
};

}  // namespace

std::unique_ptr<Exchange> make_dense_exchange(const ExchangeSettings& settings,
                                              const Layout& layout) {
  return std::make_unique<DenseExchange>(settings, layout);
}

}  // namespace gradwire::trainers
