#include "compressors/codecs/kbit/arithmetic.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/thread_team.h"
#include "compressors/xnor_gemm.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"
#include "tests/compressors/shaped_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

CodecPtr kbit(int bits, const char* grid = "unit", const char* layout = "packed",
              const char* step = "0.125") {
  return make_codec(
      "kbit", {{"bits", std::to_string(bits)}, {"grid", grid}, {"layout", layout}, {"step", step}});
}

/// Values within and beyond [-1, 1].
std::vector<float> wide_values(std::size_t n) {
  auto x = random_values(n, 8);
  for (float& value : x) value *= 4;
  return x;
}

}  // namespace

TEST_CASE("2 bits on [-1, 1]: levels -1, -1/3, 1/3, 1, both ways") {
  // 3 (x + 1) / 2: -.9 -> .15 -> 0; -.5 -> .75 -> 1; 0 -> 1.5 -> 2 (even); .2 -> 1.8 -> 2; 7 -> 3.
  // 0 + 1 * 4 + 2 * 16 + 2 * 64 = 0xa4, 3.
  const auto codec = kbit(2);
  const auto payload = encode(*codec, {-.9f, -.5f, 0, .2f, 7});
  CHECK(hex(payload) == "a403");
  const float third = 1.0f / 3;
  CHECK(decode(*codec, payload, 5) == std::vector<float>{-1, -third, third, third, 1});
  CHECK(codec->explain(payload, 5, {})[0].value == "0, 1, 2, 2, 3");
  const auto planes = kbit(2, "unit", "planes");
  // Bits 0 of 0 1 2 2 3: 0 1 0 0 1 = 0x12; bits 1: 0 0 1 1 1 = 0x1c.
  const auto planar = encode(*planes, {-.9f, -.5f, 0, .2f, 7});
  CHECK(hex(planar) ==
        "1200000000000000"
        "1c00000000000000");
  CHECK(decode(*planes, planar, 5) == decode(*codec, payload, 5));
  CHECK(planes->explain(planar, 5, {})[0].value == "0, 1, 2, 2, 3");
}

TEST_CASE("LinearQuant: multiples of a step, clipped to k bits") {
  // Step .25, 3 bits: -1 to .75. .3 / .25 = 1.2 -> 1; .375 / .25 = 1.5 -> 2 (even); codes + 4.
  const auto codec = kbit(3, "step", "packed", "0.25");
  const auto payload = encode(*codec, {.3f, .375f, -.1f, -5, 9});
  CHECK(decode(*codec, payload, 5) == std::vector<float>{.25f, .5f, 0, -1, .75f});
  CHECK(codec->explain(payload, 5, {})[0].value == "5, 6, 4, 0, 7");
}

TEST_CASE("k bits on either grid, in either layout: the definition") {
  ThreadTeam team(3);
  const auto x = wide_values(140000);
  for (const int bits : {1, 2, 3, 4, 7, 8})
    for (const char* grid : {"unit", "step"}) {
      const auto packed = kbit(bits, grid), planes = kbit(bits, grid, "planes");
      std::vector<float> expected(x.size());
      const double top = (1 << bits) - 1, half = 1 << (bits - 1);
      for (std::size_t e = 0; e < x.size(); ++e) {
        const float clipped = std::min(1.0f, std::max(-1.0f, x[e]));
        const double unit = bits == 1 ? (x[e] < 0 ? -1 : 1)
                                      : 2 * std::rint((double{clipped} + 1) * top / 2) / top - 1;
        const double step = std::min(half - 1, std::max(-half, std::rint(double{x[e]} * 8))) / 8;
        expected[e] = static_cast<float>(*grid == 'u' ? unit : step);
      }
      const std::set<float> levels(expected.begin(), expected.end());
      CHECK(levels.size() <= std::size_t{1} << bits);
      on_each_instruction_set([&] {
        for (const std::int64_t columns : {140000, 2800, 70, 1}) {
          const std::vector<std::int64_t> shape = {140000 / columns, columns};
          for (const auto& codec : {packed, planes}) {
            if (codec == packed && columns != 2800) continue;  // the shape does not matter
            const auto payload = encode_shaped(*codec, x, shape, &team);
            REQUIRE(payload == encode_shaped(*codec, x, shape, nullptr));
            const auto y = decode_shaped(*codec, payload, shape, &team);
            std::size_t wrong = 0;  // products within an ulp of an integer may be rounded to it
            for (std::size_t e = 0; e < x.size(); ++e) wrong += y[e] != expected[e];
            REQUIRE(wrong <= 2);
            REQUIRE(encode_shaped(*codec, y, shape, &team) == payload);
            const auto sum = decode_shaped(*codec, payload, shape, &team, -0.5f);
            std::vector<float> expected_sum;
            for (const float value : y) expected_sum.push_back(1.0f + -0.5f * value);
            REQUIRE(sum == expected_sum);
          }
        }
      });
    }
}

TEST_CASE("planes are factors of the exact product") {
  // Activations of 2 bits and weights of 1 bit: values are odd integers / 3 and / 1.
  const std::vector<std::int64_t> xs = {9, 130}, ws = {6, 130};
  const auto two = kbit(2, "unit", "planes"), one = kbit(1, "unit", "planes");
  const auto x = encode_shaped(*two, wide_values(9 * 130), xs, nullptr);
  const auto w = encode_shaped(*one, random_values(6 * 130), ws, nullptr);
  CHECK(w == encode_shaped(*make_codec("binary"), random_values(6 * 130), ws, nullptr));
  std::vector<std::int32_t> c(54);
  bit_plane_gemm({x, 9, 130, 2}, {w, 6, 130, 1}, c);
  const auto fx = decode_shaped(*two, x, xs, nullptr), fw = decode_shaped(*one, w, ws, nullptr);
  const auto five = kbit(5, "step", "planes");  // multiples of 1/8
  const auto s = encode_shaped(*five, wide_values(9 * 130), xs, nullptr);
  const auto fs = decode_shaped(*five, s, xs, nullptr);
  std::vector<std::int32_t> cs(54);
  bit_plane_gemm({s, 9, 130, 5, CodeMeaning::kCentred}, {w, 6, 130, 1}, cs);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 0; j < 6; ++j) {
      double sum = 0, steps = 0;
      for (std::size_t e = 0; e < 130; ++e) {
        sum += std::rint(double{fx[i * 130 + e]} * 3) * double{fw[j * 130 + e]};
        steps += double{fs[i * 130 + e]} * double{fw[j * 130 + e]};
      }
      REQUIRE(c[i * 6 + j] == sum);
      REQUIRE(cs[i * 6 + j] / 8.0 == steps);
    }
}

TEST_CASE("kbit refuses what is not finite, and other sizes") {
  for (const char* layout : {"packed", "planes"}) {
    const auto codec = kbit(3, "unit", layout);
    CHECK_THROWS_WITH(encode(*codec, {1, NAN}), Contains("element 1 is NaN"));
    CHECK_THROWS_WITH(encode(*codec, {-INFINITY}), Contains("element 0 is infinite"));
    CHECK_THROWS_WITH(decode(*codec, from_hex("00"), 100), Contains("it ends at byte 1"));
    CHECK(encode(*codec, {}).empty());
  }
}
