#include <algorithm>

#include "trainers/routes/exchange.h"
#include "trainers/routes/movers.h"
#include "trainers/routes/part_coder.h"
#include "trainers/routes/tensor_parts.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

constexpr int kMostWorkers = 512;  // each sends a message of its own to every other

/// Scatter-reduce, then all-gather (CGX, arXiv 2111.08617): worker c owns chunk c of a bucket. The
/// others send it theirs, encoded; it adds them to its own, which is not encoded, and encodes the
/// sum once. All, the owner too, take what those very bytes say, so that replicas stay equal.
class RequantizeExchange final : public Exchange {
 public:
  RequantizeExchange(const ExchangeSettings& settings, const Layout& layout, StateStore& states)
      : settings_(settings),
        layout_(layout),
        buckets_(buckets_of(settings, layout)),
        states_(states),
        up_(settings_, layout, *settings_.codec, Direction::kUp),
        down_(settings_, layout, settings.requantizer ? *settings.requantizer : *settings.codec,
              Direction::kDown),
        gradients_(workers()),
        steps_(workers()),
        messages_(workers(),
                  std::vector<std::vector<std::vector<std::byte>>>(
                      layout.buckets().size(), std::vector<std::vector<std::byte>>(workers()))) {
    if (settings.workers > kMostWorkers) {
      throw TrainerError("scatter gradients with", settings.codec->name(),
                         "every worker sends to every other, and there are more than " +
                             std::to_string(kMostWorkers),
                         "set /exchange/collective to parameter-server", ErrorKind::kScenario);
    }
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
      chunks_.push_back(cut_bucket(layout, b, settings.workers, settings.keep_rows));
      most_.emplace_back();
      for (const auto& parts : chunks_.back()) most_.back().push_back(measure(parts));
    }
    if (settings.device) settings.device->choose(DevicePayload::kValues);
  }

  std::vector<Stage> stages(std::size_t b, Seconds) const override {
    const std::int64_t elements = layout_.buckets()[b].count;
    const auto collective = [&](StageKind kind, sim::CollectiveKind of, const char* label) {
      return Stage{kind, sim::OpKind::kCollective, label, StageCost::kNone,
                   collective_spec(of, settings_.workers, elements, b)};
    };
    const auto worker = [](sim::OpKind op, const char* label, StageCost cost) {
      return Stage{StageKind::kWorker, op, label, cost};
    };
    return {worker(sim::OpKind::kEncode, "encode", StageCost::kEncodeOthers),
            collective(StageKind::kScatter, sim::CollectiveKind::kPush, "scatter"),
            worker(sim::OpKind::kAggregate, "requantize", StageCost::kRequantize),
            collective(StageKind::kCollective, settings_.all_gather, "all-gather"),
            worker(sim::OpKind::kDecode, "decode", StageCost::kDecode)};
  }

  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    const auto w = static_cast<std::size_t>(worker);
    gradients_[w].assign(gradients.begin(), gradients.end());
    steps_[w] = step;
    // A device's values are encoded when they have arrived.
    if (settings_.device) return settings_.device->encode(worker, gradients, {}, step);
    encode_chunks(worker);
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    if (settings_.device) read_device();
    if (traffic.loses())
      for (PartCoder* way : {&up_, &down_}) way->find_by_length();
    replica_.resize(settings_.every_replica || traffic.loses() ? workers() : 0);
    for (auto& replica : replica_) replica.resize(mean.size());
    for (const std::size_t b : buckets_) combine_bucket(traffic, b, mean);
  }

  void charge(StepTraffic& traffic) const override {
    for (const std::size_t b : buckets_) {
      std::vector<Bytes> own;
      for (std::size_t c = 0; c < workers(); ++c) {
        own.push_back(bytes_of(most_[b][c].down));
        if (workers() == 1) continue;
        const std::vector<Bytes> sizes(workers() - 1, bytes_of(most_[b][c].up));
        traffic.charge(b, 1, sizes, sizes[0] * (settings_.workers - 1), c);
      }
      Bytes all{0};
      for (const Bytes each : own) all += each * (settings_.workers - 1);
      traffic.charge(b, 3, own, all);
    }
  }

  std::span<const float> replica(int worker) const override {
    return replica_[static_cast<std::size_t>(worker)];
  }

  CodecSeconds time_bucket(std::size_t b, GradientSpans gradients, int repetitions) override;

 private:
  /// Largest sizes of a chunk's message, by codec of the way up (gradients) and down (sums).
  struct Most {
    std::size_t up = 0, down = 0;
  };

  static Bytes bytes_of(std::size_t size) { return Bytes(static_cast<std::int64_t>(size)); }
  std::size_t workers() const { return static_cast<std::size_t>(settings_.workers); }
  Most measure(const Parts& parts) {
    for (PartCoder* way : {&up_, &down_}) way->expect(parts);
    return {up_.most_bytes(parts), down_.most_bytes(parts)};
  }

  /// Where the elements of `part` begin in a buffer of its bucket.
  std::size_t offset_in_bucket(std::size_t b, const TensorPart& part) const {
    return static_cast<std::size_t>(up_.first_of(part) - layout_.buckets()[b].first);
  }

  void encode_chunks(int worker) {
    const auto w = static_cast<std::size_t>(worker);
    for (const std::size_t b : buckets_) {
      for (std::size_t c = 0; c < workers(); ++c) {
        if (c == w) continue;
        up_.write(
            states_, chunks_[b][c], {worker, worker, steps_[w]},
            [&](const TensorPart& part) { return PartCoder::cut(gradients_[w], part); },
            most_[b][c].up, messages_[w][b][c]);
      }
    }
  }

  void read_device() {
    settings_.device->wait();
    for (std::size_t w = 0; w < workers(); ++w) {
      gradients_[w] = device_values(*settings_.device, layout_, static_cast<int>(w));
      encode_chunks(static_cast<int>(w));
    }
  }

  /// What the owner of chunk c has to say: the sum of all, scaled and encoded.
  void reduce_chunk(StepTraffic& traffic, std::size_t b, std::size_t c, std::span<float> sum,
                    std::vector<std::byte>& answer) {
    const float scale = sum_scale(settings_.workers);
    for (const TensorPart& part : chunks_[b][c]) {
      const auto own = PartCoder::cut(gradients_[c], part);
      std::transform(own.begin(), own.end(),
                     sum.begin() + static_cast<std::ptrdiff_t>(offset_in_bucket(b, part)),
                     [scale](float value) { return scale * value; });
    }
    if (workers() > 1) {
      std::vector<Message> messages;
      for (std::size_t w = 0; w < workers(); ++w)
        if (w != c) messages.emplace_back(messages_[w][b][c]);
      ServerMover scatter(messages);
      traffic.move(b, 1, sizes_of(messages), scatter, c);
      for (const Received& message : scatter.received())
        up_.add(chunks_[b][c], message, scale, layout_.buckets()[b].first, sum);
    }
    // The sum is drawn for as by a worker beyond the last: owners share no element.
    down_.write(
        states_, chunks_[b][c], {static_cast<int>(c), settings_.workers, steps_[c]},
        [&](const TensorPart& part) {
          return std::span<const float>(sum).subspan(offset_in_bucket(b, part),
                                                     static_cast<std::size_t>(part.count));
        },
        most_[b][c].down, answer);
  }

  void combine_bucket(StepTraffic& traffic, std::size_t b, std::span<float> mean) {
    sum_.resize(static_cast<std::size_t>(layout_.buckets()[b].count));
    answers_.resize(workers());
    for (std::size_t c = 0; c < workers(); ++c) reduce_chunk(traffic, b, c, sum_, answers_[c]);
    const std::vector<Message> messages(answers_.begin(), answers_.end());
    GatherMover gather(messages);
    traffic.move(b, 3, sizes_of(messages), gather);
    take(b, gather.received(0), mean);
    for (std::size_t w = 0; w < replica_.size(); ++w)
      take(b, gather.received(static_cast<int>(w)), replica_[w]);
  }

  void take(std::size_t b, std::span<const Received> messages, std::span<float> mean) const {
    const BucketSlot& bucket = layout_.buckets()[b];
    const auto own = mean.subspan(static_cast<std::size_t>(bucket.first),
                                  static_cast<std::size_t>(bucket.count));
    std::fill(own.begin(), own.end(), 0.0f);
    const float factor = mean_factor(settings_.workers);
    for (std::size_t c = 0; c < workers(); ++c)
      down_.add(chunks_[b][c], messages[c], factor, bucket.first, own);
  }

  ExchangeSettings settings_;
  const Layout& layout_;
  std::vector<std::size_t> buckets_;
  StateStore& states_;
  PartCoder up_, down_;
  std::vector<std::vector<Parts>> chunks_;                                  ///< [bucket][chunk]
  std::vector<std::vector<Most>> most_;                                     ///< [bucket][chunk]
  std::vector<std::vector<std::span<const float>>> gradients_;              ///< [worker][tensor]
  std::vector<std::int64_t> steps_;                                         ///< [worker]
  std::vector<std::vector<std::vector<std::vector<std::byte>>>> messages_;  ///< [worker][b][chunk]
  std::vector<std::vector<std::byte>> answers_;                             ///< [chunk]
  std::vector<float> sum_;
  std::vector<std::vector<float>> replica_;
};

