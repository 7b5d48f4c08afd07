#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/natural/arithmetic.h"
#include "compressors/codecs/natural/kernel.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;
using kernels::Output;

namespace {

std::vector<float> hard_values(std::size_t n) {
  auto values = random_values(n);
  const float hard[] = {0.0f,       -0.0f,    1e-45f,           -1e-40f, FLT_MAX, -FLT_MAX,
                        -0x1p-126f, 1.9e-38f, 0x1.fffffep-110f, 0x1p17f, -1.5e5f, 2.7e5f};
  for (std::size_t i = 0; i < n; i += 3) values[i] = hard[i / 3 % 12];
  return values;
}

}  // namespace

TEST_CASE("natural compression: the worked example, both ways") {
  // x = 2.5 -0.75 0 -6, u = .5 .25 .9 .1: fractions .25 .5 - .5, so 2.5 stays (.5 >= .25), -.75
  // goes up (.25 < .5) and so does -6 (.1 < .5): 2 -1 0 -8. Exponent fields 128 127 0 130, signs
  // above: 128, 383, 0, 386 in 9 bits, 36 bits in all.
  const auto codec = make_codec("natural");
  const std::vector<float> x = {2.5f, -0.75f, 0.0f, -6.0f};
  const auto payload = encode(*codec, x, {.injected = {.5f, .25f, .9f, .1f}});
  CHECK(hex(payload) == "80fe02100c");
  CHECK(decode(*codec, payload, 4) == std::vector<float>{2, -1, 0, -8});
  const auto fields = codec->explain(payload, 4, {});
  REQUIRE(fields.size() == 1);
  CHECK(fields[0].bytes == 5);
  CHECK(fields[0].type == "u9[4]");
  CHECK(fields[0].value == "2, -1, 0, -8");
}

TEST_CASE("natural compression in 8 bits: exponent fields 18 to 144") {
  // 2 -1 0 -8 as above: fields 128 127 - 130 less 17: 111 110 0 113; signs add 128.
  const auto codec = make_codec("natural", {{"bits", "8"}});
  const auto payload =
      encode(*codec, {2.5f, -0.75f, 0.0f, -6.0f}, {.injected = {.5f, .25f, .9f, .1f}});
  CHECK(hex(payload) == "6fee00f1");
  CHECK(decode(*codec, payload, 4) == std::vector<float>{2, -1, 0, -8});
  // Outside: below 2^-109 zero, above 2^17 the largest.
  const std::vector<float> outside = {0x1p-110f, -0x1p-109f, 0x1p17f, -0x1p18f, FLT_MAX, 1e-45f};
  CHECK(decode(*codec, encode(*codec, outside), 6) ==
        std::vector<float>{0, -0x1p-109f, 0x1p17f, -0x1p17f, 0x1p17f, 0});
  const auto lower = make_codec("natural", {{"bits", "8"}, {"lowest", "-126"}});
  CHECK(decode(*lower, encode(*lower, {0x1p-126f, 4.0f, 1e-39f}), 3) ==
        std::vector<float>{0x1p-126f, 1.0f, 0.0f});
}

TEST_CASE("every instruction set makes the natural codes of the shared arithmetic") {
  const auto values = hard_values(901);
  const RandomStream stream{.seed = 3};
  on_each_instruction_set([&] {
    for (const std::size_t n : {0u, 1u, 7u, 8u, 33u, 64u, 127u, 901u}) {
      std::vector<std::byte> nine(packed_bytes(n, 9), std::byte{0xFF}), eight(n);
      std::vector<std::uint32_t> codes(n);
      kernels::natural_codes9(values.data(), n, {stream, 5, {}}, 2, nine.data());
      unpack_bits(nine, 9, 0, codes);
      std::vector<float> decoded(n), added(n, 1.0f);
      kernels::natural_values9(nine.data(), n, Output::kStore, 1.0f, decoded.data());
      kernels::natural_values9(nine.data(), n, Output::kAdd, 0.3f, added.data());
      for (std::size_t e = 0; e < n; ++e) {
        REQUIRE(codes[e] == natural_code9(values[e], philox_word(stream, 7 + e)));
        REQUIRE(bits_of(decoded[e]) == codes[e] << 23);
        REQUIRE(added[e] == 1.0f + 0.3f * decoded[e]);
      }
      for (const std::uint32_t lowest : {1u, 18u, 128u}) {
        kernels::natural_codes8(values.data(), n, {stream, 5, {}}, 2, lowest, eight.data());
        kernels::natural_values8(eight.data(), n, lowest, Output::kStream, 1.0f, decoded.data());
        for (std::size_t e = 0; e < n; ++e) {
          const auto code = std::to_integer<std::uint32_t>(eight[e]);
          REQUIRE(code == natural_code8(values[e], philox_word(stream, 7 + e), lowest));
          REQUIRE(decoded[e] == natural_value8(code, lowest));
        }
      }
    }
  });
}

