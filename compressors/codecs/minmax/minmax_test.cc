#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "base/thread_team.h"
#include "compressors/arithmetic/levels.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPtr minmax(int bits, int bucket, const char* rounding = "nearest") {
  return make_codec(
      "minmax",
      {{"bits", std::to_string(bits)}, {"bucket", std::to_string(bucket)}, {"rounding", rounding}});
}

float unit_of(const std::vector<float>& x, std::size_t begin, std::size_t end, int bits) {
  const auto [low, high] = std::minmax_element(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                               x.begin() + static_cast<std::ptrdiff_t>(end));
  return (*high - *low) / static_cast<float>((1 << bits) - 1);
}

}  // namespace

TEST_CASE("minmax worked example, both ways") {
  // [-1, 0, .5, 2], b = 2: unit = 3 / 3 = 1, levels 0 1 2 3 (1.5 + .5 floors to 2):
  // code byte 0 + 1*4 + 2*16 + 3*64 = 0xe4, then 7 bytes of padding.
  const auto codec = minmax(2, 4);
  const auto payload = encode(*codec, {-1.0f, 0.0f, 0.5f, 2.0f});
  CHECK(hex(payload) == "0000803f000080bfe400000000000000");
  CHECK(decode(*codec, payload, 4) == std::vector<float>{-1, 0, 1, 2});
  const auto fields = codec->explain(payload, 4, {});
  REQUIRE(fields.size() == 4);
  CHECK(fields[2].value == "0, 1, 2, 3");
  CHECK(fields[3].bytes == 7);
}

TEST_CASE("minmax sizes") {
  // n = 1000, b = 4, B = 128: 8 headers of 8 bytes = 64, 500 code bytes padded to 504.
  CHECK(minmax(4, 128)->max_encoded_size(1000) == 568);
  CHECK(encode(*minmax(4, 128), random_values(1000)).size() == 568);
}

TEST_CASE("minmax: scatter-reduce-allgather of two ranks ends with equal replicas") {
  // A = [1,4,2,0 | 3,1.2,.5,-1], B = [0,1,3,2 | -2,2,0,1]; 2 bits, buckets of 4.
  const std::vector<float> a1 = {1, 4, 2, 0}, a2 = {3, 1.2f, 0.5f, -1}, b1 = {0, 1, 3, 2},
                           b2 = {-2, 2, 0, 1};
  const auto codec = minmax(2, 4);
  // The owner adds what it receives to its own values, encodes the sum once and keeps the decoded.
  const auto reduce = [&](std::vector<float> own, const std::vector<float>& other) {
    decode_add(*codec, encode(*codec, other), 1.0f, own);
    return decode(*codec, encode(*codec, own), 4);
  };
  const auto first = reduce(a1, b1), second = reduce(b2, a2);
  // Rank 0: [0,1,3,2] is exact, sum [1,5,5,2], unit 4/3 -> [1,5,5,2.3333].
  // Rank 1: [3,1.6667,.3333,-1], sum [1,3.6667,.3333,0], unit 1.2222 -> [1.2222,3.6667,0,0].
  const float expected[] = {1, 5, 5, 7.0f / 3, 11.0f / 9, 11.0f / 3, 0, 0};
  const float exact[] = {1, 5, 5, 2, 1, 3.2f, 0.5f, 0};
  for (std::size_t e = 0; e < 4; ++e) {
    CHECK(first[e] == Approx(expected[e]).margin(1e-6));
    CHECK(second[e] == Approx(expected[4 + e]).margin(1e-6));
    // |error| <= unit of the sender / 2 + unit of the owner / 2.
    CHECK(std::abs(first[e] - exact[e]) <= (1.0 + 4.0 / 3) / 2 + 1e-6);
    CHECK(std::abs(second[e] - exact[4 + e]) <= (4.0 / 3 + 11.0 / 9) / 2 + 1e-6);
  }
  CHECK(decode(*codec, encode(*codec, first), 4) == first);  // what the other rank decodes
}

TEST_CASE("minmax errors stay within half a unit, or one when drawn") {
  for (int bits = 1; bits <= 8; ++bits)
    for (const int bucket : {1, 3, 64, 100, 1000, 2048, 3000, 100000}) {
      const std::size_t n = 5003, step = static_cast<std::size_t>(bucket);
      const auto x = random_values(n);
      const auto nearest = minmax(bits, bucket), drawn = minmax(bits, bucket, "stochastic");
      const auto near = decode(*nearest, encode(*nearest, x), n);
      const auto random = decode(*drawn, encode(*drawn, x), n);
      for (std::size_t begin = 0; begin < n; begin += step) {
        const std::size_t end = std::min(n, begin + step);
        const float unit = unit_of(x, begin, end, bits), slack = 1e-6f;
        const auto [low, high] = std::minmax_element(x.begin() + static_cast<std::ptrdiff_t>(begin),
                                                     x.begin() + static_cast<std::ptrdiff_t>(end));
        for (std::size_t e = begin; e < end; ++e) {
          REQUIRE(std::abs(near[e] - x[e]) <= unit / 2 + slack * unit * 256 + FLT_MIN);
          REQUIRE(std::abs(random[e] - x[e]) <= unit + slack * unit * 256 + FLT_MIN);
          if (x[e] == *low) REQUIRE(random[e] == x[e]);  // the ends are certain
          if (x[e] == *high) REQUIRE(random[e] == Approx(x[e]).margin(1e-6 * unit * 256));
        }
      }
    }
}

