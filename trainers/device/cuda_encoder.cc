#include <algorithm>
#include <map>

#include "compressors/cuda/cuda_codec.h"
#include "compressors/cuda/cuda_memory.h"
#include "compressors/payload.h"
#include "trainers/device/cuda_steps.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

using compressors::CudaCodecPtr;
using compressors::CudaReport;
using compressors::DeviceBuffer;
using compressors::PinnedBuffer;

constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

CudaCodecPtr make_device_codec(const DeviceCodecSettings& settings) {
  CudaCodecPtr codec = compressors::make_cuda_codec(settings.codec, settings.options);
  return settings.error_feedback ? compressors::with_error_feedback(codec) : codec;
}

void copy_to_host(void* host, const void* device, std::size_t bytes, void* stream) {
  compressors::check_cuda(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost,
                                          static_cast<cudaStream_t>(stream)),
                          "copy to the host");
}

void wait_for(void* stream) {
  compressors::check_cuda(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)),
                          "wait for a training step");
}

compressors::TensorSpec spec_of(const TensorSlot& slot) {
  return {static_cast<std::size_t>(slot.count), slot.name, slot.shape};
}

/// What one worker has on the device, and its page-locked image on the host.
struct Slot {
  DeviceBuffer<std::byte> state, payload;
  DeviceBuffer<float> scales;
  DeviceBuffer<CudaReport> reports;  ///< [2][tensor]: of scales, then of payloads
  PinnedBuffer<std::byte> host_payload;
  PinnedBuffer<float> host_scales;
  PinnedBuffer<CudaReport> host_reports;
  bool proposed = false, encoded = false;  ///< since the last wait
};

class CudaEncoder final : public DeviceEncoder {
 public:
  CudaEncoder(const DeviceCodecSettings& settings, const Layout& layout, void* stream)
      : settings_(settings), layout_(layout), stream_(stream), codec_(make_device_codec(settings)) {
    std::size_t state = 0;
    std::vector<compressors::TensorSpec> specs;
    for (const TensorSlot& slot : layout.tensors()) {
      specs.push_back(spec_of(slot));
      states_.push_back({state, codec_->state_size(specs.back())});
      state += aligned(states_.back().size);
    }
    state_bytes_ = state;
    scratch_ = DeviceBuffer<std::byte>(codec_->batch_scratch_size(specs));
    choose(DevicePayload::kMessage);
  }

  bool packs_exactly() const override { return codec_->packs_exactly(); }

  void choose(DevicePayload form) override {
    form_ = form;
    // The terms of a codec that rounds when it packs are its floats: what "none" sends.
    sender_ = form == DevicePayload::kTerms ? compressors::make_cuda_codec("none") : codec_;
    if (const CudaCodecPtr terms = codec_->terms_codec(); form == DevicePayload::kPacked && terms)
      sender_ = terms;
    payloads_.clear();
    payload_bytes_ = 0;
    for (const TensorSlot& slot : layout_.tensors()) {
      const auto n = static_cast<std::size_t>(slot.count);
      const std::size_t size =
          form == DevicePayload::kValues ? 4 * n : sender_->max_encoded_size(spec_of(slot));
      payloads_.push_back({payload_bytes_, size});
      payload_bytes_ += aligned(size);
    }
    for (auto& [worker, slot] : slots_) make_room(slot);
  }

  void propose(int worker, GradientSpans gradients) override {
    propose_range(slot_of(worker), gradients, 0, gradients.size());
  }

  void encode(int worker, GradientSpans gradients, std::span<const float> scales,
              std::int64_t step) override {
    encode_range(slot_of(worker), worker, gradients, scales, step, 0, gradients.size());
  }

  void wait() override {
    wait_for(stream_);
    for (auto& [worker, slot] : slots_) {
      if (slot.proposed) check_reports(slot.host_reports.data(), 0, tensors());
      if (slot.encoded) check_reports(slot.host_reports.data() + tensors(), 0, tensors());
      slot.proposed = slot.encoded = false;
    }
  }

  std::span<const float> scales(int worker) const override {
    return slots_.at(worker).host_scales.span();
  }

