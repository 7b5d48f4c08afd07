#include <bit>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "compressors/bit_packing.h"
#include "compressors/codecs/dither/arithmetic.h"
#include "compressors/codecs/dither/kernel.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;
using kernels::Output;

namespace {

/// Standard normal values.
std::vector<float> normal_values(std::size_t n, std::uint32_t step) {
  const RandomStream stream{.seed = 17, .step = step};
  std::vector<float> values(n);
  for (std::size_t e = 0; e < n; ++e) {
    const double u = 1.0 - uniform(stream, 2 * e), v = uniform(stream, 2 * e + 1);
    values[e] = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v));
  }
  return values;
}

double norm_of(const std::vector<float>& x, bool euclidean) {
  double sum = 0, largest = 0;
  for (const float value : x) {
    sum += double{value} * value;
    largest = std::max(largest, std::abs(double{value}));
  }
  return euclidean ? std::sqrt(sum) : largest;
}

/// Between levels a <= y <= b of an element: (b - y)(y - a), times the norm's square.
double exact_variance(const std::vector<float>& x, int levels, bool euclidean) {
  const double norm = norm_of(x, euclidean);
  double variance = 0;
  for (const float value : x) {
    const double y = std::abs(double{value}) / norm;
    const double lowest = std::ldexp(1, 1 - levels);
    const double a = y < lowest ? 0 : std::exp2(std::floor(std::log2(y)));
    const double b = y < lowest ? lowest : 2 * a;
    variance += (b - y) * (y - a) * norm * norm;
  }
  return variance;
}

/// Mean squared error of the whole tensor over `draws` encodings.
double seen_variance(const Codec& codec, const std::vector<float>& x, int draws,
                     std::uint32_t tensor = 0) {
  double total = 0;
  for (int r = 0; r < draws; ++r) {
    const RandomStream stream{.seed = 5, .step = static_cast<std::uint32_t>(r), .tensor = tensor};
    const auto payload = encode(codec, x, {.stream = stream});
    const auto back = decode(codec, payload, x.size());
    for (std::size_t e = 0; e < x.size(); ++e) total += std::pow(double{back[e]} - x[e], 2);
  }
  return total / draws;
}

std::map<std::string, std::string> options(int levels, const char* p = "2",
                                           const char* norm = "f32") {
  return {{"levels", std::to_string(levels)}, {"p", p}, {"norm", norm}};
}

}  // namespace

TEST_CASE("natural dithering: the worked example, both ways") {
  // p = 2, s = 3, x = 3 -4 0 0 12: N = 13, levels 0 1/4 1/2 1. y = .2308 .3077 0 0 .9231;
  // up-probabilities .923, .231, -, -, .846 against u = .5: 1/4, 1/4 (j = 1), 0, 0, 1 (j = 3).
  // Codes of 3 bits: 1, 4 + 1, 0, 0, 3 -> 1 + 5 * 8 = 41 = 0x29, 3 << 12 >> 8 = 0x30.
  const auto codec = make_codec("dither", options(3));
  const std::vector<float> x = {3, -4, 0, 0, 12};
  const auto payload = encode(*codec, x, {.injected = std::vector<float>(5, 0.5f)});
  CHECK(hex(payload) ==
        "00005041"
        "2930");
  CHECK(decode(*codec, payload, 5) == std::vector<float>{3.25f, -3.25f, 0, 0, 13});
  CHECK(exact_variance(x, 3, true) == Approx(8.125));
  CHECK(exact_variance(x, 3, true) / 169 == Approx(0.048).margin(5e-4));
  const auto fields = codec->explain(payload, 5, {});
  REQUIRE(fields.size() == 2);
  CHECK(fields[0].value == "13");
  CHECK(fields[1].type == "u3[5]");
  CHECK(fields[1].value == "3.25, -3.25, 0, 0, 13");
}

TEST_CASE("natural dithering with the largest magnitude as norm, and the norm through C_nat") {
  // N = 12: y = .25 .3333 0 0 1; .25 is a level, .3333 goes up with probability .333: 1/4.
  const std::vector<float> x = {3, -4, 0, 0, 12};
  const CallOptions half{.injected = std::vector<float>(5, 0.5f)};
  const auto largest = make_codec("dither", options(3, "infinity"));
  const auto payload = encode(*largest, x, half);
  CHECK(hex(payload) ==
        "00004041"
        "2930");
  CHECK(decode(*largest, payload, 5) == std::vector<float>{3, -3, 0, 0, 12});
  // C_nat sends 8 or 16, in a u16 of 9 bits: fields 130, 131. Levels stay those of 12.
  const auto natural = make_codec("dither", options(3, "infinity", "natural"));
  const auto small = encode(*natural, x, half);
  CHECK(small.size() == 4);
  CHECK((hex(small) == "82002930" || hex(small) == "83002930"));
  CHECK(decode(*natural, from_hex("82002930"), 5) == std::vector<float>{2, -2, 0, 0, 8});
  CHECK_THROWS_WITH(decode(*natural, from_hex("ff002930"), 5), Contains("norm code above 254"));
}