TEST_CASE("minmax with 8 bits errs by at most range / 510, and constant buckets are exact") {
  const auto codec = minmax(8, 1024);
  const auto x = random_values(1024);
  const auto y = decode(*codec, encode(*codec, x), 1024);
  const float range = 255 * unit_of(x, 0, 1024, 8);
  for (std::size_t e = 0; e < 1024; ++e) CHECK(std::abs(y[e] - x[e]) <= range / 510 * 1.0001f);
  const std::vector<float> constant(100, 0.1f);
  CHECK(decode(*codec, encode(*codec, constant), 100) == constant);
}

TEST_CASE("minmax drawn is unbiased with variance unit^2 f (1 - f)") {
  const std::vector<float> x = {0.0f, 3.0f, 0.1f, 0.5f, 1.25f, 1.9f, 2.0f, 2.999f};  // unit 1
  const auto codec = minmax(2, 8, "stochastic"), nearest = minmax(2, 8);
  constexpr int kDraws = 20000;
  std::vector<double> sum(8), squares(8);
  for (int r = 0; r < kDraws; ++r) {
    const auto y = decode(
        *codec, encode(*codec, x, {.stream = {.seed = 3, .step = static_cast<std::uint32_t>(r)}}),
        8);
    for (std::size_t e = 0; e < 8; ++e) {
      sum[e] += y[e];
      squares[e] += (double{y[e]} - x[e]) * (double{y[e]} - x[e]);
    }
  }
  for (std::size_t e = 0; e < 8; ++e) {
    const double f = x[e] - std::floor(x[e]), variance = f * (1 - f);
    CHECK(std::abs(sum[e] / kDraws - x[e]) <= 5 * std::sqrt(variance / kDraws) + 1e-6);
    CHECK(squares[e] / kDraws == Approx(variance).epsilon(0.2).margin(1e-3));
    CHECK(squares[e] / kDraws <= 0.25 + 1e-6);
  }
  // Negative control: rounding to nearest moves 0.1 to 0 every time.
  CHECK(decode(*nearest, encode(*nearest, x), 8)[2] == 0.0f);
}

TEST_CASE("minmax does not collapse buckets of tiny values to their minimum") {
  for (const float scale : {1e-12f, 1e-30f, 1e-38f, 1e-43f}) {
    std::vector<float> x;
    for (int i = 0; i < 16; ++i) x.push_back(static_cast<float>(i) * scale);
    const auto codec = minmax(4, 16);
    const auto y = decode(*codec, encode(*codec, x), 16);
    for (std::size_t e = 0; e < 16; ++e)
      CHECK(std::abs(y[e] - x[e]) <= scale * 1e-4f + 16 * FLT_TRUE_MIN);
    CHECK(y[8] > 0.0f);
  }
  const auto codec = minmax(4, 16);
  const std::vector<float> ends = {FLT_TRUE_MIN, -FLT_TRUE_MIN, FLT_TRUE_MIN};
  CHECK(decode(*codec, encode(*codec, ends), 3) == ends);
}

TEST_CASE("minmax takes the whole range of binary32, if the distance of two levels fits") {
  const std::vector<float> x = {FLT_MAX, -FLT_MAX, 0.0f, FLT_MAX / 2};
  const auto y = decode(*minmax(8, 4), encode(*minmax(8, 4), x), 4);
  CHECK(y[0] == FLT_MAX);
  CHECK(y[1] == -FLT_MAX);
  CHECK(std::abs(y[3] - x[3]) <= FLT_MAX / 255);
  CHECK_THROWS_WITH(encode(*minmax(1, 4), x), Catch::Matchers::Contains("beyond the largest"));
}

TEST_CASE("minmax gives the same bytes on one thread and on several") {
  const std::size_t n = 300001;
  const auto x = random_values(n);
  ThreadTeam team(3);
  for (const int bucket : {100, 1024, 5000, 1000000}) {
    for (const char* rounding : {"nearest", "stochastic"}) {
      const auto codec = minmax(3, bucket, rounding);
      const auto alone = encode(*codec, x);
      // Filled otherwise than the fixture's 0xAA: a byte that neither call writes differs.
      std::vector<std::byte> shared(codec->max_encoded_size(n), std::byte{0x55});
      EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = x},
                    .draws = {.stream = CallOptions{}.stream},
                    .payload = shared,
                    .team = &team};
      codec->encode(job, {});
      REQUIRE(shared == alone);
      std::vector<float> values(n);
      codec->decode({.payload = shared, .values = values, .team = &team}, {});
      REQUIRE(values == decode(*codec, alone, n));
    }
  }
}

TEST_CASE("minmax decoder names the bad byte") {
  const auto codec = minmax(2, 4);
  auto payload = encode(*codec, {-1.0f, 0.0f, 0.5f, 2.0f, 3.0f});
  payload[8 + 3] = std::byte{0x7F};
  payload[8 + 2] = std::byte{0x80};
  CHECK_THROWS_WITH(decode(*codec, payload, 5),
                    Catch::Matchers::Contains("byte 8 begins a unit that is not finite"));
}
