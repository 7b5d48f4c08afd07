#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>

#include "codec_fixture.h"
#include "compressors/cuda/cuda_codec.h"
#include "compressors/cuda/cuda_memory.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// CUDA against CPU: the same bytes, the same values, the same residuals, the same refusals.
namespace {

// 77 tells CTest that the program was skipped.
void require_device() {
  const std::string reason = why_no_cuda_device();
  if (reason.empty()) return;
  std::printf("skipped: no CUDA device can be used (%s)\n", reason.c_str());
  std::fflush(stdout);
  std::_Exit(77);
}

struct Pair {
  CodecPtr cpu;
  CudaCodecPtr gpu;
};

std::vector<Pair> all_pairs() {
  std::vector<Pair> pairs;
  const auto add = [&](const char* name, const std::map<std::string, std::string>& options) {
    pairs.push_back({make_codec(name, options), make_cuda_codec(name, options)});
    pairs.push_back({with_error_feedback(pairs.back().cpu), with_error_feedback(pairs.back().gpu)});
  };
  add("none", {});
  add("fp16", {});
  add("fp16", {{"overflow", "saturate"}});
  add("terngrad", {});
  add("terngrad", {{"clip", "0"}});
  add("topk", {{"ratio", "0.01"}});
  add("topk", {{"ratio", "0.7"}});
  return pairs;
}

/// Device side of one codec and tensor size, its state kept from call to call.
class Device {
 public:
  Device(const CudaCodec& codec, std::size_t n)
      : codec_(codec),
        n_(n),
        values_(n + 1),
        state_(codec.state_size(n) + 8),
        payload_(codec.max_encoded_size(n) + 8),
        scratch_(codec.scratch_size(n) + 256),
        report_(1) {
    state_.clear();
  }

  CudaReport encode(const std::vector<float>& values, const CallOptions& options) {
    values_.upload(values);
    codec_.encode({.values = values_.data(),
                   .n = n_,
                   .shared_scale = options.shared_scale,
                   .stream = options.stream,
                   .first_element = options.first_element,
                   .state = state_.data(),
                   .payload = payload_.data(),
                   .report = report_.data()},
                  scratch_.data(), stream_.get());
    return report();
  }

  CudaReport decode(const std::vector<std::byte>& payload, const float* factor) {
    payload_.upload(payload);
    const CudaDecodeJob job{.payload = payload_.data(),
                            .payload_bytes = payload.size(),
                            .values = values_.data(),
                            .n = n_,
                            .report = report_.data()};
    if (factor == nullptr)
      codec_.decode(job, stream_.get());
    else
      codec_.decode_accumulate(job, *factor, stream_.get());
    return report();
  }

  std::vector<std::byte> payload(std::size_t size) const { return download(payload_, size); }
  std::vector<std::byte> state() const { return download(state_, codec_.state_size(n_)); }
  std::vector<float> values() const { return download(values_, n_); }
  void set_values(const std::vector<float>& values) { values_.upload(values); }

 private:
  CudaReport report() {
    stream_.synchronize();
    return download(report_, 1)[0];
  }
  template <class T>
  static std::vector<T> download(const DeviceBuffer<T>& buffer, std::size_t size) {
    std::vector<T> host(size);
    buffer.download(host);
    return host;
  }

  const CudaCodec& codec_;
  std::size_t n_;
  CudaStream stream_;
  DeviceBuffer<float> values_;
  DeviceBuffer<std::byte> state_, payload_, scratch_;
  DeviceBuffer<CudaReport> report_;
};

void compare(const Pair& pair, std::size_t n, const CallOptions& given) {
  INFO(pair.cpu->name() << " n = " << n << " first " << given.first_element);
  Device device(*pair.gpu, n);
  std::vector<std::uint64_t> state(pair.cpu->state_size(n) / 8 + 1);
  const auto state_bytes = std::as_writable_bytes(std::span(state)).first(pair.cpu->state_size(n));
  for (std::uint32_t step = 0; step < 2; ++step) {
    CallOptions options = given;
    options.stream.step = step;
    options.state = state_bytes;
    const auto values = random_values(n, step);
    const auto expected = encode(*pair.cpu, values, options);
    const CudaReport report = device.encode(values, options);
    REQUIRE(report.first_bad == kNothingBad);
    REQUIRE(report.written == expected.size());
    REQUIRE(device.payload(expected.size()) == expected);
    REQUIRE(device.state() == std::vector<std::byte>(state_bytes.begin(), state_bytes.end()));
    REQUIRE(device.decode(expected, nullptr).first_bad == kNothingBad);
    REQUIRE(device.values() == decode(*pair.cpu, expected, n));
    auto sum = values;
    device.set_values(values);
    const float factor = 0.3f;
    device.decode(expected, &factor);
    decode_add(*pair.cpu, expected, factor, sum);
    REQUIRE(device.values() == sum);
  }
}

}  // namespace

