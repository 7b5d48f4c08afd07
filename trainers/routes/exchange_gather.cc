#include <algorithm>
#include <map>
#include <utility>

#include "trainers/routes/exchange.h"
#include "trainers/routes/movers.h"
#include "trainers/routes/part_coder.h"
#include "trainers/routes/sparse_sum.h"
#include "trainers/routes/sparse_weights.h"
#include "trainers/routes/tensor_parts.h"
#include "trainers/timing/measure.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using sim::CollectiveKind;

class GatherExchange final : public Exchange {
 public:
  GatherExchange(const ExchangeSettings& settings, const Layout& layout, StateStore& states)
      : settings_(settings),
        layout_(layout),
        buckets_(buckets_of(settings, layout)),
        states_(states),
        up_(settings_, layout, *settings_.codec, Direction::kUp),
        gradients_(workers()),
        steps_(workers()),
        messages_(workers(),
                  std::vector<std::vector<std::vector<std::byte>>>(
                      layout.buckets().size(), std::vector<std::vector<std::byte>>(shards()))) {
    if (settings.server && settings.answer)
      down_.emplace(settings_, layout, *settings_.answer, Direction::kDown);
    for (std::size_t b = 0; b < layout.buckets().size(); ++b) {
      parts_.push_back(is_cut() ? cut_bucket(layout, b, settings.shards, settings.keep_rows)
                                : std::vector<Parts>{whole_tensors(b)});
      for (const Parts& parts : parts_.back()) {
        up_.expect(parts);
        if (down_) down_->expect(parts);
      }
    }
    // A device encodes whole tensors.
    if (settings.device)
      settings.device->choose(is_cut() ? DevicePayload::kValues : DevicePayload::kMessage);
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
            {StageKind::kServer, sim::OpKind::kAggregate, "aggregate",
             down_ ? StageCost::kAnswer : StageCost::kAggregateAll},
            collective(CollectiveKind::kPull, "pull"),
            {StageKind::kWorker, sim::OpKind::kDecode, "decode", StageCost::kDecode}};
  }

  void encode(int worker, GradientSpans gradients, std::int64_t step) override {
    const auto w = static_cast<std::size_t>(worker);
    gradients_[w].assign(gradients.begin(), gradients.end());
    steps_[w] = step;
    if (settings_.device) return settings_.device->encode(worker, gradients, {}, step);
    encode_parts(worker);
  }

  void combine(StepTraffic& traffic, std::span<float> mean) override {
    if (settings_.device) read_device();
    if (traffic.loses()) {
      up_.find_by_length();
      if (down_) down_->find_by_length();
    }
    replica_.resize(settings_.every_replica || traffic.loses() ? workers() : 0);
    for (auto& replica : replica_) replica.resize(mean.size());
    for (const std::size_t b : buckets_) {
      for (std::size_t s = 0; s < shards(); ++s) {
        std::vector<Message> messages;
        for (const auto& own : messages_) messages.emplace_back(own[b][s]);
        settings_.server ? combine_at_server(traffic, b, s, messages, mean)
                         : combine_among_workers(traffic, b, messages, mean);
      }
    }
  }

  bool answers_weights() const override { return settings_.server && settings_.weights_down; }

  void answer(StepTraffic& traffic, std::span<float> weights) override {
    if (!answers_weights()) return;
    for (const std::size_t b : buckets_) {
      for (std::size_t s = 0; s < shards(); ++s) {
        const std::span<float> own = range_of(weights, b, s);
        std::vector<std::byte>& message = weights_messages_[{b, s}];
        write_weights(own, message);
        ServerMover pull(std::vector<Message>(workers(), message));
        traffic.move(b, 3, std::vector<Bytes>(workers(), bytes_of(message)), pull, s);
        read_weights(pull.received()[0].bytes, own);
      }
    }
  }

  void charge(StepTraffic& traffic) const override {
    if (settings_.server) {
      throw TrainerError("replay a profile with", settings_.codec->name(),
                         "what a parameter server sends back depends on which elements the "
                         "workers' messages name, and a profile has no gradients",
                         "set /exchange/collective to ring, or use none, fp16 or terngrad without "
                         "error feedback",
                         ErrorKind::kScenario);
    }
    for (const std::size_t b : buckets_) {
      const std::vector<Bytes> sizes(
          workers(), Bytes(static_cast<std::int64_t>(up_.most_bytes(parts_[b][0]))));
      traffic.charge(b, 1, sizes, sizes[0] * (settings_.workers * (settings_.workers - 1)));
    }
  }

  std::span<const float> replica(int worker) const override {
    return replica_[static_cast<std::size_t>(worker)];
  }

  CodecSeconds time_bucket(std::size_t b, GradientSpans gradients, int repetitions) override;

 private:
  static Bytes bytes_of(Message message) {
    return Bytes(static_cast<std::int64_t>(message.size()));
  }
  std::size_t workers() const { return static_cast<std::size_t>(settings_.workers); }
  std::size_t shards() const {
    return settings_.server ? static_cast<std::size_t>(settings_.shards) : 1;
  }
  /// Whether tensors are encoded part by part.
  bool is_cut() const { return shards() > 1; }
  Parts whole_tensors(std::size_t b) const {
    const BucketSlot& bucket = layout_.buckets()[b];
    Parts parts;
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t)
      parts.push_back({t, 0, layout_.tensors()[t].count, layout_.tensors()[t].shape});
    return parts;
  }

  /// The elements of a shard's parts in a buffer of the whole layout.
  std::span<float> range_of(std::span<float> all, std::size_t b, std::size_t shard) const {
    const Parts& parts = parts_[b][shard];
    if (parts.empty()) return {};
    const std::int64_t begin = up_.first_of(parts.front());
    const std::int64_t end = up_.first_of(parts.back()) + parts.back().count;
    return all.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }

  void write_message(StateStore& states, const Parts& parts, GradientSpans gradients, int worker,
                     std::int64_t step, std::vector<std::byte>& message) const {
    up_.write(
        states, parts, {worker, worker, step, !is_cut()},
        [&](const TensorPart& part) { return PartCoder::cut(gradients, part); },
        up_.most_bytes(parts), message);
  }

  void encode_parts(int worker) {
    const auto w = static_cast<std::size_t>(worker);
    for (const std::size_t b : buckets_) {
      for (std::size_t s = 0; s < shards(); ++s) {
        write_message(states_, parts_[b][s], gradients_[w], worker, steps_[w], messages_[w][b][s]);
      }
    }
  }

  void read_device() {
    settings_.device->wait();
    for (std::size_t w = 0; w < workers(); ++w) {
      if (!is_cut())
        for (const std::size_t b : buckets_)
          join_payloads(b, static_cast<int>(w), messages_[w][b][0]);
      if (!is_cut()) continue;
      gradients_[w] = device_values(*settings_.device, layout_, static_cast<int>(w));
      encode_parts(static_cast<int>(w));
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

  /// What the server sends back: the scaled sum of these parts, encoded. It remembers them one by
  /// one, and draws as a worker beyond the last.
  void write_answer(StateStore& states, const Parts& parts, std::span<const float> sum,
                    std::int64_t step, std::vector<std::byte>& message) const {
    const std::int64_t first = first_of(parts);
    down_->write(
        states, parts, {-1, settings_.workers, step},
        [&](const TensorPart& part) {
          return sum.subspan(static_cast<std::size_t>(down_->first_of(part) - first),
                             static_cast<std::size_t>(part.count));
        },
        down_->most_bytes(parts), message);
  }

  std::int64_t first_of(const Parts& parts) const {
    return parts.empty() ? 0 : up_.first_of(parts.front());
  }
  /// sum += factor * what `message` says of these parts; sum is their range.
  void add_message(const Parts& parts, const Received& message, float factor,
                   std::span<float> sum) const {
    up_.add(parts, message, factor, first_of(parts), sum);
  }

  /// values = factor * what the server's answer says.
  void read_answer(const Parts& parts, const Received& answer, float factor,
                   std::span<float> values) const {
    if (!down_) return read_sum(answer, factor, values);
    std::fill(values.begin(), values.end(), 0.0f);
    down_->add(parts, answer, factor, first_of(parts), values);
  }

  void decode_all(const Parts& parts, std::span<const Received> messages, float factor,
                  std::span<float> sum) const {
    std::fill(sum.begin(), sum.end(), 0.0f);
    for (const Received& message : messages) add_message(parts, message, factor, sum);
  }

  void combine_among_workers(StepTraffic& traffic, std::size_t b,
                             const std::vector<Message>& messages, std::span<float> mean) {
    GatherMover mover(messages);
    traffic.move(b, 1, sizes_of(messages), mover);
    const float factor = 1.0f / static_cast<float>(settings_.workers);
    decode_all(parts_[b][0], mover.received(0), factor, range_of(mean, b, 0));
    for (std::size_t w = 0; w < replica_.size(); ++w) {
      decode_all(parts_[b][0], mover.received(static_cast<int>(w)), factor,
                 range_of(replica_[w], b, 0));
    }
  }

  void combine_at_server(StepTraffic& traffic, std::size_t b, std::size_t shard,
                         const std::vector<Message>& messages, std::span<float> mean) {
    ServerMover push(messages);
    traffic.move(b, 1, sizes_of(messages), push, shard);
    const std::span<float> own = range_of(mean, b, shard);
    std::vector<float> sum(own.size());
    const Parts& parts = parts_[b][shard];
    const float factor = mean_factor(settings_.workers);
    decode_all(parts, push.received(), sum_scale(settings_.workers), sum);
    if (answers_weights()) return keep_at_server(b, shard, sum, factor, mean);
    std::vector<std::byte> answer;
    if (down_)
      write_answer(states_, parts, sum, steps_[0], answer);
    else
      write_sum(sum, answer);
    const std::vector<Message> answers(workers(), answer);
    ServerMover pull(answers);
    traffic.move(b, 3, sizes_of(answers), pull, shard);
    read_answer(parts, pull.received()[0], factor, own);
    for (std::size_t w = 0; w < replica_.size(); ++w) {
      read_answer(parts, pull.received()[w], factor, range_of(replica_[w], b, shard));
    }
  }

  /// The mean for the server's update, of which workers see the new weights alone.
  void keep_at_server(std::size_t b, std::size_t shard, std::span<const float> sum, float factor,
                      std::span<float> mean) {
    const auto keep = [&](std::span<float> own) {
      std::ranges::transform(sum, own.begin(), [&](float each) { return factor * each; });
    };
    keep(range_of(mean, b, shard));
    for (std::vector<float>& replica : replica_) keep(range_of(replica, b, shard));
  }

  ExchangeSettings settings_;
  const Layout& layout_;
  std::vector<std::size_t> buckets_;
  StateStore& states_;
  PartCoder up_;
  std::optional<PartCoder> down_;                               ///< none: sums come back as fp32
  std::vector<std::vector<Parts>> parts_;                       ///< [bucket][shard]
  std::vector<std::vector<std::span<const float>>> gradients_;  ///< [worker][tensor]
  std::vector<std::int64_t> steps_;                             ///< [worker]
  std::vector<std::vector<std::vector<std::vector<std::byte>>>> messages_;  ///< [worker][b][shard]
  std::map<std::pair<std::size_t, std::size_t>, std::vector<std::byte>> weights_messages_;
  std::vector<std::vector<float>> replica_;
};

CodecSeconds GatherExchange::time_bucket(std::size_t b, GradientSpans gradients, int repetitions) {
  StateStore fresh;
  std::vector<std::vector<std::byte>> messages(shards());
  std::vector<std::span<const float>> values(gradients.begin(), gradients.end());
  std::vector<float> sum(static_cast<std::size_t>(layout_.buckets()[b].count));
  CodecSeconds times;
  if (settings_.device)
    times.encode = settings_.device->time_bucket(b, gradients, repetitions).encode;
  if (settings_.device && is_cut()) values = device_values(*settings_.device, layout_, -1, b);
  const auto each = [&](auto&& call) {
    std::size_t at = 0;
    for (std::size_t s = 0; s < shards(); ++s) {
      std::size_t count = 0;
      for (const TensorPart& part : parts_[b][s]) count += static_cast<std::size_t>(part.count);
      call(parts_[b][s], messages[s], std::span(sum).subspan(at, count));
      at += count;
    }
  };
  if (settings_.device && !is_cut()) {
    join_payloads(b, -1, messages[0]);
  } else {
    times.encode += median_time(repetitions, [&] {
      each([&](const Parts& parts, auto& message, std::span<float>) {
        write_message(fresh, parts, values, 0, 0, message);
      });
    });
  }
  times.aggregate = median_time(repetitions, [&] {
    each([&](const Parts& parts, auto& message, std::span<float> own) {
      add_message(parts, {message}, 1.0f, own);
    });
  });
  times.decode = times.aggregate;
  if (!settings_.server) return times;
  if (down_) {  // one worker's values stand in for the sum
    each([&](const Parts& parts, auto& message, std::span<float> own) {
      decode_all(parts, std::vector<Received>{{message}}, 1.0f, own);
      const std::vector<float> decoded(own.begin(), own.end());
      write_answer(fresh, parts, decoded, 0, message);
    });
    times.decode = median_time(repetitions, [&] {
      each([&](const Parts& parts, auto& message, std::span<float> own) {
        read_answer(parts, {message}, 1.0f, own);
      });
    });
    return times;
  }
  // What comes back from the server is one sum; one worker's message stands in for it here.
  each([&](const Parts& parts, auto& message, std::span<float> own) {
    decode_all(parts, std::vector<Received>{{message}}, 1.0f, own);
    const std::vector<float> decoded(own.begin(), own.end());
    write_sum(decoded, message);
  });
  times.decode = median_time(repetitions, [&] {
    each([&](const Parts&, auto& message, std::span<float> own) { read_sum(message, 1.0f, own); });
  });
  return times;
}

}  // namespace

std::unique_ptr<Exchange> make_gather_exchange(const ExchangeSettings& settings,
                                               const Layout& layout, StateStore& states) {
  return std::make_unique<GatherExchange>(settings, layout, states);
}

}  // namespace gradwire::trainers
