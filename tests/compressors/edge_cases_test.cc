#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <set>

#include "codec_fixture.h"
#include "compressors/field_text.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

/// Errors name the codec that refuses, not its decorators.
std::string base_name(const Codec& codec) {
  return std::string(codec.name().substr(0, codec.name().find('+')));
}

std::vector<float> round_trip(const Codec& codec, const std::vector<float>& values) {
  std::vector<std::uint64_t> state(codec.state_size(values.size()) / 8 + 1);
  const auto payload = encode(codec, values, {.state = std::as_writable_bytes(std::span(state))});
  REQUIRE(payload.size() <= codec.max_encoded_size(values.size()));
  return decode(codec, payload, values.size());
}

}  // namespace

TEST_CASE("every codec takes an empty tensor, one element, and lengths off the pack size") {
  for (const CodecPtr& codec : all_codecs(true)) {
    INFO(codec->name());
    CHECK(round_trip(*codec, {}).empty());
    const float one = has_fixed_levels(*codec) ? -1.0f : -0.5f;  // the scale of one is itself
    CHECK(round_trip(*codec, {one}) == std::vector<float>{one});
    for (const std::size_t n : {2u, 3u, 5u, 33u, 1027u})
      CHECK(round_trip(*codec, random_values(n)).size() == n);
  }
}

TEST_CASE("every codec sends zeros for zeros") {
  for (const CodecPtr& codec : all_codecs(true)) {
    INFO(codec->name());
    if (has_fixed_levels(*codec)) {  // the level above 0
      CHECK(round_trip(*codec, {0.0f})[0] > 0);
      CHECK(round_trip(*codec, {0.0f}) == round_trip(*codec, {-0.0f}));
      continue;
    }
    CHECK(round_trip(*codec, std::vector<float>(77, 0.0f)) == std::vector<float>(77, 0.0f));
    CHECK(round_trip(*codec, std::vector<float>(77, -0.0f)) == std::vector<float>(77, 0.0f));
  }
  CHECK(std::signbit(round_trip(*make_codec("none"), {-0.0f})[0]));
  CHECK(std::signbit(round_trip(*make_codec("fp16"), {-0.0f})[0]));
}

TEST_CASE("every codec takes denormals and the largest finite values") {
  for (const CodecPtr& codec : all_codecs(false)) {
    INFO(codec->name());
    for (const float value : {FLT_TRUE_MIN, 1e-41f, FLT_MIN, FLT_MAX}) {
      if (codec->name() == "rowquant") continue;  // f16 scales: see its own tests
      const auto back = round_trip(*codec, {value, -value, value});
      if (has_fixed_levels(*codec)) {
        const float level = codec->name() == "binary" || value > 1 ? 1.0f : 1.0f / 3;
        CHECK(back == std::vector<float>{level, -level, level});
      } else if (codec->name() == "fp16") {  // beyond its range: 0 or infinity
        CHECK(back[1] == (value < 1 ? 0.0f : -INFINITY));
      } else if (codec->name() == "bf16") {  // 8 bits of precision, binary32's range
        CHECK(back[1] == (value > 1 ? -INFINITY : value < FLT_MIN ? 0.0f : -value));
      } else if (std::set<std::string_view>{"topk", "dgc", "stc", "hquant", "csr"}.count(
                     codec->name())) {  // one entry
        CHECK(back == std::vector<float>{value, 0, 0});
      } else if (codec->name() == "randomk") {  // one of the three
        CHECK(std::abs(back[0]) + std::abs(back[1]) + std::abs(back[2]) == value);
      } else if (codec->name() == "minmax") {  // 15 units, each rounded once
        CHECK(back[1] == -value);
        CHECK(std::abs(back[0] - value) <= 15 * FLT_TRUE_MIN);
      } else if (codec->name() == "log") {  // the nearest power of two that is finite
        CHECK(double{back[1]} <= -0.5 * double{value});
        CHECK(double{back[1]} >= -1.42 * double{value});
      } else if (codec->name() == "natural") {  // subnormals to 0; 2^127 at most
        CHECK(back[1] == (value > 1 ? -0x1p127f : value < FLT_MIN ? 0.0f : -value));
      } else if (codec->name() == "dither") {  // |x| is .577 of the norm, if that is finite
        CHECK(back[1] <= -0.4f * value);
        CHECK(back[1] >= -2.01f * value);
      } else if (codec->name() == "sz") {  // within a thousandth of the range
        CHECK(std::abs(double{back[1]} + double{value}) <= 0.0021 * double{value});
      } else {  // terngrad: every |g| = s
        CHECK(back == std::vector<float>{value, -value, value});
      }
    }
  }
}

