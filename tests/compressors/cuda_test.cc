#include <catch2/catch.hpp>

#include "codec_fixture.h"
#include "compressors/arithmetic/bits.h"
#include "compressors/codecs/sz/cuda_quantise.h"
#include "compressors/codecs/sz/lorenzo.h"
#include "compressors/codecs/sz/sz_symbols.h"
#include "compressors/cuda/cuda_codec.h"
#include "compressors/cuda/cuda_memory.h"
#include "cuda_device.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// CUDA against CPU: the same bytes, the same values, the same residuals, the same refusals.
namespace {

/// Device side of one codec and tensor size, its state kept from call to call.
class Device {
 public:
  /// `shift`: floats by which the values are out of line.
  explicit Device(const CudaCodec& codec, std::size_t n, std::vector<std::int64_t> shape = {},
                  std::size_t shift = 0)
      : codec_(codec),
        n_(n),
        shape_(std::move(shape)),
        shift_(shift),
        values_(n + shift + 1),
        state_(codec.state_size(spec()) + 8),
        payload_(codec.max_encoded_size(spec()) + 8),
        scratch_(codec.scratch_size(spec()) + 256),
        report_(1) {
    state_.clear();
  }

  CudaReport encode(const std::vector<float>& values, const CallOptions& options) {
    set_values(values);
    codec_.encode({.values = values_.data() + shift_,
                   .n = n_,
                   .shared_scale = options.shared_scale,
                   .stream = options.stream,
                   .first_element = options.first_element,
                   .state = state_.data(),
                   .payload = payload_.data(),
                   .report = report_.data(),
                   .shape = shape_},
                  scratch_.data(), stream_.get());
    return report();
  }

  CudaReport decode(const std::vector<std::byte>& payload, const float* factor) {
    payload_.upload(payload);
    const CudaDecodeJob job{.payload = payload_.data(),
                            .payload_bytes = payload.size(),
                            .values = values_.data() + shift_,
                            .n = n_,
                            .report = report_.data(),
                            .shape = shape_};
    if (factor == nullptr)
      codec_.decode(job, stream_.get());
    else
      codec_.decode_accumulate(job, *factor, stream_.get());
    return report();
  }

  std::vector<std::byte> payload(std::size_t size) const { return download(payload_, size); }
  std::vector<std::byte> state() const { return download(state_, codec_.state_size(spec())); }
  std::vector<float> values() const {
    std::vector<float> all = download(values_, n_ + shift_);
    all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shift_));
    return all;
  }
  void set_values(const std::vector<float>& values) {
    std::vector<float> all(shift_);
    all.insert(all.end(), values.begin(), values.end());
    values_.upload(all);
  }

 private:
  TensorSpec spec() const { return {n_, {}, shape_}; }
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
  std::vector<std::int64_t> shape_;
  std::size_t shift_;
  CudaStream stream_;
  DeviceBuffer<float> values_;
  DeviceBuffer<std::byte> state_, payload_, scratch_;
  DeviceBuffer<CudaReport> report_;
};

void compare(const CodecPair& pair, std::size_t n, const CallOptions& given) {
  INFO(pair.cpu->name() << " n = " << n << " first " << given.first_element);
  Device device(*pair.gpu, n, {}, given.first_element % 2);
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
    if (pair.gpu->has_fixed_size()) REQUIRE(expected.size() == pair.gpu->max_encoded_size(n));
    REQUIRE(device.state() == std::vector<std::byte>(state_bytes.begin(), state_bytes.end()));
    if (!pair.gpu->decodes()) continue;
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
  for (const CodecPair& pair : all_pairs())
    for (const std::size_t n : {0u, 1u, 3u, 4u, 4097u, 100003u})
      for (const std::uint64_t first : {0u, 3u}) compare(pair, n, {.first_element = first});
}

