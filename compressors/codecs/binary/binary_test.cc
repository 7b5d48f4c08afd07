#include <catch2/catch.hpp>
#include <cmath>

#include "base/thread_team.h"
#include "compressors/codecs/binary/arithmetic.h"
#include "compressors/xnor_gemm.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"
#include "tests/compressors/shaped_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

TEST_CASE("binary worked example, both ways") {
  // 1 -1 -1 1 1 = 0x19, in one 64-bit word.
  const auto codec = make_codec("binary");
  const auto payload = encode(*codec, {1, -1, -1, 1, 1});
  CHECK(hex(payload) == "1900000000000000");
  CHECK(decode(*codec, payload, 5) == std::vector<float>{1, -1, -1, 1, 1});
  CHECK(hex(encode(*codec, {0.0f, -0.0f, -1e-40f, 3})) == "0b00000000000000");  // sign(0) = +1
  CHECK(codec->explain(payload, 5, {})[0].value == "+--++");
}

TEST_CASE("binary rows begin on 64-bit words, and their padding is 0") {
  ThreadTeam team(3);
  const auto codec = make_codec("binary");
  for (const std::int64_t columns : {1, 5, 63, 64, 65, 128, 1000, 300007}) {
    const std::int64_t rows = columns > 100000 ? 1 : 200000 / columns;
    const std::vector<std::int64_t> shape = {rows, columns};
    const auto x = random_values(static_cast<std::size_t>(rows * columns));
    std::vector<std::byte> expected(static_cast<std::size_t>(rows) *
                                    plane_bytes(static_cast<std::size_t>(columns)));
    CHECK(codec->max_encoded_size({x.size(), "w", shape}) == expected.size());
    std::vector<float> signs(x.size());
    for (std::size_t e = 0; e < x.size(); ++e) {
      const std::size_t r = e / static_cast<std::size_t>(columns);
      const std::size_t i = e % static_cast<std::size_t>(columns);
      signs[e] = x[e] < 0 ? -1.0f : 1.0f;
      if (x[e] >= 0)
        expected[r * plane_bytes(static_cast<std::size_t>(columns)) + i / 8] |=
            static_cast<std::byte>(1u << (i % 8));
    }
    on_each_instruction_set([&] {
      REQUIRE(encode_shaped(*codec, x, shape, &team) == expected);
      REQUIRE(decode_shaped(*codec, expected, shape, &team) == signs);
      REQUIRE(decode_shaped(*codec, expected, shape, &team, -0.5f)[0] == 1.0f - 0.5f * signs[0]);
    });
  }
  // 992 columns or more: at most 1/30 of the floats.
  const std::vector<std::int64_t> shape = {64, 1024};
  CHECK(codec->max_encoded_size({64 * 1024, "w", shape}) * 30 <= 4 * 64 * 1024);
}

TEST_CASE("stochastic binarisation is unbiased on [-1, 1], and clips beyond") {
  // E = clip(x, -1, 1); P(+1) is on a grid of 2^-24. Variance 1 - x^2, 20,000 draws: 5 standard
  // errors.
  const auto codec = make_codec("binary", {{"rounding", "stochastic"}});
  constexpr std::size_t kDraws = 20000;
  for (const float x : {-2.0f, -1.0f, -0.7f, -0.1f, 0.0f, 0.3f, 0.9f, 1.0f, 5.0f}) {
    const auto y = decode(*codec, encode(*codec, std::vector<float>(kDraws, x)), kDraws);
    double mean = 0;
    for (const float value : y) mean += double{value};
    mean /= kDraws;
    const double expected = std::min(1.0, std::max(-1.0, double{x}));
    const double error = std::sqrt((1 - expected * expected) / kDraws);
    CHECK(std::abs(mean - expected) <= 5 * error);
  }
  // The sign alone is biased: the negative control.
  const auto sign = make_codec("binary");
  CHECK(decode(*sign, encode(*sign, {0.3f}), 1)[0] == 1.0f);
}

TEST_CASE("stochastic binarisation uses each element's draw") {
  // +1 iff u < (x + 1) / 2: u = .25, .5, .75 against .65, .5, .4.
  const auto codec = make_codec("binary", {{"rounding", "stochastic"}});
  CHECK(decode(*codec, encode(*codec, {0.3f, 0.0f, -0.2f}, {.injected = {.25f, .5f, .75f}}), 3) ==
        std::vector<float>{1, -1, -1});
  ThreadTeam team(3);
  const std::vector<std::int64_t> shape = {300, 700};
  const auto x = random_values(300 * 700);
  std::vector<float> expected(x.size());
  for (std::size_t e = 0; e < x.size(); ++e)
    expected[e] = binary_draw(x[e], philox_word(shaped_draws().stream, 5 + e)) != 0 ? 1.0f : -1.0f;
  on_each_instruction_set([&] {
    const auto payload = encode_shaped(*codec, x, shape, &team);
    REQUIRE(payload == encode_shaped(*codec, x, shape, nullptr));
    REQUIRE(decode_shaped(*codec, payload, shape, &team) == expected);
  });
}

TEST_CASE("a binary payload is a factor of the XNOR product") {
  const auto codec = make_codec("binary");
  const auto a = random_values(7 * 100, 1), b = random_values(5 * 100, 2);
  const auto pa = encode_shaped(*codec, a, {7, 100}, nullptr);
  const auto pb = encode_shaped(*codec, b, {5, 100}, nullptr);
  std::vector<std::int32_t> c(35);
  bit_plane_gemm({pa, 7, 100}, {pb, 5, 100}, c);
  const auto fa = decode_shaped(*codec, pa, {7, 100}, nullptr);
  const auto fb = decode_shaped(*codec, pb, {5, 100}, nullptr);
  for (std::size_t i = 0; i < 7; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      float sum = 0;
      for (std::size_t e = 0; e < 100; ++e) sum += fa[i * 100 + e] * fb[j * 100 + e];
      REQUIRE(static_cast<float>(c[i * 5 + j]) == sum);
    }
}

TEST_CASE("a binary payload of another size is refused") {
  const auto codec = make_codec("binary");
  CHECK_THROWS_WITH(decode(*codec, from_hex("19000000000000"), 5), Contains("it ends at byte 7"));
  CHECK_THROWS_WITH(decode_shaped(*codec, from_hex("1900000000000000"), {2, 3}, nullptr),
                    Contains("it ends at byte 8"));
  // Padding bits are ignored.
  CHECK(decode(*codec, from_hex("19000000000000ff"), 5) == std::vector<float>{1, -1, -1, 1, 1});
}