TEST_CASE("every codec refuses NaN and Inf, naming codec, tensor and element") {
  using Catch::Matchers::Contains;
  for (const CodecPtr& codec : all_codecs(true)) {
    for (const std::size_t at : {0u, 17u, 99u}) {
      auto values = random_values(100);
      values[at] = NAN;
      const std::string element = "element " + std::to_string(at);
      CHECK_THROWS_WITH(round_trip(*codec, values), Contains(base_name(*codec)) &&
                                                        Contains("\"layer\"") &&
                                                        Contains(element + " is NaN"));
      values[at] = -INFINITY;
      CHECK_THROWS_WITH(round_trip(*codec, values), Contains(element + " is infinite"));
    }
  }
}

TEST_CASE("encoding is deterministic and decoding repeats") {
  for (const CodecPtr& codec : all_codecs(false)) {
    INFO(codec->name());
    const auto values = random_values(5000);
    const auto payload = encode(*codec, values);
    CHECK(encode(*codec, values) == payload);
    CHECK(decode(*codec, payload, 5000) == decode(*codec, payload, 5000));
    // What was decoded is on the grid and encoded to the same bytes, unless the grid is another:
    // terngrad's clipping bound and dither's norm of the decoded tensor are.
    if (codec->name() != "terngrad" && codec->name() != "dither")
      CHECK(encode(*codec, decode(*codec, payload, 5000)) == payload);
  }
}

TEST_CASE("terngrad encodes what it decoded to the same bytes") {
  const auto codec = make_codec("terngrad", {{"clip", "0"}});
  auto values = random_values(500);
  const auto payload = encode(*codec, values);
  CHECK(encode(*codec, decode(*codec, payload, 500)) == payload);
}

TEST_CASE("another worker, step, tensor or seed draws other codes") {
  const auto codec = make_codec("terngrad");
  const auto values = random_values(400);
  const auto payload = encode(*codec, values, {.stream = {1, 2, 3, 4}});
  CHECK(encode(*codec, values, {.stream = {9, 2, 3, 4}}) != payload);
  CHECK(encode(*codec, values, {.stream = {1, 9, 3, 4}}) != payload);
  CHECK(encode(*codec, values, {.stream = {1, 2, 9, 4}}) != payload);
  CHECK(encode(*codec, values, {.stream = {1, 2, 3, 9}}) != payload);
}

TEST_CASE("decode_accumulate adds factor times what decode gives") {
  for (const CodecPtr& codec : all_codecs(false)) {
    const auto payload = encode(*codec, random_values(1001));
    const auto decoded = decode(*codec, payload, 1001);
    std::vector<float> sum(1001, 2.0f);
    decode_add(*codec, payload, -0.5f, sum);  // a power of two: no rounding of the product
    for (std::size_t e = 0; e < 1001; ++e) REQUIRE(sum[e] == 2.0f + -0.5f * decoded[e]);
  }
}

TEST_CASE("explanations write floats so that they read back, however small") {
  for (const CodecInfo& info : codec_catalogue()) {
    INFO(info.name);
    const auto codec = make_codec(info.name);
    auto values = random_values(300);
    for (float& value : values) value *= 1e-9f;
    if (info.name == "rowquant") values.assign(300, 1e-3f);  // its scales are f16
    const auto payload = encode(*codec, values);
    for (const PayloadField& field : codec->explain(payload, values.size(), {})) {
      INFO(field.name << ": " << field.value);
      CHECK(field.value.find("0.000000") == std::string::npos);
      if (field.type != "f32") continue;
      float stored;
      std::memcpy(&stored, payload.data() + field.offset, sizeof stored);
      CHECK(std::strtof(field.value.c_str(), nullptr) == stored);
    }
  }
  CHECK(float_text(1e-9f) == "1e-09");
  CHECK(float_text(1.2f) == "1.2");
  CHECK(float_text(100000.0f) == "100000");
  CHECK(float_text(-0.0f) == "-0");
}
