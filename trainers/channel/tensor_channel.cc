#include "trainers/channel/tensor_channel.h"

#include <algorithm>
#include <cstring>

#include "compressors/codec_plan.h"
#include "trainers/channel/framing.h"
#include "trainers/channel/run_job.h"
#include "trainers/channel/tensor_spec.h"

namespace gradwire::trainers {
namespace {

bool sends_values(const compressors::CodecPlan& plan) {
  return compressors::is_plain_codec(plan.codec.name) && !plan.decorated();
}

}  // namespace

std::vector<compressors::CodecPlan> plans_up(const methods::Method& method, std::size_t phase) {
  std::vector<compressors::CodecPlan> plans;
  for (std::size_t set = 0; set < method.sets(); ++set) plans.push_back(method.plan(set, phase).up);
  return plans;
}

std::vector<compressors::CodecPlan> plans_down(const methods::Method& method, std::size_t phase) {
  std::vector<compressors::CodecPlan> plans;
  for (std::size_t set = 0; set < method.sets(); ++set)
    plans.push_back(method.plan(set, phase).down.value_or(compressors::CodecPlan{}));
  return plans;
}

TensorChannel::TensorChannel(std::span<const compressors::CodecPlan> plans, const Layout& layout,
                             std::uint64_t seed)
    : layout_(layout),
      seed_(seed),
      feeds_back_(layout.tensors().size()),
      codec_of_(layout.tensors().size()),
      state_at_(layout.tensors().size()) {
  for (const compressors::CodecPlan& plan : plans) {
    codecs_.push_back(compressors::make_codec(plan));
    plain_ = plain_ && sends_values(plan);
  }
  for (const BucketSlot& bucket : layout.buckets()) {
    for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
      const compressors::TensorSpec spec = spec_of(layout.tensors()[t]);
      codec_of_[t] = &compressors::chosen_codec(*codecs_[bucket.set], spec);
      scratch_ = std::max(scratch_, codec_of_[t]->scratch_size(spec));
      longest_ += kLengthBytes + codec_of_[t]->max_encoded_size(spec);
      state_at_[t] = state_bytes_;
      const std::size_t bytes = codec_of_[t]->state_size(spec);
      state_bytes_ += (bytes + 7) / 8 * 8;
      feeds_back_[t] = plans[bucket.set].error_feedback && bytes >= 4 * spec.n;
    }
  }
}

template <class StateOf>
void TensorChannel::encode_with(StateOf&& state_of, int party, std::int64_t step,
                                std::span<const float> values,
                                std::vector<std::byte>& message) const {
  if (plain_) {
    const auto bytes = std::as_bytes(values);
    message.assign(bytes.begin(), bytes.end());
    return;
  }
  MessageWriter writer(message, longest_);
  for (std::size_t t = 0; t < codec_of_.size(); ++t) {
    const TensorSlot& slot = layout_.tensors()[t];
    compressors::EncodeJob job =
        run_job({slot.name, slot.shape, slice(values, slot)},
                {seed_, static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(party),
                 static_cast<std::uint32_t>(slot.parameter)});
    job.state = state_of(t, codec_of_[t]->state_size(spec_of(slot)));
    writer.add([&](std::span<std::byte> room) {
      job.payload = room;
      return codec_of_[t]->encode(job, thread_scratch(scratch_));
    });
  }
  writer.finish();
}

void TensorChannel::encode(StateStore& states, int party, std::int64_t step,
                           std::span<const float> values, std::vector<std::byte>& message) const {
  const auto state_of = [&](std::size_t t, std::size_t bytes) {
    return states.at({party, layout_.tensors()[t].parameter}, bytes);
  };
  encode_with(state_of, party, step, values, message);
}

void TensorChannel::encode(std::span<std::byte> state, int party, std::int64_t step,
                           std::span<const float> values, std::vector<std::byte>& message) const {
  GRADWIRE_ASSERT(state.size() == state_bytes_);
  const auto state_of = [&](std::size_t t, std::size_t bytes) {
    return state.subspan(state_at_[t], bytes);
  };
  encode_with(state_of, party, step, values, message);
}

void TensorChannel::take_back(std::span<std::byte> state,
                              std::span<const std::byte> message) const {
  GRADWIRE_ASSERT(state.size() == state_bytes_);
  const auto parts = payloads(message);
  for (std::size_t t = 0; t < codec_of_.size(); ++t) {
    if (!feeds_back_[t]) continue;
    const TensorSlot& slot = layout_.tensors()[t];
    compressors::DecodeJob job;
    // A residual stands at the start of the state of a codec with feedback.
    job.values = {reinterpret_cast<float*>(state.data() + state_at_[t]),
                  static_cast<std::size_t>(slot.count)};
    job.payload = parts[t];
    job.name = slot.name;
    job.shape = slot.shape;
    codec_of_[t]->decode_accumulate(job, 1.0f, thread_scratch(scratch_));
  }
}

std::vector<std::span<const std::byte>> TensorChannel::payloads(
    std::span<const std::byte> message) const {
  std::vector<std::span<const std::byte>> payloads;
  if (plain_) {
    GRADWIRE_ASSERT(message.size() == 4 * static_cast<std::size_t>(layout_.elements()));
    for (const TensorSlot& slot : layout_.tensors())
      payloads.push_back(message.subspan(4 * static_cast<std::size_t>(slot.first),
                                         4 * static_cast<std::size_t>(slot.count)));
    return payloads;
  }
  MessageReader reader({message}, codecs_[0]->name());
  for (const TensorSlot& slot : layout_.tensors())
    payloads.push_back(reader.next(slot.name, std::nullopt)->bytes);
  return payloads;
}

void TensorChannel::add(std::size_t tensor, std::span<const std::byte> payload, float factor,
                        std::span<float> sum) const {
  const TensorSlot& slot = layout_.tensors()[tensor];
  compressors::DecodeJob job;
  job.values = slice(sum, slot);
  job.payload = payload;
  job.name = slot.name;
  job.shape = slot.shape;
  codec_of_[tensor]->decode_accumulate(job, factor, thread_scratch(scratch_));
}

}  // namespace gradwire::trainers