/// As if the bucket's chunks were all one worker's to encode, or to decode.
CodecSeconds RequantizeExchange::time_bucket(std::size_t b, GradientSpans gradients,
                                             int repetitions) {
  StateStore fresh;
  std::vector<std::span<const float>> values(gradients.begin(), gradients.end());
  CodecSeconds times;
  if (settings_.device) {
    times.encode = settings_.device->time_bucket(b, gradients, repetitions).encode;
    values = device_values(*settings_.device, layout_, -1, b);
  }
  std::vector<std::vector<std::byte>> messages(workers());
  times.encode += median_time(repetitions, [&] {
    for (std::size_t c = 0; c < workers(); ++c) {
      up_.write(
          fresh, chunks_[b][c], {},
          [&](const TensorPart& part) { return PartCoder::cut(values, part); }, most_[b][c].up,
          messages[c]);
    }
  });
  std::vector<float> sum(static_cast<std::size_t>(layout_.buckets()[b].count));
  times.aggregate = median_time(repetitions, [&] {
    for (std::size_t c = 0; c < workers(); ++c)
      up_.add(chunks_[b][c], {messages[c]}, 1.0f, layout_.buckets()[b].first, sum);
  });
  times.decode = times.aggregate;
  return times;
}

}  // namespace

std::unique_ptr<Exchange> make_requantize_exchange(const ExchangeSettings& settings,
                                                   const Layout& layout, StateStore& states) {
  return std::make_unique<RequantizeExchange>(settings, layout, states);
}

}  // namespace gradwire::trainers
