#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <numeric>

#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using Catch::Matchers::Contains;

namespace {

const std::vector<float> kExample = {.02f, -.9f,  .1f,  0, .3f,  .05f, -.04f, 0,    .6f, .01f,
                                     0,    -.02f, .03f, 0, .07f, -.7f, 0,     .02f, 0,   .08f};

CodecPtr stc(const char* ratio) {
  return make_codec("stc", {{"ratio", ratio}});
}

double squared_norm(const std::vector<float>& x) {
  return std::inner_product(x.begin(), x.end(), x.begin(), 0.0, std::plus<>(),
                            [](double a, double b) { return a * b; });
}

double squared_error(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += (double{x[i]} - y[i]) * (double{x[i]} - y[i]);
  return sum;
}

double largest_sum(std::vector<float> x, std::size_t k) {
  std::sort(x.begin(), x.end(), [](float a, float b) { return std::abs(a) > std::abs(b); });
  double sum = 0;
  for (std::size_t i = 0; i < k; ++i) sum += std::abs(double{x[i]});
  return sum;
}

}  // namespace

TEST_CASE("stc worked example, both ways") {
  // p = 0.2: k = 4, S = {1, 4, 8, 15}, mu = (.9 + .3 + .6 + .7) / 4 = .625 = 3f200000, b* = 2.
  // Gaps 1 2 3 6 skipped: 00 1|1 -> 0 01 1, 0 10 0, 0 11 0, 10 10 1: 0011 0100 0110 10101
  const auto payload = encode(*stc("0.2"), kExample);
  CHECK(hex(payload) == "0000203f346a80");
  std::vector<float> expected(20, 0.0f);
  expected[1] = expected[15] = -0.625f;
  expected[4] = expected[8] = 0.625f;
  CHECK(decode(*stc("0.2"), payload, 20) == expected);
  const auto counted = make_codec("stc", {{"ratio", "0.2"}, {"stored_count", "true"}});
  CHECK(hex(encode(*counted, kExample)) == "040000000000203f346a80");
  CHECK(decode(*counted, encode(*counted, kExample), 20) == expected);
  std::vector<float> sum(20, 1.0f);
  decode_add(*stc("0.2"), payload, 2.0f, sum);
  CHECK((sum[1] == -0.25f && sum[4] == 2.25f && sum[0] == 1.0f));
}

TEST_CASE("stc's error is ||T||^2 - ||T_S||_1^2 / k") {
  // The example: 1.7776 - 2.5^2 / 4 = 0.2151.
  CHECK(squared_norm(kExample) == Approx(1.7776));
  const auto codec = stc("0.2");
  CHECK(squared_error(kExample, decode(*codec, encode(*codec, kExample), 20)) == Approx(0.2151));
  for (const std::size_t n : {100u, 1000u, 40000u}) {
    const auto x = random_values(n);
    const auto y = decode(*codec, encode(*codec, x), n);
    const std::size_t k = n / 5;
    const double sum = largest_sum(x, k);
    CHECK(squared_error(x, y) == Approx(squared_norm(x) - sum * sum / static_cast<double>(k)));
    auto wrong = y;  // negative control: another magnitude than the mean is worse
    for (float& value : wrong) value *= 1.1f;
    CHECK(squared_error(x, wrong) > 1.001 * squared_error(x, y));
  }
}