TEST_CASE("any 9-bit codes are read alike, and an infinite one is found wherever it is") {
  const auto codec = make_codec("natural");
  on_each_instruction_set([&] {
    std::vector<std::uint32_t> codes(512);
    for (std::uint32_t c = 0; c < 512; ++c) codes[c] = (c & 255u) == 255 ? 0 : c;
    std::vector<std::byte> payload(packed_bytes(512, 9));
    pack_bits(codes, 9, 0, 511, payload);
    const auto values = decode(*codec, payload, 512);
    for (std::uint32_t c = 0; c < 512; ++c) REQUIRE(bits_of(values[c]) == codes[c] << 23);
    for (std::size_t at = 0; at < 90; ++at) {
      std::vector<std::uint32_t> bad(90, 130u);
      bad[at] = 255 + 256 * (at % 2);
      pack_bits(bad, 9, 0, 511, payload);
      const std::vector<std::byte> part(payload.begin(), payload.begin() + 102);
      REQUIRE_THROWS_WITH(decode(*codec, part, 90),
                          Contains("byte " + std::to_string(at * 9 / 8) + " begins a code"));
    }
  });
}

TEST_CASE("powers of two are fixed points, and nothing finite becomes infinite") {
  const auto codec = make_codec("natural");
  std::vector<float> powers;
  for (int e = -126; e <= 127; ++e)
    powers.push_back((e % 2 == 0 ? 1.0f : -1.0f) * normal_power_of_two(e));
  CHECK(decode(*codec, encode(*codec, powers), powers.size()) == powers);
  const std::vector<float> hard = {FLT_MAX, -FLT_MAX, FLT_MIN / 2, -1e-45f, -0.0f};
  for (const float u : {0.0f, 0.5f, 0.999f})
    CHECK(decode(*codec, encode(*codec, hard, {.injected = std::vector<float>(5, u)}), 5) ==
          std::vector<float>{0x1p127f, -0x1p127f, 0, 0, 0});
}

TEST_CASE("9 bits an element, and bytes as the formula says") {
  const auto codec = make_codec("natural");
  for (const std::size_t n : {0u, 1u, 8u, 9u, 1000u})
    CHECK(encode(*codec, random_values(n)).size() == (9 * n + 7) / 8);
}

namespace {

/// Mean and mean square error of `draws` decodings of one magnitude.
struct Moments {
  double mean = 0, error = 0;
};
Moments moments_of(const Codec& codec, float value, int draws, bool own_bits) {
  std::vector<float> copies(static_cast<std::size_t>(draws), value);
  CallOptions options{.stream = {.seed = 21}};
  if (own_bits)  // draws from the value's own low bits: always the same here
    options.injected.assign(copies.size(), static_cast<float>(bits_of(value) & 0xFFFFu) / 65536.0f);
  Moments m;
  for (const float decoded : decode(codec, encode(codec, copies, options), copies.size())) {
    m.mean += decoded;
    m.error += (double{decoded} - value) * (double{decoded} - value);
  }
  return {m.mean / draws, m.error / draws};
}

}  // namespace

TEST_CASE("natural compression is unbiased, with variance 4^e m (1 - m)") {
  // At t = 2^e (1 + m): error -2^e m with probability 1 - m, 2^e (1 - m) with probability m. The
  // relative variance is largest, 1/8, at m = 1/3.
  const auto codec = make_codec("natural");
  constexpr int kDraws = 40000;
  for (const double m : {0.01, 0.25, 1.0 / 3, 0.5, 0.9})
    for (const int e : {-20, 0, 7}) {
      const auto value = static_cast<float>(std::ldexp(1 + m, e));
      const double unit = std::ldexp(1, e), variance = unit * unit * m * (1 - m);
      const Moments seen = moments_of(*codec, value, kDraws, false);
      CHECK(std::abs(seen.mean - value) < 5 * std::sqrt(variance / kDraws));
      const double fourth = std::pow(unit, 4) * (m * std::pow(1 - m, 4) + (1 - m) * std::pow(m, 4));
      CHECK(std::abs(seen.error - variance) <
            5 * std::sqrt((fourth - variance * variance) / kDraws) + 1e-6 * variance);
      CHECK(variance / (double{value} * value) < 0.125 + 1e-7);
    }
  const double third = 1.0 / 3;
  CHECK(third * (1 - third) / std::pow(1 + third, 2) == Approx(0.125));
  // Negative control: draws taken from the value's own bits.
  const auto value = static_cast<float>(1 + 1.0 / 3);
  CHECK(std::abs(moments_of(*codec, value, kDraws, true).mean - value) >
        5 * std::sqrt(third * (1 - third) / kDraws));
}

TEST_CASE("a sum of natural codes is no code: aggregation decodes, adds and encodes again") {
  const auto codec = make_codec("natural");
  CHECK(codec->policy() == AggregatePolicy::kRequantize);
  CHECK(codec->sum_terms() == nullptr);
  std::vector<float> sum = decode(*codec, encode(*codec, {1.0f, -2.0f}), 2);
  decode_add(*codec, encode(*codec, {2.0f, -2.0f}), 1.0f, sum);
  CHECK(sum == std::vector<float>{3.0f, -4.0f});  // 3 is not a power of two
  const auto again = decode(*codec, encode(*codec, sum, {.injected = {.5f, .5f}}), 2);
  CHECK(again == std::vector<float>{2.0f, -4.0f});  // 3 = 2 (1 + .5): up iff u < .5
}
