#include <catch2/catch.hpp>

#include "cuda_batch.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// Many tensors in one call: for each what a call for it alone gives, which is what the CPU gives.
namespace {

/// More than two launches take where a launch takes 24; sizes about the edges of tiles (2,048) and
/// chunks (4,096), rows that are odd, none.
std::vector<Shape> mixed_shapes() {
  std::vector<Shape> shapes = {{0}, {1}, {3},  {2048}, {4097},   {50, 7}, {1},  {0},
                               {8}, {9}, {20}, {2049}, {3, 701}, {13003}, {255}};
  while (shapes.size() < 51) shapes.push_back({static_cast<std::int64_t>(shapes.size() * 13 % 37)});
  shapes.push_back({5000});
  shapes.push_back({0});
  return shapes;
}

/// The same tensors on the CPU, one by one.
struct Expected {
  std::vector<std::vector<std::uint64_t>> states;
  std::vector<std::vector<std::byte>> payloads;

  Expected(const Codec& codec, const DeviceBatch& batch) : payloads(batch.size()) {
    for (std::size_t t = 0; t < batch.size(); ++t)
      states.emplace_back(codec.state_size(spec(batch, t)) / 8 + 1);
  }
  static TensorSpec spec(const DeviceBatch& batch, std::size_t t) {
    return {elements_of(batch.shape(t)), {}, batch.shape(t)};
  }
  std::span<std::byte> state(const Codec& codec, const DeviceBatch& batch, std::size_t t) {
    return std::as_writable_bytes(std::span(states[t])).first(codec.state_size(spec(batch, t)));
  }
  void encode(const Codec& codec, const DeviceBatch& batch,
              const std::vector<std::vector<float>>& values, std::uint32_t step) {
    for (std::size_t t = 0; t < batch.size(); ++t) {
      std::vector<std::uint64_t> scratch(codec.scratch_size(spec(batch, t)) / 8 + 1);
      payloads[t].resize(codec.max_encoded_size(spec(batch, t)));
      EncodeJob job{.tensor = {.name = "t", .shape = batch.shape(t), .data = values[t]},
                    .draws = {DeviceBatch::draws(t, step), DeviceBatch::first_element(t), {}},
                    .state = state(codec, batch, t),
                    .payload = payloads[t]};
      payloads[t].resize(codec.encode(job, std::as_writable_bytes(std::span(scratch))));
    }
  }
  /// 0 * values + decoded, or values + factor * decoded.
  std::vector<float> decode(const Codec& codec, const DeviceBatch& batch, std::size_t t,
                            const float* factor, std::vector<float> values) const {
    std::vector<std::uint64_t> scratch(codec.scratch_size(spec(batch, t)) / 8 + 1);
    const auto bytes = std::as_writable_bytes(std::span(scratch));
    const DecodeJob job{.payload = payloads[t], .values = values, .shape = batch.shape(t)};
    if (factor == nullptr)
      codec.decode(job, bytes);
    else
      codec.decode_accumulate(job, *factor, bytes);
    return values;
  }
};

void check_encoded(const CodecPair& pair, const DeviceBatch& batch, Expected& expected,
                   const std::vector<CudaReport>& reports) {
  for (std::size_t t = 0; t < batch.size(); ++t) {
    INFO(pair.gpu->name() << " tensor " << t);
    REQUIRE(reports[t].first_bad == kNothingBad);
    REQUIRE(reports[t].written == expected.payloads[t].size());
    REQUIRE(batch.payload(t, reports[t].written) == expected.payloads[t]);
    const auto state = expected.state(*pair.cpu, batch, t);
    REQUIRE(batch.state(t) == std::vector<std::byte>(state.begin(), state.end()));
  }
}

void check_decoded(const CodecPair& pair, DeviceBatch& batch, const Expected& expected,
                   const std::vector<CudaReport>& encoded, const float* factor,
                   const std::vector<std::vector<float>>& before) {
  batch.set_values(before);
  const auto reports = batch.decode(encoded, factor);
  for (std::size_t t = 0; t < batch.size(); ++t) {
    INFO(pair.gpu->name() << " tensor " << t);
    REQUIRE(reports[t].first_bad == kNothingBad);
    REQUIRE(reports[t].written == elements_of(batch.shape(t)));
    REQUIRE(batch.values(t) == expected.decode(*pair.cpu, batch, t, factor, before[t]));
  }
}

std::vector<CodecPair> some_of_each() {
  return {{make_codec("fp16"), make_cuda_codec("fp16")},
          {make_codec("minmax"), make_cuda_codec("minmax")},
          {make_codec("terngrad"), make_cuda_codec("terngrad")},
          {make_codec("sign"), make_cuda_codec("sign")}};
}

}  // namespace

