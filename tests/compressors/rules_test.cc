#include "compressors/decorators/rules.h"

#include <catch2/catch.hpp>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

/// CGX's filter around a codec.
CodecPtr filtered(const CodecPtr& codec) {
  return with_rules({{{.dimensions_below = 2}, make_codec("none")},
                     {{.elements_below = 1024}, make_codec("none")}},
                    codec);
}

}  // namespace

TEST_CASE("patterns: * any characters, ? exactly one") {
  CHECK(matches_pattern("*", ""));
  CHECK(matches_pattern("*.bias", "fc1.bias"));
  CHECK_FALSE(matches_pattern("*.bias", "fc1.bias2"));
  CHECK(matches_pattern("fc?.*", "fc1.weight"));
  CHECK_FALSE(matches_pattern("fc?.*", "fc.weight"));
  CHECK(matches_pattern("*a*b*c", "xxaybbzc"));
  CHECK_FALSE(matches_pattern("*a*b*c", "xxaybbz"));
  CHECK(matches_pattern("a**", "a"));
  CHECK(matches_pattern("", ""));
  CHECK_FALSE(matches_pattern("", "a"));
  // Many stars do not take exponential time.
  CHECK_FALSE(matches_pattern(std::string(60, '*') + "b", std::string(5000, 'a')));
}

TEST_CASE("a rule holds where all of its conditions do; an empty shape has one dimension") {
  const std::vector<std::int64_t> matrix = {30, 40};
  CHECK(TensorRule{.dimensions_below = 2}.matches(1200));
  CHECK_FALSE(TensorRule{.dimensions_below = 2}.matches({1200, "w", matrix}));
  CHECK(TensorRule{.dimensions_from = 2}.matches({1200, "w", matrix}));
  CHECK(TensorRule{.elements_from = 1200, .elements_below = 1201}.matches(1200));
  CHECK_FALSE(TensorRule{.elements_from = 1201}.matches(1200));
  CHECK_FALSE(TensorRule{.elements_below = 1200}.matches(1200));
  CHECK_FALSE(TensorRule{.names = "b", .dimensions_from = 2}.matches({1200, "w", matrix}));
}

TEST_CASE("the filter of CGX: small or flat tensors travel as fp32") {
  const CodecPtr codec = filtered(make_codec("terngrad"));
  CHECK(codec->name() == "terngrad+rules");
  const std::vector<std::int64_t> flat = {5000}, small = {10, 10}, large = {50, 100};
  CHECK(codec->max_encoded_size({5000, "b", flat}) == 4 * 5000);
  CHECK(codec->max_encoded_size({100, "w", small}) == 4 * 100);
  CHECK(codec->max_encoded_size({5000, "w", large}) == 4 + 5000 / 4);
  CHECK(chosen_codec(*codec, {5000, "w", large}).name() == "terngrad");
  CHECK(chosen_codec(*codec, {5000, "b", flat}).name() == "none");
  CHECK(chosen_codec(*make_codec("fp16"), 7).name() == "fp16");
}

TEST_CASE("the first rule that fits decides, on both sides") {
  const CodecPtr codec =
      with_rules({{{.names = "fc*"}, make_codec("fp16")}, {{.names = "*"}, make_codec("none")}},
                 make_codec("topk"));
  const std::vector<float> values = {1, 0.1f, -2, 3};
  const std::vector<std::int64_t> shape = {4};
  for (const char* name : {"fc1", "conv"}) {
    std::vector<std::byte> payload(codec->max_encoded_size({4, name, shape}));
    std::vector<std::byte> scratch(codec->scratch_size({4, name, shape}));
    EncodeJob job{.tensor = view_of(values, shape, name), .payload = payload};
    CHECK(codec->encode(job, scratch) == (name[0] == 'f' ? 8u : 16u));
    std::vector<float> decoded(4), sum(4, 1);
    const DecodeJob back{.payload = payload, .values = decoded, .name = name, .shape = shape};
    codec->decode(back, scratch);
    CHECK(decoded[2] == -2);
    CHECK((decoded[1] == 0.1f) == (name[0] == 'c'));
    DecodeJob add = back;
    add.values = sum;
    codec->decode_accumulate(add, 2, scratch);
    CHECK(sum[2] == -3);
  }
}

TEST_CASE("the policy is the weakest of the rules' codecs") {
  const CodecPtr topk = make_codec("topk"), fp16 = make_codec("fp16");
  CHECK(filtered(topk)->policy() == AggregatePolicy::kGather);
  CHECK(filtered(fp16)->policy() == AggregatePolicy::kSum);
  CHECK(filtered(make_codec("terngrad"))->wants_shared_scale());
  CHECK_FALSE(filtered(fp16)->wants_shared_scale());
  CHECK(with_rules({{{}, topk}}, fp16)->policy() == AggregatePolicy::kGather);
  CHECK(with_rules({}, fp16) == fp16);
}
