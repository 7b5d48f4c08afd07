#include <algorithm>

#include "trainers/exchange.h"
#include "trainers/framing.h"
#include "trainers/measure.h"
#include "trainers/movers.h"
#include "trainers/sparse_sum.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using sim::CollectiveKind;

class GatherExchange final : public Exchange {
 public:
  GatherExchange(const ExchangeSettings& settings, const Layout& layout, StateStore& states)
      : settings_(settings),
        codec_(*settings.codec),
        layout_(layout),
        states_(states),
        messages_(workers(), std::vector<std::vector<std::byte>>(layout.buckets().size())),
        replica_(settings.every_replica ? workers() : 0) {
    for (const TensorSlot& slot : layout.tensors()) {
      scratch_size_ = std::max(scratch_size_, codec_.scratch_size(spec_of(slot)));
    }
    if (settings.device) settings.device->choose(DevicePayload::kMessage);
  }

  std::vector<Stage> stages(std::size_t b, Seconds) const override {
    const std::int64_t elements = layout_.buckets()[b].count;
    const auto collective = [&](CollectiveKind kind, const char* label) {
      return Stage{StageKind::kCollective, sim::OpKind::kCollective, label, StageCost::kNone,
                   collective_spec(kind, settings_.workers, elements, b)};
    };
    const Stage encode{StageKind::kWorker, sim::OpKind::kEncode, "encode", StageCost::kEncode};
    if (!settings_.server) {
      return {encode,
              collective(settings_.all_gather, "all-gather"),
              {StageKind::kWorker, sim::OpKind::kDecode, "decode", StageCost::kDecodeAll}};
    }
    return {encode,
            collective(CollectiveKind::kPush, "push"),
            {StageKind::kServer, sim::OpKind::kAggregate, "aggregate", StageCost::kAggregateAll},
            collective(CollectiveKind::kPull, "pull"),
            {StageKind::kWorker, sim::OpKind::kDecode, "decode", StageCost::kDecode}};
  }

  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    if (settings_.device) return settings_.device->encode(worker, gradients, {}, step);
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      write_message(
          b, gradients, worker, step,
          [&](const TensorSlot& slot) {
            return states_.at({worker, slot.parameter}, codec_.state_size(spec_of(slot)));
          },
          messages_[static_cast<std::size_t>(worker)][b]);
    }
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    if (settings_.device) read_device();
    for (auto& replica : replica_) replica.resize(mean.size());
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      std::vector<Message> messages;
      for (const auto& own : messages_) messages.emplace_back(own[b]);
      settings_.server ? combine_at_server(traffic, b, messages, mean)
                       : combine_among_workers(traffic, b, messages, mean);
    }
  }

  void charge(StepTraffic& traffic) const override {
    if (settings_.server) {
      throw TrainerError("replay a profile with", codec_.name(),
                         "what a parameter server sends back depends on which elements the "
                         "workers' messages name, and a profile has no gradients",
                         "set /exchange/collective to ring, or use none, fp16 or terngrad without "
                         "error feedback",
                         ErrorKind::kScenario);
    }
    for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
      const std::vector<Bytes> sizes(workers(), message_bytes(b));
      traffic.charge(b, 1, sizes, sizes[0] * (settings_.workers * (settings_.workers - 1)));
    }
  }

  std::span<const float> replica(int worker) const override {
    return replica_[static_cast<std::size_t>(worker)];
  }

  CodecSeconds time_bucket(std::size_t b, GradientSpans gradients, int repetitions) override;

 private:
  std::size_t workers() const { return static_cast<std::size_t>(settings_.workers); }
  std::span<float> bucket_of(std::span<float> all, std::size_t b) const {
    return all.subspan(static_cast<std::size_t>(layout_.buckets()[b].first),
                       static_cast<std::size_t>(layout_.buckets()[b].count));
  }

  Bytes message_bytes(std::size_t b) const {
    const BucketSlot& bucket = layout_.buckets()[b];
    std::size_t bytes = 0;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      bytes += kLengthBytes + codec_.max_encoded_size(spec_of(layout_.tensors()[t]));
    }
    return Bytes(static_cast<std::int64_t>(bytes));
  }

  /// message = for each tensor: u32 length, payload. `state_of(slot)`: the codec's state.
  template <typename StateOf>
  void write_message(std::size_t b, GradientSpans gradients, int worker, std::int64_t step,
                     StateOf&& state_of, std::vector<std::byte>& message) const {
    const BucketSlot& bucket = layout_.buckets()[b];
    MessageWriter writer(message, static_cast<std::size_t>(message_bytes(b).count()));
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      const TensorSlot& slot = layout_.tensors()[t];
      compressors::EncodeJob job;
      job.tensor = {slot.name, slot.shape, gradients[t]};
      job.draws.stream = {settings_.seed, static_cast<std::uint32_t>(step),
                          static_cast<std::uint32_t>(worker),
                          static_cast<std::uint32_t>(slot.parameter)};
      job.state = state_of(slot);
      writer.add([&](std::span<std::byte> room) {
        job.payload = room;
        return codec_.encode(job, thread_scratch(scratch_size_));
      });
    }
    writer.finish();
  }

  void read_device() {
    settings_.device->wait();
    for (std::size_t w = 0; w < workers(); ++w) {
      for (std::size_t b = 0; b < layout_.buckets().size(); ++b) {
        join_payloads(b, static_cast<int>(w), messages_[w][b]);
      }
    }
  }

  /// The message of bucket b from the payloads that the device has encoded.
  void join_payloads(std::size_t b, int worker, std::vector<std::byte>& message) const {
    message.clear();
    const BucketSlot& bucket = layout_.buckets()[b];
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      const Message payload = settings_.device->payload(worker, t);
      const auto length = static_cast<std::uint32_t>(payload.size());
      const auto bytes = std::as_bytes(std::span(&length, 1));
      message.insert(message.end(), bytes.begin(), bytes.end());
      message.insert(message.end(), payload.begin(), payload.end());
    }
  }

  /// sum += factor * what `message` says of bucket b; sum is that bucket's range.
  void add_message(std::size_t b, Message message, float factor, std::span<float> sum) const {
    const BucketSlot& bucket = layout_.buckets()[b];
    MessageReader reader(message, codec_.name());
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      const TensorSlot& slot = layout_.tensors()[t];
      compressors::DecodeJob job;
      job.payload = reader.next(slot.name);
      job.values = sum.subspan(static_cast<std::size_t>(slot.first - bucket.first),
                               static_cast<std::size_t>(slot.count));
      job.name = slot.name;
      job.shape = slot.shape;
      codec_.decode_accumulate(job, factor, thread_scratch(scratch_size_));
    }
  }

  void decode_all(std::size_t b, std::span<const Message> messages, float factor,
                  std::span<float> sum) const {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (const Message& message : messages) add_message(b, message, factor, sum);
  }

  void combine_among_workers(StepTraffic& traffic, std::size_t b,
                             const std::vector<Message>& messages, std::span<float> mean) {
    GatherMover mover(messages);
    traffic.move(b, 1, sizes_of(messages), mover);
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    decode_all(b, mover.received(0), factor, bucket_of(mean, b));
    for (std::size_t w = 0; w < replica_.size(); ++w) {
      decode_all(b, mover.received(static_cast<int>(w)), factor, bucket_of(replica_[w], b));
    }
  }

  void combine_at_server(StepTraffic& traffic, std::size_t b, const std::vector<Message>& messages,
                         std::span<float> mean) {
    ServerMover push(messages);
    traffic.move(b, 1, sizes_of(messages), push);
    std::vector<float> sum(static_cast<std::size_t>(layout_.buckets()[b].count));
    decode_all(b, push.received(), 1.0f, sum);
    std::vector<std::byte> answer;
    write_sum(sum, answer);
    const std::vector<Message> answers(workers(), answer);
    ServerMover pull(answers);
    traffic.move(b, 3, sizes_of(answers), pull);
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    read_sum(pull.received()[0], factor, bucket_of(mean, b));
    for (std::size_t w = 0; w < replica_.size(); ++w) {
      read_sum(pull.received()[w], factor, bucket_of(replica_[w], b));
    }
  }

  ExchangeSettings settings_;
  const compressors::Codec& codec_;
  const Layout& layout_;
  StateStore& states_;
  std::size_t scratch_size_ = 0;
  std::vector<std::vector<std::vector<std::byte>>> messages_;  ///< [worker][bucket]
  std::vector<std::vector<float>> replica_;
};