TEST_CASE("a CUDA batch gives each tensor's own bytes, values and residuals") {
  require_device();
  const float factor = -0.7f;
  for (const CodecPair& pair : all_pairs()) {
    DeviceBatch batch(*pair.gpu, mixed_shapes());
    Expected expected(*pair.cpu, batch);
    for (std::uint32_t step = 0; step < 2; ++step) {
      const auto values = batch_values(batch, step);
      expected.encode(*pair.cpu, batch, values, step);
      const auto reports = batch.encode(values, step);
      check_encoded(pair, batch, expected, reports);
      if (!pair.gpu->decodes()) continue;
      check_decoded(pair, batch, expected, reports, nullptr, values);
      check_decoded(pair, batch, expected, reports, &factor, values);
    }
  }
}

TEST_CASE("a bad tensor of a CUDA batch spoils no other") {
  require_device();
  for (const CodecPair& plain : some_of_each()) {
    const CodecPair pair{with_error_feedback(plain.cpu), with_error_feedback(plain.gpu)};
    INFO(pair.gpu->name());
    DeviceBatch batch(*pair.gpu, {{3000}, {5001}, {17}});
    Expected expected(*pair.cpu, batch);
    auto values = batch_values(batch, 0);
    expected.encode(*pair.cpu, batch, values, 0);
    values[1][4999] = NAN;
    values[1][4700] = INFINITY;
    const auto reports = batch.encode(values, 0);
    CHECK(reports[1].first_bad == 4700);
    CHECK(reports[1].written == 0);
    CHECK(batch.state(1) == std::vector<std::byte>(batch.state(1).size()));
    for (const std::size_t t : {0u, 2u}) {
      CHECK(reports[t].first_bad == kNothingBad);
      CHECK(batch.payload(t, reports[t].written) == expected.payloads[t]);
    }
  }
}

TEST_CASE("a damaged payload of a CUDA batch spoils no other") {
  require_device();
  const CodecPair pair{make_codec("terngrad"), make_cuda_codec("terngrad")};
  DeviceBatch batch(*pair.gpu, {{3000}, {5001}, {17}});
  Expected expected(*pair.cpu, batch);
  const auto values = batch_values(batch, 0);
  expected.encode(*pair.cpu, batch, values, 0);
  const auto encoded = batch.encode(values, 0);
  batch.set_payload_byte(1, 3, std::byte{0xFF});  // a negative scale, or none at all
  batch.set_values(values);
  const auto reports = batch.decode(encoded, nullptr);
  CHECK(reports[1].first_bad == 0);
  CHECK(reports[1].written == 0);
  CHECK(batch.values(1) == values[1]);
  for (const std::size_t t : {0u, 2u}) {
    CHECK(reports[t].first_bad == kNothingBad);
    CHECK(batch.values(t) == expected.decode(*pair.cpu, batch, t, nullptr, values[t]));
  }
}

TEST_CASE("a CUDA batch proposes each tensor's scale, and takes those that are shared") {
  require_device();
  const auto cpu = make_codec("terngrad");
  const auto gpu = make_cuda_codec("terngrad");
  const std::vector<std::size_t> sizes = {0, 1, 5000, 3, 4096};
  std::vector<TensorSpec> specs(sizes.begin(), sizes.end());
  DeviceBuffer<std::byte> scratch(gpu->batch_scratch_size(specs) + 256), payload(4096);
  DeviceBuffer<float> values(16384), scales(sizes.size());
  DeviceBuffer<CudaReport> reports(2 * sizes.size());
  const std::vector<float> all = random_values(16384);
  values.upload(all);
  std::vector<CudaScaleJob> proposals;
  std::vector<CudaEncodeJob> encodes;
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    const float* from = values.data() + 2000 * t;
    proposals.push_back(
        {.values = from, .n = sizes[t], .scale = scales.data() + t, .report = reports.data() + t});
    encodes.push_back({.values = from,
                       .n = sizes[t],
                       .shared_scale = t % 2 == 0 ? 0.01f : -1.0f,
                       .payload = payload.data() + (t == 2 ? 2048 : 64 * t),
                       .report = reports.data() + sizes.size() + t});
  }
  encodes.pop_back();  // its payload has no room between the others'
  gpu->local_scale_batch(proposals, scratch.data(), nullptr);
  gpu->encode_batch(encodes, scratch.data(), nullptr);
  std::vector<float> proposed(sizes.size());
  std::vector<std::byte> bytes(4096);
  scales.download(proposed);
  payload.download(bytes);
  for (std::size_t t = 0; t < sizes.size(); ++t) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(2000 * t);
    const std::vector<float> own(begin, begin + static_cast<std::ptrdiff_t>(sizes[t]));
    const Shape shape = {static_cast<std::int64_t>(sizes[t])};
    INFO("tensor " << t);
    CHECK(proposed[t] == cpu->local_scale({"t", shape, own}));
    if (t == 4) continue;
    const auto expected =
        encode(*cpu, own, {.shared_scale = t % 2 == 0 ? 0.01f : -1.0f, .stream = {}});
    const auto place = bytes.begin() + (t == 2 ? 2048 : 64 * static_cast<int>(t));
    CHECK(std::equal(expected.begin(), expected.end(), place));
  }
}
