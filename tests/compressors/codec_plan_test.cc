#include "compressors/codec_plan.h"

#include <catch2/catch.hpp>

#include "codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPlan sparse_plan() {
  return {.codec = {"topk", {{"ratio", "0.25"}}}, .error_feedback = true};
}

}  // namespace

TEST_CASE("a plan of a codec alone is that codec") {
  CHECK(make_codec(CodecPlan{})->name() == "none");
  CHECK_FALSE(CodecPlan{}.decorated());
  const CodecPtr codec = make_codec(sparse_plan());
  CHECK(codec->name() == "topk+ef");
  CHECK_FALSE(sparse_plan().decorated());
  CHECK(codec->max_encoded_size(8) == 4 + 2 * 8);
  CHECK(codec->state_size(8) == 32);
}

TEST_CASE("every decorator is in the chain, and a rule's codec has them too") {
  CodecPlan plan = sparse_plan();
  plan.clipping = Clipping{ClipBy::kNorm, 1.0};
  plan.rules = {{{.names = "*.bias"}, {}}, {{.elements_below = 4}, {"fp16", {}}}};
  CHECK(plan.decorated());
  const CodecPtr codec = make_codec(plan);
  CHECK(codec->name() == "topk+ef+clip+rules");
  const std::vector<std::int64_t> three = {3}, eight = {8};
  // Nothing is lost by none, so nothing is fed back: no state.
  CHECK(chosen_codec(*codec, {8, "fc.bias", eight}).name() == "none+clip");
  CHECK(codec->state_size({8, "fc.bias", eight}) == 0);
  CHECK(chosen_codec(*codec, {3, "fc.weight", three}).name() == "fp16+ef+clip");
  CHECK(chosen_codec(*codec, {8, "fc.weight", eight}).name() == "topk+ef+clip");
  CHECK(codec->state_size({8, "fc.weight", eight}) == 32);
}

TEST_CASE("a plan round-trips through its codec: clipped, fed back, chosen by name") {
  CodecPlan plan = sparse_plan();
  plan.clipping = Clipping{ClipBy::kValue, 3};
  const CodecPtr codec = make_codec(plan);
  std::vector<std::uint64_t> words(codec->state_size(4) / 8);
  const auto state = std::as_writable_bytes(std::span(words));
  // 25 % of 4 = 1 element a step: 3 (clipped from 9), then the 2 that waited.
  CHECK(decode(*codec, encode(*codec, {9, 2, 1, 0}, {.state = state}), 4) ==
        std::vector<float>{3, 0, 0, 0});
  CHECK(decode(*codec, encode(*codec, {0, 0, 0, 0}, {.state = state}), 4) ==
        std::vector<float>{0, 2, 0, 0});
}

TEST_CASE("momentum is corrected where the codec loses, ordinary where it does not") {
  CodecPlan plan = sparse_plan();
  plan.momentum_correction = MomentumPlan{.momentum = 0.5};
  plan.rules = {{{.names = "*.bias"}, {}}};
  CHECK(plan.decorated());
  const CodecPtr codec = make_codec(plan);
  const auto steps_of = [&](std::string_view name, std::vector<std::vector<float>> gradients) {
    const std::vector<std::int64_t> shape = {4};
    const TensorSpec spec{4, name, shape};
    std::vector<std::uint64_t> words(codec->state_size(spec) / 8);
    std::vector<std::vector<float>> sent;
    for (const auto& gradient : gradients) {
      std::vector<std::byte> payload(codec->max_encoded_size(spec));
      std::vector<std::byte> scratch(codec->scratch_size(spec));
      EncodeJob job{.tensor = view_of(gradient, shape, name),
                    .state = std::as_writable_bytes(std::span(words)),
                    .payload = payload};
      payload.resize(codec->encode(job, scratch));
      sent.emplace_back(4);
      codec->decode({.payload = payload, .values = sent.back(), .name = name, .shape = shape},
                    scratch);
    }
    return sent;
  };
  // none: u = g, then u = 0.5 u + g: ordinary momentum, all of it sent.
  CHECK(steps_of("fc.bias", {{4, 2, 0, 0}, {1, 0, 0, 0}}) ==
        std::vector<std::vector<float>>{{4, 2, 0, 0}, {3, 1, 0, 0}});
  // topk, k = 1: u = v = (4 2): sends 4, whose u is forgotten. Then u = (1, 1), v = (1, 3):
  // sends 3.
  CHECK(steps_of("fc.weight", {{4, 2, 0, 0}, {1, 0, 0, 0}}) ==
        std::vector<std::vector<float>>{{4, 0, 0, 0}, {0, 3, 0, 0}});
}

TEST_CASE("what a plan names wrongly is refused") {
  CHECK_THROWS_WITH(make_codec(CodecPlan{.codec = {"tpok", {}}}), Catch::Contains("topk"));
  CHECK_THROWS_AS(make_codec(CodecPlan{.codec = {"topk", {{"ratio", "2"}}}}), Error);
  CodecPlan rule = sparse_plan();
  rule.rules = {{{}, {"no-such-codec", {}}}};
  CHECK_THROWS_AS(make_codec(rule), Error);
}