TEST_CASE("CUDA gives the CPU's bytes for tensors of few values, of extremes and of zeros") {
  require_device();
  const std::size_t n = 5003;
  for (const CodecPair& pair : all_pairs())
    for (int kind = 0; kind < 4; ++kind) {
      INFO(pair.cpu->name() << " kind " << kind);
      std::vector<float> values(n);
      const bool halves = pair.cpu->name().starts_with("rowquant");  // scales in binary16
      const float largest = halves ? 6e4f : 1e30f;
      for (std::size_t e = 0; e < n; ++e) {
        const std::uint32_t word = philox_word({.seed = 11}, e);
        if (kind == 1) values[e] = word % 3 == 0 ? -0.5f : 0.25f;  // ties everywhere
        if (kind == 2)
          values[e] = float_of(word % 0x00900000u | (word & 0x80000000u));  // subnormal
        if (kind == 3) values[e] = word % 2 == 0 ? largest : -3e-30f;
      }
      Device device(*pair.gpu, n);
      std::vector<std::uint64_t> state(pair.cpu->state_size(n) / 8 + 1);
      CallOptions options;
      options.state = std::as_writable_bytes(std::span(state)).first(pair.cpu->state_size(n));
      const auto expected = encode(*pair.cpu, values, options);
      const CudaReport report = device.encode(values, options);
      REQUIRE(report.first_bad == kNothingBad);
      REQUIRE(report.written == expected.size());
      REQUIRE(device.payload(expected.size()) == expected);
      REQUIRE(device.state() == std::vector<std::byte>(options.state.begin(), options.state.end()));
      if (!pair.gpu->decodes()) continue;
      REQUIRE(device.decode(expected, nullptr).first_bad == kNothingBad);
      REQUIRE(device.values() == decode(*pair.cpu, expected, n));
    }
}

TEST_CASE("CUDA rowquant takes rows and columns of a shape") {
  require_device();
  for (const std::vector<std::int64_t>& shape : std::vector<std::vector<std::int64_t>>{
           {50, 7}, {3, 9001}, {9001, 3}, {2, 5, 16}, {1000, 1}, {0, 5}})
    for (const char* grid : {"symmetric", "released"}) {
      std::size_t n = 1;
      for (const std::int64_t d : shape) n *= static_cast<std::size_t>(d);
      INFO(grid << " n " << n << " columns " << shape.back());
      const Options options = {{"bits", "3"}, {"grid", grid}};
      const CodecPtr cpu = make_codec("rowquant", options);
      const CudaCodecPtr gpu = make_cuda_codec("rowquant", options);
      const auto values = random_values(n);
      const TensorView tensor{"t", shape, values};
      std::vector<std::byte> expected(cpu->max_encoded_size(tensor));
      std::vector<std::uint64_t> scratch(cpu->scratch_size(tensor) / 8 + 1);
      const auto scratch_bytes = std::as_writable_bytes(std::span(scratch));
      EncodeJob job{.tensor = tensor, .payload = expected};
      cpu->encode(job, scratch_bytes);
      REQUIRE(gpu->max_encoded_size(tensor) == expected.size());
      Device device(*gpu, n, shape);
      REQUIRE(device.encode(values, {}).written == expected.size());
      REQUIRE(device.payload(expected.size()) == expected);
      REQUIRE(device.decode(expected, nullptr).first_bad == kNothingBad);
      std::vector<float> decoded(n);
      cpu->decode({.payload = expected, .values = decoded, .shape = shape}, scratch_bytes);
      REQUIRE(device.values() == decoded);
    }
}

TEST_CASE("CUDA dgc writes and reads fillers") {
  require_device();
  std::vector<float> values(300000);
  values[70000] = 2;
  values[299999] = -1;
  const Options options = {{"k", "2"}, {"selection", "exact"}};
  const CodecPtr cpu = make_codec("dgc", options);
  const CudaCodecPtr gpu = make_cuda_codec("dgc", options);
  Device device(*gpu, values.size());
  const auto expected = encode(*cpu, values);
  REQUIRE(expected.size() == 4 + 6 * (2 + 1 + 3));
  REQUIRE(device.encode(values, {}).written == expected.size());
  REQUIRE(device.payload(expected.size()) == expected);
  REQUIRE(device.decode(expected, nullptr).first_bad == kNothingBad);
  REQUIRE(device.values() == values);
}