  Message payload(int worker, std::size_t tensor) const override {
    const Part& part = payloads_[tensor];
    const Slot& slot = slots_.at(worker);
    const std::size_t skip = form_ == DevicePayload::kPacked ? codec_->terms_offset() : 0;
    const std::size_t size = form_ == DevicePayload::kValues || sender_->has_fixed_size()
                                 ? part.size
                                 : slot.host_reports.data()[tensors() + tensor].written;
    return Message(slot.host_payload.span()).subspan(part.first + skip, size - skip);
  }

  Times time_bucket(std::size_t b, GradientSpans gradients, int repetitions) override;
  void save_states(StateStore& states) const override;
  void load_states(StateStore& states) override;

 private:
  struct Part {
    std::size_t first, size;
  };

  std::size_t tensors() const { return layout_.tensors().size(); }

  void make_room(Slot& slot) const {
    slot.payload = DeviceBuffer<std::byte>(payload_bytes_);
    slot.host_payload = PinnedBuffer<std::byte>(payload_bytes_);
  }

  Slot& slot_of(int worker) {
    const auto [found, fresh] = slots_.try_emplace(worker);
    Slot& slot = found->second;
    if (!fresh) return slot;
    make_room(slot);
    slot.scales = DeviceBuffer<float>(tensors());
    slot.host_scales = PinnedBuffer<float>(tensors());
    slot.reports = DeviceBuffer<CudaReport>(2 * tensors());
    slot.host_reports = PinnedBuffer<CudaReport>(2 * tensors());
    slot.state = DeviceBuffer<std::byte>(state_bytes_);
    if (state_bytes_ > 0) slot.state.clear();
    wait_for(nullptr);  // that ran on the default stream, the passes may not
    return slot;
  }

  void propose_range(Slot& slot, GradientSpans gradients, std::size_t begin, std::size_t end) {
    scale_jobs_.clear();
    for (std::size_t t = begin; t < end; ++t)
      scale_jobs_.push_back({.values = gradients[t].data(),
                             .n = gradients[t].size(),
                             .scale = slot.scales.data() + t,
                             .report = slot.reports.data() + t});
    codec_->local_scale_batch(scale_jobs_, scratch_.data(), stream_);
    copy_to_host(slot.host_scales.data() + begin, slot.scales.data() + begin,
                 (end - begin) * sizeof(float), stream_);
    copy_to_host(slot.host_reports.data() + begin, slot.reports.data() + begin,
                 (end - begin) * sizeof(CudaReport), stream_);
    slot.proposed = true;
  }

  void encode_range(Slot& slot, int worker, GradientSpans gradients, std::span<const float> scales,
                    std::int64_t step, std::size_t begin, std::size_t end) {
    if (form_ == DevicePayload::kValues) return copy_values(slot, gradients, begin, end);
    encode_jobs_.clear();
    for (std::size_t t = begin; t < end; ++t) {
      const RandomStream draws{settings_.seed, static_cast<std::uint32_t>(step),
                               static_cast<std::uint32_t>(worker),
                               static_cast<std::uint32_t>(layout_.tensors()[t].parameter)};
      encode_jobs_.push_back({.values = gradients[t].data(),
                              .n = gradients[t].size(),
                              .shared_scale = scales.empty() ? -1.0f : scales[t],
                              .stream = draws,
                              .state = slot.state.data() + states_[t].first,
                              .payload = slot.payload.data() + payloads_[t].first,
                              .report = slot.reports.data() + tensors() + t,
                              .shape = layout_.tensors()[t].shape});
    }
    sender_->encode_batch(encode_jobs_, scratch_.data(), stream_);
    const std::size_t first = payloads_[begin].first, last = end - 1;
    copy_to_host(slot.host_payload.data() + first, slot.payload.data() + first,
                 payloads_[last].first + payloads_[last].size - first, stream_);
    copy_to_host(slot.host_reports.data() + tensors() + begin,
                 slot.reports.data() + tensors() + begin, (end - begin) * sizeof(CudaReport),
                 stream_);
    slot.encoded = true;
  }

  void copy_values(Slot& slot, GradientSpans gradients, std::size_t begin, std::size_t end) {
    for (std::size_t t = begin; t < end; ++t) {
      copy_to_host(slot.host_payload.data() + payloads_[t].first, gradients[t].data(),
                   gradients[t].size_bytes(), stream_);
    }
  }

