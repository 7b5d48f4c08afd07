#pragma once

#include "compressors/cuda/cuda_memory.h"
#include "cuda_device.h"

namespace gradwire::compressors::testing {

using Shape = std::vector<std::int64_t>;

inline std::size_t elements_of(const Shape& shape) {
  std::size_t n = 1;
  for (const std::int64_t size : shape) n *= static_cast<std::size_t>(size);
  return n;
}

/// Tensors of one codec in one device buffer each for values, payloads and states, packed as
/// closely as their alignment allows.
class DeviceBatch {
 public:
  DeviceBatch(const CudaCodec& codec, std::vector<Shape> shapes)
      : codec_(codec), shapes_(std::move(shapes)) {
    std::size_t values = 0, payload = 0, state = 0;
    std::vector<TensorSpec> specs;
    for (const Shape& shape : shapes_) {
      const TensorSpec spec(elements_of(shape), {}, shape);
      specs.push_back(spec);
      places_.push_back({values, payload, state});
      values += spec.n;
      payload += (codec.max_encoded_size(spec) + 3) / 4 * 4;
      state += (codec.state_size(spec) + 7) / 8 * 8;
    }
    values_ = DeviceBuffer<float>(values + 1);
    payload_ = DeviceBuffer<std::byte>(payload + 4);
    state_ = DeviceBuffer<std::byte>(state + 8);
    scratch_ = DeviceBuffer<std::byte>(codec.batch_scratch_size(specs) + 256);
    reports_ = DeviceBuffer<CudaReport>(size() + 1);
    state_.clear();
  }

  std::size_t size() const { return shapes_.size(); }
  const Shape& shape(std::size_t t) const { return shapes_[t]; }
  static RandomStream draws(std::size_t t, std::uint32_t step) {
    return {.seed = 5, .step = step, .worker = 1, .tensor = static_cast<std::uint32_t>(t)};
  }
  static std::uint64_t first_element(std::size_t t) { return t % 3 == 0 ? 0 : 7 * t; }

  std::vector<CudaReport> encode(const std::vector<std::vector<float>>& values,
                                 std::uint32_t step) {
    set_values(values);
    std::vector<CudaEncodeJob> jobs;
    for (std::size_t t = 0; t < size(); ++t)
      jobs.push_back({.values = values_.data() + places_[t].values,
                      .n = elements_of(shapes_[t]),
                      .stream = draws(t, step),
                      .first_element = first_element(t),
                      .state = state_.data() + places_[t].state,
                      .payload = payload_.data() + places_[t].payload,
                      .report = reports_.data() + t,
                      .shape = shapes_[t]});
    codec_.encode_batch(jobs, scratch_.data(), stream_.get());
    return reports();
  }

  /// Of what was encoded; with a factor, adds to the values that are there.
  std::vector<CudaReport> decode(const std::vector<CudaReport>& encoded, const float* factor) {
    std::vector<CudaDecodeJob> jobs;
    for (std::size_t t = 0; t < size(); ++t)
      jobs.push_back({.payload = payload_.data() + places_[t].payload,
                      .payload_bytes = encoded[t].written,
                      .values = values_.data() + places_[t].values,
                      .n = elements_of(shapes_[t]),
                      .report = reports_.data() + t,
                      .shape = shapes_[t]});
    if (factor == nullptr)
      codec_.decode_batch(jobs, stream_.get());
    else
      codec_.decode_accumulate_batch(jobs, *factor, stream_.get());
    return reports();
  }

  std::vector<std::byte> payload(std::size_t t, std::size_t bytes) const {
    return part(payload_, places_[t].payload, bytes);
  }
  void set_payload_byte(std::size_t t, std::size_t at, std::byte byte) {
    std::vector<std::byte> all(payload_.size());
    payload_.download(all);
    all[places_[t].payload + at] = byte;
    payload_.upload(all);
  }
  std::vector<std::byte> state(std::size_t t) const {
    const Shape& shape = shapes_[t];
    return part(state_, places_[t].state, codec_.state_size({elements_of(shape), {}, shape}));
  }
  std::vector<float> values(std::size_t t) const {
    return part(values_, places_[t].values, elements_of(shapes_[t]));
  }
  void set_values(const std::vector<std::vector<float>>& values) {
    std::vector<float> all;
    for (const auto& tensor : values) all.insert(all.end(), tensor.begin(), tensor.end());
    values_.upload(all);
  }

 private:
  struct Places {
    std::size_t values, payload, state;
  };

  std::vector<CudaReport> reports() {
    stream_.synchronize();
    return part(reports_, 0, size());
  }
  template <class T>
  static std::vector<T> part(const DeviceBuffer<T>& buffer, std::size_t first, std::size_t count) {
    std::vector<T> all(buffer.size());
    buffer.download(all);
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first);
    return {begin, begin + static_cast<std::ptrdiff_t>(count)};
  }

  const CudaCodec& codec_;
  std::vector<Shape> shapes_;
  std::vector<Places> places_;
  CudaStream stream_;
  DeviceBuffer<float> values_;
  DeviceBuffer<std::byte> payload_, state_, scratch_;
  DeviceBuffer<CudaReport> reports_;
};

/// Values of each tensor, others for each step.
inline std::vector<std::vector<float>> batch_values(const DeviceBatch& batch, std::uint32_t step) {
  std::vector<std::vector<float>> values;
  for (std::size_t t = 0; t < batch.size(); ++t)
    values.push_back(
        random_values(elements_of(batch.shape(t)), 100 * step + static_cast<std::uint32_t>(t)));
  return values;
}

}  // namespace gradwire::compressors::testing
