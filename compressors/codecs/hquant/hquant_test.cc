#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

const std::vector<float> kExample = {.05f, -.4f, .9f, .1f, -.8f, .3f, -.02f, .6f};

CodecPtr hquant(const char* ratio, int depth, const char* indices = "auto") {
  return make_codec("hquant",
                    {{"ratio", ratio}, {"depth", std::to_string(depth)}, {"indices", indices}});
}

std::vector<float> coded(const Codec& codec, const std::vector<float>& x) {
  return decode(codec, encode(codec, x), x.size());
}

std::vector<float> largest_kept(const std::vector<float>& x, const char* ratio) {
  // 100 ratio % of the entries, zeros elsewhere
  return coded(*make_codec("topk", {{"ratio", ratio}}), x);
}

double sum_of(const std::vector<float>& x, bool negative) {
  double sum = 0;
  for (const float value : x)
    if ((value < 0) == negative) sum += value;
  return sum;
}

double squared_error(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
  return sum;
}

}  // namespace

TEST_CASE("hquant worked examples, both ways") {
  // gamma .75: k = 6, kept 1 2 3 4 5 7. Depth 1: + .9 .1 .3 .6 split at .475 into {.1 .3} {.9 .6},
  // means .2 .75; - .4 .8 split at .6. Codes 1 2 0 3 0 2, two bits each: c9 08. Bitmap be.
  const auto one = hquant("0.75", 1);
  const auto payload = encode(*one, kExample);
  CHECK(hex(payload) ==
        "080000000600000001000000"
        "cdcc4c3e0000403fcdcccc3ecdcc4c3f"
        "bec908");
  CHECK(decode(*one, payload, 8) == std::vector<float>{0, -.4f, .75f, .2f, -.8f, .2f, 0, .75f});
  // Squared error on the kept part: 4 * (.15^2 + .1^2) / 2 = .065; the sum stays .7.
  const std::vector<float> kept = {0, -.4f, .9f, .1f, -.8f, .3f, 0, .6f};
  CHECK(squared_error(kept, coded(*one, kExample)) == Approx(0.065));
  // Depth 2: leaves .1 .3 .6 .9 and .4 .4 .8 .8; codes 1 6 0 5 2 4, three bits each.
  const auto two = hquant("0.75", 2);
  const auto deep = encode(*two, kExample);
  CHECK(hex(deep) ==
        "080000000600000002000000"
        "cdcccc3d9a99993e9a99193f6666663f"
        "cdcccc3ecdcccc3ecdcc4c3fcdcc4c3f"
        "be312a02");
  CHECK(decode(*two, deep, 8) == kept);
}

TEST_CASE("hquant's size is 12 + 8 2^D + indices + ceil(k (1 + D) / 8)") {
  CHECK(hquant("0.1", 2)->max_encoded_size(1000000) == 162544);  // 24.6 times less than 4 MB
  const auto x = random_values(3000);
  for (int depth = 0; depth <= 7; ++depth) {
    const std::size_t k = 300, codes = (k * static_cast<std::size_t>(1 + depth) + 7) / 8;
    const std::size_t book = std::size_t{8} << depth;
    CHECK(encode(*hquant("0.1", depth, "bitmap"), x).size() == 12 + book + 375 + codes);
    CHECK(encode(*hquant("0.1", depth, "packed"), x).size() == 12 + book + 450 + codes);  // 12 bits
    CHECK(encode(*hquant("0.1", depth), x).size() == 12 + book + 375 + codes);
    CHECK(coded(*hquant("0.1", depth, "packed"), x) == coded(*hquant("0.1", depth, "bitmap"), x));
  }
  // Few entries: 9 * 12 bits are less than a bitmap.
  CHECK(encode(*hquant("0.003", 0), x).size() == 12 + 8 + 14 + 2);
}

