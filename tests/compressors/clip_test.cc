#include "compressors/decorators/clip.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "base/thread_team.h"
#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

std::vector<float> clipped(ClipBy by, double threshold, const std::vector<float>& values) {
  const CodecPtr codec = with_clipping(make_codec("none"), {by, threshold});
  return decode(*codec, encode(*codec, values), values.size());
}

}  // namespace

TEST_CASE("by norm: the tensor is scaled to the threshold, or left alone") {
  // ||(3, -4)|| = 5: at 2.5 every element is halved.
  CHECK(clipped(ClipBy::kNorm, 2.5, {3, -4}) == std::vector<float>{1.5f, -2});
  CHECK(clipped(ClipBy::kNorm, 5, {3, -4}) == std::vector<float>{3, -4});
  CHECK(clipped(ClipBy::kNorm, 1e30, {3, -4}) == std::vector<float>{3, -4});
}

TEST_CASE("by value: each element into the range") {
  CHECK(clipped(ClipBy::kValue, 2, {3, -4, 1, -0.0f}) == std::vector<float>{2, -2, 1, -0.0f});
}

TEST_CASE("by sigma: n standard deviations of the tensor about its mean") {
  // Mean 0, sigma^2 = (1 + 1 + 1 + 1 + 16 + 16) / 6 = 6: one sigma is 2.449...
  const auto out = clipped(ClipBy::kSigma, 1, {1, -1, 1, -1, 4, -4});
  const auto bound = static_cast<float>(std::sqrt(6.0));
  CHECK(out == std::vector<float>{1, -1, 1, -1, bound, -bound});
  // Constant: sigma = 0, which must not erase the tensor.
  CHECK(clipped(ClipBy::kSigma, 1, {5, 5, 5}) == std::vector<float>{5, 5, 5});
}

TEST_CASE("error feedback inside a clip never sees what was cut off") {
  const CodecPtr codec = with_clipping(with_error_feedback(make_codec("topk", {{"ratio", "0.5"}})),
                                       {ClipBy::kValue, 2});
  CHECK(codec->name() == "topk+ef+clip");
  std::vector<std::uint64_t> words(codec->state_size(2) / 8);
  const auto state = std::as_writable_bytes(std::span(words));
  // (10, 1) -> (2, 1): 2 is sent, 1 stays; then (0, 0) sends the 1, not the 8 that was clipped.
  CHECK(decode(*codec, encode(*codec, {10, 1}, {.state = state}), 2) == std::vector<float>{2, 0});
  CHECK(decode(*codec, encode(*codec, {0, 0}, {.state = state}), 2) == std::vector<float>{0, 1});
  CHECK(decode(*codec, encode(*codec, {0, 0}, {.state = state}), 2) == std::vector<float>{0, 0});
}

TEST_CASE("a clip leaves policies to the codec inside, but a norm is of the whole tensor") {
  CHECK(with_clipping(make_codec("fp16"), {})->policy() == AggregatePolicy::kSum);
  const CodecPtr minmax = make_codec("minmax");
  REQUIRE(minmax->policy() == AggregatePolicy::kRequantize);
  CHECK(with_clipping(minmax, {ClipBy::kValue, 1})->policy() == AggregatePolicy::kRequantize);
  CHECK(with_clipping(minmax, {ClipBy::kNorm, 1})->policy() == AggregatePolicy::kGather);
}

TEST_CASE("clipping is the same on one thread and on three") {
  const std::vector<float> values = random_values(300'000);
  const CodecPtr codec = with_clipping(make_codec("none"), {ClipBy::kNorm, 0.5});
  const std::vector<std::byte> alone = encode(*codec, values);
  ThreadTeam team(3);
  const std::vector<std::int64_t> shape = {300'000};
  std::vector<std::byte> payload(codec->max_encoded_size(values.size()));
  std::vector<std::byte> scratch(codec->scratch_size(values.size()));
  EncodeJob job{.tensor = view_of(values, shape), .payload = payload, .team = &team};
  payload.resize(codec->encode(job, scratch));
  CHECK((payload == alone));
  CHECK((alone != encode(*make_codec("none"), values)));  // negative control: it did clip
}

TEST_CASE("not finite values are refused, senseless thresholds too") {
  for (const ClipBy by : {ClipBy::kNorm, ClipBy::kValue, ClipBy::kSigma})
    CHECK_THROWS_WITH(clipped(by, 1, {1, std::nanf("")}), Catch::Contains("element 1"));
  for (const double bad : {0.0, -1.0, double{INFINITY}, std::nan("")})
    CHECK_THROWS_AS(with_clipping(make_codec("none"), {ClipBy::kNorm, bad}), Error);
}

TEST_CASE("empty tensors and the largest values can be clipped") {
  CHECK(clipped(ClipBy::kNorm, 1, {}).empty());
  const float largest = std::numeric_limits<float>::max();
  const auto out = clipped(ClipBy::kNorm, 1, {largest, largest});
  CHECK(out[0] == Approx(std::sqrt(0.5)));
}
