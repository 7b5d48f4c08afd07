#include "trainers/routes/part_coder.h"

#include <algorithm>

#include "compressors/codec_plan.h"
#include "trainers/channel/framing.h"
#include "trainers/channel/run_job.h"
#include "trainers/routes/decode_arrived.h"

namespace gradwire::trainers {

PartCoder::PartCoder(const ExchangeSettings& settings, const Layout& layout,
                     const compressors::Codec& codec, Direction direction)
    : settings_(settings), layout_(layout), direction_(direction) {
  for (const TensorSlot& slot : layout.tensors())
    codecs_.push_back(&compressors::chosen_codec(codec, spec_of(slot)));
}

void PartCoder::expect(const Parts& parts) {
  for (const TensorPart& part : parts)
    scratch_size_ = std::max(scratch_size_, codec(part).scratch_size(spec(part)));
}

std::size_t PartCoder::most_bytes(const Parts& parts) const {
  std::size_t bytes = 0;
  for (const TensorPart& part : parts)
    bytes += kLengthBytes + codec(part).max_encoded_size(spec(part));
  return bytes;
}

void PartCoder::write(StateStore& states, const Parts& parts, const Sender& sender,
                      const ValuesOf& values_of, std::size_t most,
                      std::vector<std::byte>& message) const {
  MessageWriter writer(message, most);
  for (const TensorPart& part : parts) {
    const TensorSlot& slot = layout_.tensors()[part.tensor];
    compressors::EncodeJob job = run_job(
        {slot.name, part.shape, values_of(part)},
        {settings_.seed, static_cast<std::uint32_t>(sender.step),
         static_cast<std::uint32_t>(sender.draws_as), static_cast<std::uint32_t>(slot.parameter)},
        static_cast<std::uint64_t>(part.first));
    const std::int64_t remembered = sender.whole_tensors ? -1 : part.first;
    job.state = states.at({sender.owner, slot.parameter, direction_, remembered},
                          codec(part).state_size(spec(part)));
    writer.add([&](std::span<std::byte> room) {
      job.payload = room;
      return codec(part).encode(job, thread_scratch(scratch_size_));
    });
  }
  writer.finish();
}

void PartCoder::add(const Parts& parts, const Received& message, float factor, std::int64_t first,
                    std::span<float> sum) const {
  MessageReader reader(message, settings_.codec->name());
  for (const TensorPart& part : parts) {
    const TensorSlot& slot = layout_.tensors()[part.tensor];
    const std::optional<Received> payload = reader.next(slot.name, usual_size(part));
    if (!payload) continue;
    compressors::DecodeJob job;
    job.payload = payload->bytes;
    job.values = sum.subspan(static_cast<std::size_t>(first_of(part) - first),
                             static_cast<std::size_t>(part.count));
    job.name = slot.name;
    job.shape = part.shape;
    decode_arrived(codec(part), job, payload->gaps, factor, thread_scratch(scratch_size_));
  }
}

void PartCoder::find_by_length() {
  if (fixed_.empty()) fixed_ = fixed_sizes(codecs_);
}

/// What a receiver knows of the length of a part's payload.
std::optional<std::size_t> PartCoder::usual_size(const TensorPart& part) const {
  if (fixed_.empty() || !fixed_[part.tensor]) return std::nullopt;
  return codec(part).max_encoded_size(spec(part));
}

}  // namespace gradwire::trainers