CodecSeconds GatherExchange::time_bucket(std::size_t b, GradientSpans gradients, int repetitions) {
  StateStore fresh;
  std::vector<std::byte> message;
  std::vector<float> sum(static_cast<std::size_t>(layout_.buckets()[b].count));
  CodecSeconds times;
  if (settings_.device) {
    times.encode = settings_.device->time_bucket(b, gradients, repetitions).encode;
    join_payloads(b, -1, message);
  } else {
    times.encode = median_time(repetitions, [&] {
      write_message(
          b, gradients, 0, 0,
          [&](const TensorSlot& slot) {
            return fresh.at({0, slot.parameter}, codec_.state_size(spec_of(slot)));
          },
          message);
    });
  }
  times.aggregate = median_time(repetitions, [&] { add_message(b, message, 1.0f, sum); });
  times.decode = times.aggregate;
  if (!settings_.server) return times;
  // What comes back from the server is one sum; one worker's message stands in for it here.
  decode_all(b, std::vector<Message>{message}, 1.0f, sum);
  std::vector<std::byte> answer;
  write_sum(sum, answer);
  times.decode = median_time(repetitions, [&] { read_sum(answer, 1.0f, sum); });
  return times;
}

}  // namespace

std::unique_ptr<Exchange> make_gather_exchange(const ExchangeSettings& settings,
                                               const Layout& layout, StateStore& states) {
  return std::make_unique<GatherExchange>(settings, layout, states);
}

}  // namespace gradwire::trainers