TEST_CASE("every instruction set makes the dithering codes of the shared arithmetic") {
  auto values = random_values(901);
  values[3] = 0.0f, values[4] = -0.0f, values[5] = 1e-41f;
  const RandomStream stream{.seed = 3};
  on_each_instruction_set([&] {
    for (const float norm : {0.0f, 1e-44f, 0.1f, 0.125f, 77.0f, FLT_MAX})
      for (const int levels : {1, 3, 7, 8, 20, 63}) {
        const int bits = 1 + std::bit_width(static_cast<unsigned>(levels));
        const DitherRule rule = dither_rule(norm, levels);
        for (const std::size_t n : {0u, 1u, 63u, 64u, 901u}) {
          std::vector<std::uint8_t> codes(n);
          std::vector<float> decoded(n), added(n, 1.0f);
          kernels::dither_codes(values.data(), n, {stream, 5, {}}, 2, rule, bits, codes.data());
          std::vector<std::byte> packed(packed_bytes(n, bits));
          const kernels::PackedCodes all{packed.data(), bits};
          kernels::pack_codes(codes.data(), n, bits, all.order, packed.data());
          kernels::dither_values(all, n, norm, levels, Output::kStream, 1.0f, decoded.data());
          kernels::dither_values(all, n, norm, levels, Output::kAdd, 0.3f, added.data());
          for (std::size_t e = 0; e < n; ++e) {
            REQUIRE(codes[e] == dither_code(values[e], philox_word(stream, 7 + e), rule, bits));
            REQUIRE(bits_of(decoded[e]) == bits_of(dither_value(codes[e], norm, levels, bits)));
            REQUIRE((added[e] == 1.0f + 0.3f * decoded[e] || norm == FLT_MAX));
          }
        }
      }
  });
}

TEST_CASE("the largest magnitude is its own level with certainty, at any scale") {
  const auto codec = make_codec("dither", options(8, "infinity"));
  for (const float u : {0.0f, 0.999f})
    for (const float s : {1.0f, 1.5f, 1.9999999f, 3e38f, FLT_MAX, 1e-30f, 1e-38f, 1e-42f, 1e-45f})
      CHECK(decode(*codec, encode(*codec, {s, -s, 0}, {.injected = {u, u, u}}), 3) ==
            std::vector<float>{s, -s, 0});
}

TEST_CASE("natural dithering is unbiased, element by element, in every form") {
  // Per element, between levels a and b: variance N^2 (b - y)(y - a).
  const std::vector<float> x = {3, -4, 0.01f, -0.3f, 12, 1, -1.5f, 0};
  constexpr int kDraws = 20000;
  for (const bool euclidean : {true, false})
    for (const bool natural : {false, true}) {
      const auto codec = make_codec(
          "dither", options(4, euclidean ? "2" : "infinity", natural ? "natural" : "f32"));
      std::vector<double> sum(x.size());
      for (int r = 0; r < kDraws; ++r) {
        const auto back = decode(
            *codec,
            encode(*codec, x, {.stream = {.seed = 3, .step = static_cast<std::uint32_t>(r)}}), 8);
        for (std::size_t e = 0; e < 8; ++e) sum[e] += back[e];
      }
      const double norm = norm_of(x, euclidean);
      const double m = norm / std::exp2(std::floor(std::log2(norm))) - 1;
      // E[N'^2] = N^2 (1 + omega_N), independent of the level's draw.
      const double omega_norm = natural ? m * (1 - m) / std::pow(1 + m, 2) : 0;
      for (std::size_t e = 0; e < 8; ++e) {
        const double own = exact_variance({x[e], static_cast<float>(norm)}, 4, false);
        const double square = double{x[e]} * x[e];
        const double variance = (own + square) * (1 + omega_norm) - square;
        CHECK(std::abs(sum[e] / kDraws - x[e]) <= 5 * std::sqrt(variance / kDraws) + 2e-6 * norm);
      }
    }
}