TEST_CASE("CUDA gives the CPU's bytes, values and residuals") {
  require_device();
  for (const Pair& pair : all_pairs())
    for (const std::size_t n : {0u, 1u, 3u, 4u, 4097u, 100003u})
      for (const std::uint64_t first : {0u, 3u}) compare(pair, n, {.first_element = first});
}

TEST_CASE("CUDA terngrad takes a shared scale") {
  require_device();
  compare({make_codec("terngrad"), make_cuda_codec("terngrad")}, 5000, {.shared_scale = 0.01f});
  compare({make_codec("terngrad"), make_cuda_codec("terngrad")}, 5000, {.shared_scale = 0.0f});
}

TEST_CASE("CUDA refuses NaN and Inf, naming the first, and keeps the state") {
  require_device();
  for (const Pair& pair : all_pairs()) {
    INFO(pair.cpu->name());
    Device device(*pair.gpu, 10000);
    auto values = random_values(10000);
    device.encode(values, {});
    const auto before = device.state();
    values[9000] = NAN;
    values[7777] = -INFINITY;
    const CudaReport report = device.encode(values, {});
    CHECK(report.first_bad == 7777);
    CHECK(report.written == 0);
    CHECK(device.state() == before);
  }
}

TEST_CASE("CUDA refuses damaged payloads") {
  require_device();
  const auto bad_byte = [](const char* name, const char* payload, std::size_t n) {
    const auto codec = make_cuda_codec(
        name, name == std::string("topk") ? std::map<std::string, std::string>{{"ratio", "1"}}
                                          : std::map<std::string, std::string>{});
    return Device(*codec, n).decode(from_hex(payload), nullptr).first_bad;
  };
  CHECK(bad_byte("terngrad", "0000803f5505", 6) == kNothingBad);
  CHECK(bad_byte("terngrad", "0000803f5507", 6) == 5);
  CHECK(bad_byte("terngrad", "0000803f550d", 5) == kNothingBad);  // beyond the last code
  CHECK(bad_byte("terngrad", "0000807f5505", 6) == 0);
  CHECK(bad_byte("topk", "0100000003000000000080bf", 4) == kNothingBad);
  CHECK(bad_byte("topk", "0100000004000000000080bf", 4) == 4);
  CHECK(bad_byte("topk", "0200000003000000000080bf", 4) == 0);
  CHECK(bad_byte("topk", "01000000", 0) == 0);
  CHECK_THROWS_AS(bad_byte("fp16", "0100", 2), CodecError);
}

TEST_CASE("CUDA proposes the CPU's scale and packs a ring's first hop as the CPU does") {
  require_device();
  for (const char* clip : {"2.5", "0"}) {
    const auto cpu = make_codec("terngrad", {{"clip", clip}});
    const auto gpu = make_cuda_codec("terngrad", {{"clip", clip}});
    REQUIRE(gpu->wants_shared_scale());
    for (const std::size_t n : {1u, 3u, 4097u, 100003u}) {
      const auto values = random_values(n);
      const std::int64_t shape[] = {static_cast<std::int64_t>(n)};
      const TensorView tensor{"t", shape, values};
      DeviceBuffer<float> device(n), scale(1);
      DeviceBuffer<std::byte> scratch(gpu->scratch_size(n) + 256);
      DeviceBuffer<CudaReport> report(1);
      device.upload(values);
      const CudaScaleJob job{
          .values = device.data(), .n = n, .scale = scale.data(), .report = report.data()};
      gpu->local_scale(job, scratch.data(), nullptr);
      std::vector<float> proposed(1);
      scale.download(proposed);
      REQUIRE(proposed[0] == cpu->local_scale(tensor));

      const CallOptions options{.shared_scale = 1.25f * proposed[0], .stream = {5, 6, 7, 8}};
      std::vector<std::uint32_t> terms(n);
      cpu->sum_terms()->to_terms(tensor, {options.shared_scale}, {options.stream}, terms);
      std::vector<std::byte> packed(cpu->sum_terms()->packed_size(n, 1));
      cpu->sum_terms()->pack(terms, 1, packed);
      Device encoder(*gpu, n);
      const CudaReport written = encoder.encode(values, options);
      auto payload = encoder.payload(written.written);
      payload.erase(payload.begin(), payload.begin() + gpu->terms_offset());
      REQUIRE(payload == packed);
    }
  }
}

TEST_CASE("CUDA payloads of none and fp16 are the packed terms of one worker") {
  require_device();
  const auto values = random_values(4099);
  const std::int64_t shape[] = {4099};
  for (const char* name : {"none", "fp16"}) {
    const auto cpu = make_codec(name);
    const auto gpu = make_cuda_codec(name);
    std::vector<std::uint32_t> terms(values.size());
    cpu->sum_terms()->to_terms({"t", shape, values}, {}, {}, terms);
    std::vector<std::byte> packed(cpu->sum_terms()->packed_size(values.size(), 1));
    cpu->sum_terms()->pack(terms, 1, packed);
    Device encoder(*gpu, values.size());
    const CudaReport written = encoder.encode(values, {});
    CHECK(gpu->terms_offset() == 0);
    CHECK(encoder.payload(written.written) == packed);
  }
}