TEST_CASE("stc counts max(1, floor(p n)), or ceil, and breaks ties by index") {
  const auto kept = [](const char* ratio, const char* count, const std::vector<float>& x) {
    const auto codec = make_codec("stc", {{"ratio", ratio}, {"count", count}});
    const auto y = decode(*codec, encode(*codec, x), x.size());
    return static_cast<std::size_t>(
        std::count_if(y.begin(), y.end(), [](float v) { return v != 0.0f; }));
  };
  CHECK(kept("0.1", "floor", random_values(29)) == 2);
  CHECK(kept("0.1", "ceil", random_values(29)) == 3);
  CHECK(kept("0.001", "floor", random_values(29)) == 1);
  CHECK(kept("0.29", "floor", random_values(100)) == 29);  // .29 * 100 = 28.999999999999996
  const auto codec = stc("0.4");
  const std::vector<float> constant(10, -2.0f);
  CHECK(decode(*codec, encode(*codec, constant), 10) ==
        std::vector<float>{-2, -2, -2, -2, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("stc: sum of uploads + residual = sum of deltas, and the fused step is the plain one") {
  for (const std::size_t n : {333u, 70000u}) {
    const auto codec = stc("0.04");
    std::vector<double> fed(n), sent(n);
    std::vector<float> fused(n), plain(n);
    std::vector<std::byte> scratch(codec->scratch_size(n)), payload(codec->max_encoded_size(n));
    for (std::uint32_t step = 0; step < 12; ++step) {
      auto x = random_values(n, step);
      for (float& value : x) value = std::round(value * 64) / 64;
      EncodeJob job{.tensor = {"t", {}, x}, .payload = payload};
      const std::size_t size = codec->encode_with_residual(job, fused, scratch);
      const std::vector<std::byte> bytes(payload.begin(),
                                         payload.begin() + static_cast<std::ptrdiff_t>(size));
      job.written = 0;
      codec->Codec::encode_with_residual(job, plain, scratch);
      REQUIRE(job.written == size);
      REQUIRE(std::equal(bytes.begin(), bytes.end(), payload.begin()));
      REQUIRE(fused == plain);
      const auto y = decode(*codec, bytes, n);
      for (std::size_t e = 0; e < n; ++e) fed[e] += x[e], sent[e] += y[e];
    }
    double worst = 0, dropped = 0;
    for (std::size_t e = 0; e < n; ++e) {
      worst = std::max(worst, std::abs(sent[e] + fused[e] - fed[e]));
      dropped = std::max(dropped, std::abs(sent[e] - fed[e]));
    }
    CHECK(worst < 1e-5);
    CHECK(dropped > 0.1);  // negative control: without the residual the sums differ
  }
}

TEST_CASE("catching up message by message gives bit-equal weights") {
  const auto codec = stc("0.04");
  std::vector<std::vector<std::byte>> messages;
  std::vector<float> never_skipped = random_values(500, 50), skipped = never_skipped;
  std::vector<float> summed = never_skipped, sum(500);
  for (std::uint32_t round = 0; round < 9; ++round) {
    messages.push_back(encode(*codec, random_values(500, round)));
    decode_add(*codec, messages.back(), 1.0f, never_skipped);
    decode_add(*codec, messages.back(), 1.0f, sum);
  }
  for (const auto& message : messages) decode_add(*codec, message, 1.0f, skipped);
  CHECK(skipped == never_skipped);
  for (std::size_t e = 0; e < 500; ++e) summed[e] += sum[e];
  CHECK(summed != never_skipped);  // negative control: adding a sum rounds otherwise
}

TEST_CASE("stc's bits an element are those of the table") {
  // (b_pos + 1) p: 0.2834 at 1/25, 0.0911 at 1/100, 0.02778 at 1/400, 0.01249 at 1/1000
  const struct {
    const char* ratio;
    double bits;
  } rows[] = {{"0.04", 0.2834}, {"0.01", 0.0911}, {"0.0025", 0.02778}, {"0.001", 0.01249}};
  const std::size_t n = 1000000;
  const auto x = random_values(n);
  for (const auto& row : rows) {
    const auto size = static_cast<double>(encode(*stc(row.ratio), x).size());
    CHECK(8 * size / static_cast<double>(n) == Approx(row.bits).epsilon(0.015));
  }
}

TEST_CASE("stc's decoder refuses what no encoder writes, naming the byte") {
  const auto refuse = [](const char* bytes, const char* reason) {
    CHECK_THROWS_WITH(decode(*stc("0.2"), from_hex(bytes), 20), Contains(reason));
  };
  refuse("0000", "in a header of 4 bytes");
  refuse("0000c07f346a80", "byte 0 begins a value that is not finite");
  refuse("000020bf346a80", "byte 0 begins a value that is not finite and >= 0");
  refuse("0000203f346a", "within entry 3");
  refuse("0000203f346a8000", "only 7 bytes");
  refuse("0000203ffffe00", "byte 4 begins an index beyond the tensor");
  CHECK_NOTHROW(decode(*stc("0.2"), from_hex("0000203f346aff"), 20));  // unused bits are ignored
}

TEST_CASE("stc explains every byte") {
  const auto codec = make_codec("stc", {{"ratio", "0.2"}, {"stored_count", "true"}});
  const auto fields = codec->explain(from_hex("040000000000203f346a80"), 20, {});
  REQUIRE(fields.size() == 3);
  CHECK(fields[0].value == "4");
  CHECK(fields[1].value == "0.625");
  CHECK((fields[2].offset == 8 && fields[2].bytes == 3 && fields[2].value == "b = 2"));
}
