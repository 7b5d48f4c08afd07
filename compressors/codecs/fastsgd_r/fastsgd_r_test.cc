#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "compressors/coding/index_coder.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

std::vector<float> example() {
  std::vector<float> x(16, 0.0f);
  x[1] = .5f, x[4] = -.12f, x[7] = .03f, x[12] = -.26f, x[15] = .001f;
  return x;
}

std::vector<float> coded(const Codec& codec, const std::vector<float>& x) {
  return decode(codec, encode(codec, x), x.size());
}

std::vector<float> sparse_values(std::size_t n, std::uint32_t step = 0) {
  auto x = random_values(n, step);
  for (float& value : x)
    if (std::abs(value) < 0.05f) value = 0.0f;
  return x;
}

}  // namespace

TEST_CASE("fastsgd_r worked example, both ways") {
  // r = 1, 4.17, 16.7, 1.92, 500; q = 0 2 4 1 9; tau = 3 keeps keys 1 4 12, gaps 1 2 7, w = 3:
  // 00011 001 010 111 | 0 00, 1 10, 1 01 = 23 bits = 19 5c 6a; kept 3, M = .5 = 3f000000.
  const auto codec = make_codec("fastsgd_r", {{"tau", "3"}});
  const auto payload = encode(*codec, example());
  CHECK(hex(payload) == "030000000000003f195c6a");
  std::vector<float> expected(16, 0.0f);
  expected[1] = .5f, expected[4] = -.125f, expected[12] = -.25f;
  CHECK(decode(*codec, payload, 16) == expected);
}

TEST_CASE("fastsgd_r keeps ratios within b^(1/2), signs, the largest entry and all keys") {
  for (const double base : {2.0, 1.2, 3.0, 10.0}) {
    // tau so large that every nonzero of the test is kept
    const auto codec = make_codec("fastsgd_r", {{"base", std::to_string(base)}, {"tau", "400"}});
    const auto x = random_values(20000);
    const auto y = coded(*codec, x);
    double worst = 0, inner = 0;
    std::size_t largest = 0, wrong = 0;
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (std::abs(x[e]) > std::abs(x[largest])) largest = e;
      wrong += (x[e] > 0) != (y[e] > 0) || (x[e] < 0) != (y[e] < 0);
      if (x[e] != 0.0f) worst = std::max(worst, std::abs(std::log(y[e] / double{x[e]})));
      inner += double{x[e]} * y[e];
    }
    CHECK(wrong == 0);
    CHECK(worst <= 0.5 * std::log(base) * (1 + 1e-6));
    CHECK(worst > 0.49 * std::log(base));  // and it is reached
    CHECK(y[largest] == x[largest]);
    CHECK(inner > 0);
  }
  CHECK(std::sqrt(2.0) - 1 == Approx(0.414).margin(0.001));  // relative errors of b = 2 and 1.2
  CHECK(std::sqrt(1.2) - 1 == Approx(0.095).margin(0.001));
}

TEST_CASE("fastsgd_r drops just what is below M b^-(tau + 1/2)") {
  for (const int tau : {0, 1, 3, 15}) {
    const auto codec = make_codec("fastsgd_r", {{"tau", std::to_string(tau)}});
    const auto x = random_values(20000);
    const auto y = coded(*codec, x);
    float largest = 0;
    for (const float value : x) largest = std::max(largest, std::abs(value));
    const double least = largest * std::pow(2.0, -tau - 0.5);
    for (std::size_t e = 0; e < x.size(); ++e)
      REQUIRE((y[e] != 0.0f) == (std::abs(double{x[e]}) >= least));
    if (tau < 15) CHECK(coded(*make_codec("fastsgd_r"), x) != y);  // negative control
  }
}

TEST_CASE("fastsgd_r is biased: rounding by logarithm does not keep the mean") {
  // Values uniform in [1, 2], M = 2: those from sqrt 2 on become 2. Mean of g_hat:
  // (sqrt 2 - 1) + 2 (2 - sqrt 2) = 3 - sqrt 2 = 1.586, that of g 1.5.
  std::vector<float> x(20001);
  for (std::size_t e = 0; e < x.size(); ++e) x[e] = 1.0f + static_cast<float>(e) / 20000.0f;
  const auto mean = [](const std::vector<float>& v) {
    double sum = 0;
    for (const float value : v) sum += value;
    return sum / static_cast<double>(v.size());
  };
  CHECK(mean(coded(*make_codec("fastsgd_r"), x)) == Approx(3 - std::sqrt(2.0)).epsilon(1e-3));
  // By value, those from 1.5 on become 2: the mean stays.
  const auto linear = make_codec("fastsgd_r", {{"rounding", "linear"}});
  CHECK(mean(coded(*linear, x)) == Approx(1.5).epsilon(1e-3));
}

TEST_CASE("fastsgd_r's bits are 64 + sum(5 + w len) + kept (1 + ceil(log2(tau + 1)))") {
  for (const int tau : {0, 1, 3, 4, 15, 16}) {
    const auto codec = make_codec("fastsgd_r", {{"tau", std::to_string(tau)}});
    const auto x = sparse_values(5000);
    const auto y = coded(*codec, x);
    std::uint64_t bits = 64, kept = 0, next = 0, largest = 0, length = 0;
    const auto end_block = [&] {
      std::uint64_t width = 0;
      while (largest >> width != 0) ++width;
      if (length > 0) bits += 5 + width * length;
      largest = length = 0;
    };
    for (std::size_t e = 0; e < x.size(); ++e) {
      if (y[e] == 0.0f) continue;
      largest = std::max(largest, e - next);
      next = e + 1;
      ++kept;
      if (++length == 64) end_block();
    }
    end_block();
    bits += kept * (1 + static_cast<std::uint64_t>(std::ceil(std::log2(tau + 1))));
    CHECK(encode(*codec, x).size() == (bits + 7) / 8);
  }
}

