#include <algorithm>

#include "compressors/codec_plan.h"
#include "trainers/channel/framing.h"
#include "trainers/channel/run_job.h"
#include "trainers/routes/decode_arrived.h"
#include "trainers/routes/exchange.h"
#include "trainers/routes/movers.h"
#include "trainers/routes/tensor_parts.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

using compressors::Codec;
using compressors::TensorSpec;

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
        up_(of_tensors(*settings.codec)),
        down_(of_tensors(settings.requantizer ? *settings.requantizer : *settings.codec)),
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
    if (traffic.loses() && fixed_up_.empty()) {
      fixed_up_ = fixed_sizes(up_);
      fixed_down_ = fixed_sizes(down_);
    }
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
  using Parts = std::vector<TensorPart>;

  static Bytes bytes_of(std::size_t size) { return Bytes(static_cast<std::int64_t>(size)); }
  std::size_t workers() const { return static_cast<std::size_t>(settings_.workers); }
  const TensorSlot& slot_of(const TensorPart& part) const { return layout_.tensors()[part.tensor]; }

  /// What each tensor takes: decided by the whole tensor, not by a part of it.
  std::vector<const Codec*> of_tensors(const Codec& codec) const {
    std::vector<const Codec*> chosen;
    for (const TensorSlot& slot : layout_.tensors())
      chosen.push_back(&compressors::chosen_codec(codec, spec_of(slot)));
    return chosen;
  }
  TensorSpec spec(const TensorPart& part) const {
    return {static_cast<std::size_t>(part.count), slot_of(part).name, part.shape};
  }

  Most measure(const Parts& parts) {
    Most most;
    for (const TensorPart& part : parts) {
      const Codec &up = *up_[part.tensor], &down = *down_[part.tensor];
      most.up += kLengthBytes + up.max_encoded_size(spec(part));
      most.down += kLengthBytes + down.max_encoded_size(spec(part));
      scratch_size_ =
          std::max({scratch_size_, up.scratch_size(spec(part)), down.scratch_size(spec(part))});
    }
    return most;
  }

  /// Where the elements of `part` begin in a buffer of its bucket.
  std::size_t offset_in_bucket(std::size_t b, const TensorPart& part) const {
    return static_cast<std::size_t>(slot_of(part).first + part.first - layout_.buckets()[b].first);
  }

  /// A worker remembers a tensor's parts one by one: the key's sample is the part's first element.
  static std::span<std::byte> state_of(StateStore& states, const Codec& codec,
                                       const TensorSpec& spec, int owner, const TensorSlot& slot,
                                       const TensorPart& part, Direction direction) {
    return states.at({owner, slot.parameter, direction, part.first}, codec.state_size(spec));
  }

  /// One message: the parts of a chunk, whose values `values_of` gives.
  template <class ValuesOf>
  void write(StateStore& states, const Parts& parts, Direction direction, int owner,
             std::uint32_t stream_worker, std::int64_t step, ValuesOf&& values_of, std::size_t most,
             std::vector<std::byte>& message) const {
    const auto& codecs = direction == Direction::kUp ? up_ : down_;
    MessageWriter writer(message, most);
    for (const TensorPart& part : parts) {
      const TensorSlot& slot = slot_of(part);
      const Codec& codec = *codecs[part.tensor];
      compressors::EncodeJob job =
          run_job({slot.name, part.shape, values_of(part)},
                  {settings_.seed, static_cast<std::uint32_t>(step), stream_worker,
                   static_cast<std::uint32_t>(slot.parameter)},
                  static_cast<std::uint64_t>(part.first));
      job.state = state_of(states, codec, spec(part), owner, slot, part, direction);
      writer.add([&](std::span<std::byte> room) {
        job.payload = room;
        return codec.encode(job, thread_scratch(scratch_size_));
      });
    }
    writer.finish();
  }

  /// What a receiver knows of the length of a part's payload, where something is lost.
  std::optional<std::size_t> usual_size(Direction direction, const TensorPart& part) const {
    const auto& fixed = direction == Direction::kUp ? fixed_up_ : fixed_down_;
    if (fixed.empty() || !fixed[part.tensor]) return std::nullopt;
    return (direction == Direction::kUp ? up_ : down_)[part.tensor]->max_encoded_size(spec(part));
  }

  /// sum += factor * what `message` says of chunk c; `sum` is the bucket's.
  void add(std::size_t b, std::size_t c, Direction direction, const Received& message, float factor,
           std::span<float> sum) const {
    const auto& codecs = direction == Direction::kUp ? up_ : down_;
    MessageReader reader(message, settings_.codec->name());
    for (const TensorPart& part : chunks_[b][c]) {
      const auto payload = reader.next(slot_of(part).name, usual_size(direction, part));
      if (!payload) continue;
      compressors::DecodeJob job;
      job.payload = payload->bytes;
      job.values = sum.subspan(offset_in_bucket(b, part), static_cast<std::size_t>(part.count));
      job.name = slot_of(part).name;
      job.shape = part.shape;
      decode_arrived(*codecs[part.tensor], job, payload->gaps, factor,
                     thread_scratch(scratch_size_));
    }
  }

  std::span<const float> values_of(std::size_t worker, const TensorPart& part) const {
    return gradients_[worker][part.tensor].subspan(static_cast<std::size_t>(part.first),
                                                   static_cast<std::size_t>(part.count));
  }

  void encode_chunks(int worker) {
    const auto w = static_cast<std::size_t>(worker);
    for (const std::size_t b : buckets_) {
      for (std::size_t c = 0; c < workers(); ++c) {
        if (c == w) continue;
        write(
            states_, chunks_[b][c], Direction::kUp, worker, static_cast<std::uint32_t>(worker),
            steps_[w], [&](const TensorPart& part) { return values_of(w, part); }, most_[b][c].up,
            messages_[w][b][c]);
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

  /// What the owner of chunk c has to say: the sum of all, encoded.
  void reduce_chunk(StepTraffic& traffic, std::size_t b, std::size_t c, std::span<float> sum,
                    std::vector<std::byte>& answer) {
    for (const TensorPart& part : chunks_[b][c]) {
      const auto own = values_of(c, part);
      std::copy(own.begin(), own.end(),
                sum.begin() + static_cast<std::ptrdiff_t>(offset_in_bucket(b, part)));
    }
    if (workers() > 1) {
      std::vector<Message> messages;
      for (std::size_t w = 0; w < workers(); ++w)
        if (w != c) messages.emplace_back(messages_[w][b][c]);
      ServerMover scatter(messages);
      traffic.move(b, 1, sizes_of(messages), scatter, c);
      for (const Received& message : scatter.received())
        add(b, c, Direction::kUp, message, 1.0f, sum);
    }
    // The sum is drawn for as by a worker beyond the last: owners share no element.
    write(
        states_, chunks_[b][c], Direction::kDown, static_cast<int>(c),
        static_cast<std::uint32_t>(workers()), steps_[c],
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
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    for (std::size_t c = 0; c < workers(); ++c)
      add(b, c, Direction::kDown, messages[c], factor, own);
  }

  ExchangeSettings settings_;
  const Layout& layout_;
  std::vector<std::size_t> buckets_;
  StateStore& states_;
  std::vector<const Codec*> up_, down_;      ///< by tensor
  std::vector<bool> fixed_up_, fixed_down_;  ///< by tensor; known where something is lost
  std::vector<std::vector<Parts>> chunks_;   ///< [bucket][chunk]
  std::vector<std::vector<Most>> most_;      ///< [bucket][chunk]
  std::size_t scratch_size_ = 0;
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
      write(
          fresh, chunks_[b][c], Direction::kUp, 0, 0, 0,
          [&](const TensorPart& part) {
            return values[part.tensor].subspan(static_cast<std::size_t>(part.first),
                                               static_cast<std::size_t>(part.count));
          },
          most_[b][c].up, messages[c]);
    }
  });
  std::vector<float> sum(static_cast<std::size_t>(layout_.buckets()[b].count));
  times.aggregate = median_time(repetitions, [&] {
    for (std::size_t c = 0; c < workers(); ++c) add(b, c, Direction::kUp, {messages[c]}, 1.0f, sum);
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