TEST_CASE("CUDA quantises and predicts as sz does") {
  require_device();
  for (const std::size_t n : {0u, 1u, 1000u, 100003u}) {
    auto values = random_values(n);
    if (n > 10) values[9] = 3e30f;  // beyond the grid
    DeviceBuffer<float> device(n + 1);
    DeviceBuffer<std::int32_t> codes(n + 1);
    DeviceBuffer<std::uint16_t> symbols(n + 1);
    DeviceBuffer<std::uint32_t> counts(2 * 512);
    DeviceBuffer<CudaReport> report(1);
    device.upload(values);
    cuda_quantise(device.data(), n, 1e-3f, codes.data(), report.data(), nullptr);
    std::vector<CudaReport> written(1);
    report.download(written);
    REQUIRE(written[0].written == n);
    std::vector<std::int32_t> got(n), expected(n);
    codes.download(got);
    const DualGrid grid = dual_grid(1e-3f);
    kernels::dual_codes(values.data(), n, grid, expected.data());
    REQUIRE(got == expected);
    for (int predictor = 0; predictor < 3 && n > 0; ++predictor) {
      const std::size_t columns = n == 1000 ? 40 : n;
      cuda_lorenzo_symbols(codes.data(), n, {columns, 512, predictor}, symbols.data(),
                           counts.data(), nullptr);
      std::vector<std::uint16_t> symbol(n), expected_symbol(n);
      std::vector<std::uint32_t> count(1024), expected_count(1024);
      symbols.download(symbol);
      counts.download(count);
      sz_symbols({expected.data(), n, columns, 512, predictor}, 0, n, expected_symbol.data());
      for (const std::uint16_t s : expected_symbol) ++expected_count[s];
      REQUIRE(symbol == expected_symbol);
      REQUIRE(count == expected_count);
    }
    cuda_dequantise(codes.data(), n, 1e-3f, device.data(), nullptr);
    cuda_dequantise_add(codes.data(), n, 1e-3f, 0.5f, device.data(), nullptr);
    std::vector<float> decoded(n), expected_values(n);
    device.download(decoded);
    kernels::dual_values(expected.data(), n, grid, expected_values.data());
    kernels::dual_values_add(expected.data(), n, grid, 0.5f, expected_values.data());
    REQUIRE(decoded == expected_values);
  }
}

TEST_CASE("CUDA terngrad takes a shared scale") {
  require_device();
  compare({make_codec("terngrad"), make_cuda_codec("terngrad")}, 5000, {.shared_scale = 0.01f});
  compare({make_codec("terngrad"), make_cuda_codec("terngrad")}, 5000, {.shared_scale = 0.0f});
}

TEST_CASE("CUDA refuses NaN and Inf, naming the first, and keeps the state") {
  require_device();
  for (const CodecPair& pair : all_pairs()) {
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
  CHECK(bad_byte("int8", "02000000000000000000803f00ff", 2) == kNothingBad);
  CHECK(bad_byte("int8", "03000000000000000000803f00ff", 2) == 0);
  CHECK(bad_byte("int8", "020000000000c07f0000803f00ff", 2) == 4);
  CHECK(bad_byte("int8", "02000000000000000000803f00", 1) == 0);
  CHECK(bad_byte("int8", "020000000000803f0000000000ff", 2) == 8);
  CHECK(bad_byte("minmax", "000080bf000000001000000000000000", 2) == 0);
  CHECK(bad_byte("minmax", "0000803f0000807f1000000000000000", 2) == 4);
  CHECK(bad_byte("rowquant", "10007c", 2) == 1);
  CHECK(bad_byte("qsgd", "000080bf10", 2) == 0);
  CHECK(bad_byte("natural", "ff00", 1) == 0);
  CHECK(bad_byte("natural", "7e00", 1) == kNothingBad);
  CHECK(bad_byte("log", "03000000004100", 2) == 0);
  CHECK(bad_byte("ternary", "020000000000803f05", 2) == kNothingBad);
  CHECK(bad_byte("ternary", "020000000000803f0f", 2) == 8);
  CHECK(bad_byte("ternary", "020000000000c0ff05", 2) == 4);
  CHECK(bad_byte("sign", "000080ff00", 2) == 0);
  CHECK(bad_byte("dgc", "0100000000000000803f", 1) == kNothingBad);
  CHECK(bad_byte("dgc", "0100000001000000803f", 1) == 4);
  CHECK(bad_byte("dgc", "0200000000000000803f", 1) == 0);
  CHECK_THROWS_AS(bad_byte("dgc", "0100000000", 1), CodecError);
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