TEST_CASE("fastsgd_r with the literal reciprocal clamps what is above 1") {
  const auto codec = make_codec("fastsgd_r", {{"scale", "one"}, {"tau", "3"}});
  CHECK(coded(*codec, {4.0f, -0.5f, 0.3f, 0.01f}) == std::vector<float>{1, -0.5f, 0.25f, 0});
}

TEST_CASE("fastsgd_r takes tiny and huge values") {
  const auto codec = make_codec("fastsgd_r", {{"tau", "300"}});
  const std::vector<float> x = {FLT_MAX, -FLT_TRUE_MIN, 1e-41f, 0.0f, -0.0f};
  const auto y = coded(*codec, x);
  CHECK(y[0] == FLT_MAX);
  CHECK(y[1] == -FLT_TRUE_MIN);
  CHECK((y[2] > 0 && y[3] == 0 && y[4] == 0));
}

TEST_CASE("fastsgd_r with other keys gives the same values, and auto the fewest bytes") {
  const auto plain = make_codec("fastsgd_r");
  for (const std::size_t n : {1u, 77u, 5000u}) {
    const auto x = sparse_values(n);
    std::size_t least = ~std::size_t{0};
    for (const std::string& keys : index_format_names()) {
      const auto codec = make_codec("fastsgd_r", {{"keys", keys}});
      const auto payload = encode(*codec, x);
      CHECK(payload.size() <= codec->max_encoded_size(n));
      CHECK(decode(*codec, payload, n) == coded(*plain, x));
      if (keys == "delta") continue;
      if (keys == "auto") CHECK(payload.size() <= least);
      least = std::min(least, payload.size());
      std::size_t at = 0;
      for (const PayloadField& field : codec->explain(payload, n, {})) {
        CHECK(field.offset == at);
        at += field.bytes;
      }
      CHECK(at == payload.size());
    }
  }
}

TEST_CASE("fastsgd_r's bound holds where keys are dearest") {
  for (const char* tau : {"0", "15", "1000"}) {
    const auto codec = make_codec("fastsgd_r", {{"tau", tau}, {"base", "2"}});
    for (const std::size_t gap : {1u, 2u, 4u, 8u, 16u, 32u, 64u})
      for (const std::size_t n : {1u, 65u, 1000u, 6400u}) {
        std::vector<float> x(n, 1.0f);  // one gap in each block of 64 entries
        for (std::size_t e = 0; e < n; ++e)
          if (e % (64 + gap) < gap) x[e] = 0.0f;
        CHECK(encode(*codec, x).size() <= codec->max_encoded_size(n));
      }
  }
}

TEST_CASE("fastsgd_r's decoder refuses what no encoder writes, naming the byte") {
  const auto codec = make_codec("fastsgd_r", {{"tau", "2"}});
  const auto refuse = [&](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*codec, from_hex(bytes), 16), Contains(reason));
  };
  refuse("0300", "in a header of 8 bytes");
  refuse("110000000000003f195c6a", "a count of 17 for 16 elements");
  refuse("030000000000807f195c6a", "byte 4 begins a value that is not finite");
  refuse("030000000000003f195c", "bytes are expected");
  refuse("030000000000003f195c6a00", "only 11 bytes");
  refuse("030000000000003ff95c6a", "within index 0");                 // w = 31: 98 bits of keys
  refuse("030000000000003f1fff00", "byte 9 begins an index beyond");  // gaps 7 7
  refuse("030000000000003f195c7a", "begins a level above 2");         // the second level is 11
}

TEST_CASE("fastsgd_r's runs of neighbours give what its entries give one by one") {
  // Levels of 5 and 7 bits go through bytes; those of 8, and u32 keys, entry by entry.
  for (const char* tau : {"0", "4", "15", "60", "63", "64"})
    for (const std::size_t hole : {1u, 63u, 64u, 65u, 700u, 100000u})
      for (const std::size_t n : {1u, 63u, 64u, 65u, 128u, 4096u, 9001u}) {
        auto x = random_values(n);
        for (std::size_t e = hole; e < n; e += hole) x[e] = 0.0f;
        const auto runs = make_codec("fastsgd_r", {{"tau", tau}, {"base", "1.3"}});
        const auto lists =
            make_codec("fastsgd_r", {{"tau", tau}, {"base", "1.3"}, {"keys", "u32"}});
        const auto expected = coded(*lists, x);
        REQUIRE(coded(*runs, x) == expected);
        std::vector<float> sums(n, 1.0f), expected_sums(n, 1.0f);
        decode_add(*runs, encode(*runs, x), 0.3f, sums);
        decode_add(*lists, encode(*lists, x), 0.3f, expected_sums);
        REQUIRE(sums == expected_sums);
        x[n - 1] = 100;  // what is compared does depend on the values
        REQUIRE(coded(*runs, x) != expected);
      }
}

TEST_CASE("fastsgd_r names the byte of a level above tau within a run") {
  // 64 of 64 kept at tau = 2: 5 bits of keys, then codes of 3 bits; the last one becomes 011, whose
  // first bit is 64 + 5 + 63 3 = 258, in byte 32.
  const auto codec = make_codec("fastsgd_r", {{"tau", "2"}});
  auto payload = encode(*codec, std::vector<float>(64, 1.0f));
  REQUIRE(payload.size() == 33);
  CHECK(decode(*codec, payload, 64) == std::vector<float>(64, 1.0f));
  payload[32] = std::byte{0x18};
  CHECK_THROWS_WITH(decode(*codec, payload, 64), Contains("byte 32 begins a level above 2"));
}