TEST_CASE("hquant keeps the sum of each sign; its error falls with depth, to 0") {
  const auto x = random_values(10000);
  const auto kept = largest_kept(x, "0.1");
  double before = 1e30, first = 0;
  for (int depth = 0; depth <= 7; ++depth) {
    const auto y = coded(*hquant("0.1", depth), x);
    for (const bool negative : {false, true})
      CHECK(sum_of(y, negative) == Approx(sum_of(kept, negative)).epsilon(1e-6));
    const double error = squared_error(kept, y);
    CHECK(error <= before);
    if (depth == 0) first = error;
    before = error;
  }
  CHECK(before < 0.001 * first);
  std::vector<float> few(64);  // eight magnitudes: 2^3 leaves hold one each
  for (std::size_t e = 0; e < few.size(); ++e)
    few[e] = (e % 3 == 0 ? -1.0f : 1.0f) * static_cast<float>(1 + e % 8);
  CHECK(coded(*hquant("1", 7), few) == few);
  CHECK(coded(*hquant("1", 2), few) != few);  // negative control
}

TEST_CASE("hquant's decoded zeros are the unmasked set, signs right, errors within the leaf") {
  const auto x = random_values(5000);
  const auto kept = largest_kept(x, "0.1");
  for (int depth = 0; depth <= 4; ++depth) {
    const auto y = coded(*hquant("0.1", depth), x);
    for (std::size_t e = 0; e < x.size(); ++e) {
      REQUIRE((y[e] == 0.0f) == (kept[e] == 0.0f));
      REQUIRE(y[e] * kept[e] >= 0.0f);
    }
    for (std::size_t e = 0; e < 300; ++e) {
      if (y[e] == 0.0f) continue;
      float low = std::abs(x[e]), high = low;  // the leaf: all entries with this code
      for (std::size_t i = 0; i < x.size(); ++i)
        if (y[i] == y[e])
          low = std::min(low, std::abs(x[i])), high = std::max(high, std::abs(x[i]));
      REQUIRE(std::abs(x[e] - y[e]) <= high - low);
    }
  }
}

TEST_CASE("hquant writes zeros for a sign that has no entries") {
  const auto payload = encode(*hquant("1", 1), {1.0f, 1.0f, 1.0f});
  // Equal magnitudes: the upper leaf is empty and inherits 1.
  CHECK(hex(payload) == "0300000003000000010000000000803f0000803f00000000000000000700");
  CHECK(decode(*hquant("1", 1), payload, 3) == std::vector<float>{1, 1, 1});
}

TEST_CASE("hquant is the same whatever the block: groups of thousands of entries") {
  // 20,000 equal magnitudes: means are exact sums, so nothing is split.
  std::vector<float> x(20000, 0.1f);
  for (std::size_t e = 0; e < x.size(); e += 3) x[e] = -0.3f;
  CHECK(coded(*hquant("1", 3), x) == x);
}

TEST_CASE("hquant's decoder refuses what no encoder writes, naming the byte") {
  const std::string good = "080000000600000001000000cdcc4c3e0000403fcdcccc3ecdcc4c3fbec908";
  const auto refuse = [&](std::size_t at, const char* bytes, const char* reason) {
    std::string changed = good;
    changed.replace(2 * at, std::string(bytes).size(), bytes);
    CHECK_THROWS_WITH(decode(*hquant("0.75", 1), from_hex(changed), 8), Contains(reason));
  };
  refuse(0, "09", "byte 0 begins a length of 9 for 8");
  refuse(4, "09", "byte 4 begins a count of 9 for 8");
  refuse(8, "08", "byte 8 is a depth above 7");
  refuse(9, "02", "byte 9 is no index mode");
  refuse(10, "01", "byte 10 begins a reserved");
  refuse(15, "ff", "byte 12 begins a value that is not finite and >= 0");
  refuse(28, "ff", "more than 6 bits");
  refuse(28, "0e", "3 bits where 6");
  refuse(9, "01", "bytes are expected");
  CHECK_THROWS_WITH(decode(*hquant("0.75", 1), from_hex("0800"), 8), Contains("header of 12"));
}