  /// reports[t] of tensors [begin, end).
  void check_reports(const CudaReport* reports, std::size_t begin, std::size_t end) const {
    for (std::size_t t = begin; t < end; ++t) {
      if (reports[t].first_bad == compressors::kNothingBad) continue;
      compressors::refuse_tensor(codec_->name(), layout_.tensors()[t].name,
                                 "element " + std::to_string(reports[t].first_bad) +
                                     " is not finite, or beyond what the codec can send");
    }
  }

  DeviceCodecSettings settings_;
  const Layout& layout_;
  void* stream_;
  CudaCodecPtr codec_, sender_;
  DevicePayload form_ = DevicePayload::kMessage;
  std::vector<Part> states_, payloads_;  ///< by tensor, in a slot's buffers
  std::size_t state_bytes_ = 0, payload_bytes_ = 0;
  DeviceBuffer<std::byte> scratch_;  ///< shared: everything runs in order on one stream
  std::map<int, Slot> slots_;
  std::vector<compressors::CudaScaleJob> scale_jobs_;  ///< kept for their memory
  std::vector<compressors::CudaEncodeJob> encode_jobs_;
};

DeviceEncoder::Times CudaEncoder::time_bucket(std::size_t b, GradientSpans gradients,
                                              int repetitions) {
  const BucketSlot& bucket = layout_.buckets()[b];
  slots_.erase(-1);
  Slot& slot = slot_of(-1);
  compressors::CudaEvent start, end;
  const auto median = [&](auto&& call) {
    std::vector<double> times;
    for (int i = 0; i <= repetitions; ++i) {  // the first is not counted
      start.record(stream_);
      call();
      end.record(stream_);
      end.synchronize();
      if (i > 0) times.push_back(end.seconds_since(start));
    }
    return Seconds(spread_of(times).median);
  };
  Times times;
  std::vector<float> scales;
  if (codec_->wants_shared_scale() && form_ != DevicePayload::kMessage) {
    times.scale =
        median([&] { propose_range(slot, gradients, bucket.first_tensor, bucket.end_tensor); });
    scales.assign(slot.host_scales.span().begin(), slot.host_scales.span().end());
  }
  times.encode = median([&] {
    encode_range(slot, -1, gradients, scales, 0, bucket.first_tensor, bucket.end_tensor);
  });
  const CudaReport* reports = slot.host_reports.data();
  if (slot.proposed) check_reports(reports, bucket.first_tensor, bucket.end_tensor);
  if (slot.encoded) check_reports(reports + tensors(), bucket.first_tensor, bucket.end_tensor);
  slot.proposed = slot.encoded = false;
  return times;
}

void CudaEncoder::save_states(StateStore& states) const {
  if (form_ == DevicePayload::kValues) return;  // who encodes them has the states
  wait_for(stream_);
  for (const auto& [worker, slot] : slots_) {
    if (worker < 0 || state_bytes_ == 0) continue;
    std::vector<std::byte> all(state_bytes_);
    slot.state.download(all);
    for (std::size_t t = 0; t < tensors(); ++t) {
      const auto target = states.at({worker, layout_.tensors()[t].parameter}, states_[t].size);
      std::copy_n(all.begin() + static_cast<std::ptrdiff_t>(states_[t].first), states_[t].size,
                  target.begin());
    }
  }
}

void CudaEncoder::load_states(StateStore& states) {
  wait_for(stream_);
  slots_.clear();
  if (form_ == DevicePayload::kValues) return;
  for (const int worker : states.owners()) {
    std::vector<std::byte> all(state_bytes_);
    for (std::size_t t = 0; t < tensors(); ++t) {
      const auto source = states.at({worker, layout_.tensors()[t].parameter}, states_[t].size);
      std::copy(source.begin(), source.end(),
                all.begin() + static_cast<std::ptrdiff_t>(states_[t].first));
    }
    slot_of(worker).state.upload(all);
  }
  wait_for(nullptr);
}

}  // namespace

namespace on_cuda {

std::string why_steps_leave_device(const DeviceCodecSettings& settings) {
  if (settings.decorated) return "clipping, momentum correction and rules have no CUDA version";
  try {
    make_device_codec(settings);
    return "";
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    return "codec " + settings.codec + " has no CUDA version";
  }
}

std::unique_ptr<DeviceEncoder> make_encoder(const DeviceCodecSettings& settings,
                                            const Layout& layout, void* stream) {
  return std::make_unique<CudaEncoder>(settings, layout, stream);
}

}  // namespace on_cuda
}  // namespace gradwire::trainers