TEST_CASE("natural dithering's variance is exact, and within the paper's bound") {
  // omega <= 1/8 + q min(1, q), q = d^(1/2) 2^(1 - s) for p = 2. Expected for normal tensors:
  // d = 1024: .087 at s = 8 (bound .1875), 2.24 at s = 4 (4.125); d = 16: .0806 at s = 8 (.126),
  // of single tensors .043 to .112 (98 of 100).
  struct Row {
    std::size_t d;
    int levels;
    double omega, bound;
  };
  for (const Row& row :
       {Row{1024, 8, 0.087, 0.1875}, Row{1024, 4, 2.24, 4.125}, Row{16, 8, 0.0806, 0.126}}) {
    const double q = std::sqrt(static_cast<double>(row.d)) * std::ldexp(1, 1 - row.levels);
    CHECK(0.125 + q * std::min(1.0, q) == Approx(row.bound).epsilon(0.01));
    const auto codec = make_codec("dither", options(row.levels));
    double exact = 0, seen = 0, squares = 0;
    const auto tensors = static_cast<std::uint32_t>(40000 / row.d);
    for (std::uint32_t t = 0; t < tensors; ++t) {
      const auto x = normal_values(row.d, t);
      exact += exact_variance(x, row.levels, true);
      seen += seen_variance(*codec, x, 10, t);
      squares += std::pow(norm_of(x, true), 2);
    }
    CHECK(exact / squares == Approx(row.omega).epsilon(0.05));
    CHECK(exact / squares < row.bound);
    CHECK(seen == Approx(exact).epsilon(0.02));  // 400,000 elements' errors
  }
}

TEST_CASE("natural dithering against 2^(s - 1) uniform levels") {
  // The small bin dominates at d = 10^4, s = 4: same omega (8.97); at s = 8 natural is worse
  // (.134 against .102), as it tends to 1/8.
  const auto x = normal_values(10000, 0);
  const double norm = norm_of(x, true);
  const auto uniform_omega = [&](int levels) {
    double variance = 0;
    for (const float value : x) {
      const double y = std::abs(double{value}) / norm * levels, part = y - std::floor(y);
      variance += part * (1 - part);
    }
    return variance / (double(levels) * levels);
  };
  CHECK(exact_variance(x, 4, true) / (norm * norm) == Approx(8.97).epsilon(0.02));
  CHECK(uniform_omega(8) == Approx(8.97).epsilon(0.02));
  CHECK(exact_variance(x, 8, true) / (norm * norm) == Approx(0.134).epsilon(0.03));
  CHECK(uniform_omega(128) == Approx(0.102).epsilon(0.03));
}

TEST_CASE("dithering's bytes: 1 + ceil(log2(s + 1)) bits and the norm") {
  const std::pair<int, std::size_t> bits[] = {{1, 2}, {2, 3},  {3, 3},  {4, 4}, {7, 4},
                                              {8, 5}, {15, 5}, {16, 6}, {63, 7}};
  for (const auto& [levels, width] : bits) {
    const auto codec = make_codec("dither", options(levels));
    CHECK(encode(*codec, random_values(1001)).size() == 4 + (1001 * width + 7) / 8);
    const auto values = decode(*codec, encode(*codec, random_values(1001)), 1001);
    std::size_t distinct = 0;
    const auto norm = static_cast<float>(norm_of(random_values(1001), true));
    for (const float value : values) distinct += value == 0 || std::abs(value) <= norm * 1.0001f;
    CHECK(distinct == 1001);
  }
}

TEST_CASE("a level that does not exist is refused by its byte") {
  const auto codec =
      make_codec("dither", options(5));  // levels 6 and 7 fit 3 bits but mean nothing
  std::vector<std::byte> payload = from_hex("0000803f");
  payload.resize(4 + 50);
  CHECK(decode(*codec, payload, 100) == std::vector<float>(100, 0.0f));
  for (const std::size_t at : {0u, 1u, 37u, 99u}) {
    auto broken = payload;
    broken[4 + at / 2] = static_cast<std::byte>(6 << (at % 2 * 4));
    CHECK_THROWS_WITH(decode(*codec, broken, 100),
                      Contains("byte " + std::to_string(4 + at / 2) + " begins a level above 5"));
  }
  CHECK_THROWS_WITH(decode(*codec, from_hex("0000c07f00"), 1), Contains("byte 0"));
  CHECK_THROWS_WITH(decode(*codec, from_hex("000080bf00"), 1), Contains("byte 0"));
}
