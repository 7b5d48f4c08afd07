#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>

#include "base/thread_team.h"
#include "tests/compressors/codec_fixture.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

CodecPtr qsgd(int levels, int bucket, const char* norm, const char* format = "fixed") {
  return make_codec("qsgd", {{"levels", std::to_string(levels)},
                             {"bucket", std::to_string(bucket)},
                             {"norm", norm},
                             {"format", format}});
}

/// Standard normal values, by Box and Muller.
std::vector<float> gaussian(std::size_t n, std::uint32_t step) {
  std::vector<float> x(n);
  const RandomStream stream{.seed = 4, .step = step, .worker = 0, .tensor = kFirstReservedTensor};
  for (std::size_t e = 0; e < n; ++e) {
    const double u = uniform(stream, 2 * e) + 1e-9, v = uniform(stream, 2 * e + 1);
    x[e] = static_cast<float>(std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v));
  }
  return x;
}

}  // namespace

TEST_CASE("qsgd worked example in three formats, both ways") {
  // v = [3, -4, 0, 0, 12], N = 13, s = 4, u = .5: a = .923, 1.231, 0, 0, 3.692 -> 1 1 0 0 4.
  const std::vector<float> v = {3, -4, 0, 0, 12}, q = {3.25f, -3.25f, 0, 0, 13};
  const CallOptions half{.injected = std::vector<float>(5, 0.5f)};
  // Fixed, 1 + 3 bits: codes 1, 9, 0, 0, 4. Sparse: omega(4) | 1 + 1 | 1 - 1 | omega(3) + omega(4).
  // Dense: 100 0 | 100 1 | 0 | 0 | 101010 0.
  const std::pair<const char*, const char*> expected[] = {
      {"fixed", "00005041910004"}, {"sparse", "00005041a02ca0"}, {"dense", "00005041892a00"}};
  for (const auto& [format, bytes] : expected) {
    const auto codec = qsgd(4, 512, "2", format);
    const auto payload = encode(*codec, v, half);
    CHECK(hex(payload) == bytes);
    CHECK(decode(*codec, from_hex(bytes), 5) == q);
    std::vector<float> sum(5, 1.0f);
    decode_add(*codec, payload, 2.0f, sum);
    CHECK(sum == std::vector<float>{7.5f, -5.5f, 1, 1, 27});
    std::size_t covered = 0;
    for (const PayloadField& field : codec->explain(payload, 5, {})) {
      CHECK(field.offset == covered);
      covered += field.bytes;
    }
    CHECK(covered == payload.size());
  }
}

TEST_CASE("qsgd is unbiased with the exact variance") {
  // (N / s)^2 sum f (1 - f) = 4.875 for the worked example; bound min(n / s^2, sqrt(n) / s) N^2.
  const std::vector<float> v = {3, -4, 0, 0, 12};
  const auto codec = qsgd(4, 512, "2");
  constexpr int kRounds = 40000;
  std::vector<double> sum(5);
  double squares = 0;
  for (std::uint32_t r = 0; r < kRounds; ++r) {
    const auto y = decode(*codec, encode(*codec, v, {.stream = {.seed = 2, .step = r}}), 5);
    for (std::size_t e = 0; e < 5; ++e) {
      sum[e] += y[e];
      squares += (double{y[e]} - v[e]) * (double{y[e]} - v[e]);
    }
  }
  double exact = 0;
  for (std::size_t e = 0; e < 5; ++e) {
    const double a = std::abs(v[e]) / 13.0 * 4, f = a - std::floor(a);
    const double variance = 13.0 * 13.0 / 16 * f * (1 - f);
    exact += variance;
    CHECK(std::abs(sum[e] / kRounds - v[e]) <= 5 * std::sqrt(variance / kRounds) + 1e-6);
  }
  CHECK(exact == Approx(4.875));
  CHECK(squares / kRounds == Approx(4.875).epsilon(0.03));
  CHECK(4.875 < std::min(5.0 / 16, std::sqrt(5.0) / 4) * 169);
  // Negative control: with u fixed, the mean is off.
  const auto fixed =
      decode(*codec, encode(*codec, v, {.injected = std::vector<float>(5, 0.5f)}), 5);
  CHECK(std::abs(fixed[0] - v[0]) > 0.2f);
}

TEST_CASE("qsgd is lossless with buckets of one, and exact for the largest with the max norm") {
  const auto x = random_values(999);
  CHECK(decode(*qsgd(7, 1, "max"), encode(*qsgd(7, 1, "max"), x), 999) == x);
  for (const int levels : {1, 7, 100, 127}) {
    const auto y = decode(*qsgd(levels, 999, "max"), encode(*qsgd(levels, 999, "max"), x), 999);
    const auto largest = std::max_element(
        x.begin(), x.end(), [](float a, float b) { return std::abs(a) < std::abs(b); });
    const std::size_t at = static_cast<std::size_t>(largest - x.begin());
    CHECK(y[at] == x[at]);
    for (std::size_t e = 0; e < 999; ++e)
      REQUIRE(std::abs(y[e] - x[e]) <= std::abs(x[at]) / static_cast<float>(levels) * 1.0001f);
  }
}

TEST_CASE("qsgd with the 2-norm and one level is sparse, within the paper's bounds") {
  // Nonzeros: at most s (s + sqrt n) = 33 and 129; measured 25.4 and 100.5. Bits of the sparse
  // stream: at most (3 + 1.5 log2(2 (1 + n) / (1 + sqrt n))) (1 + sqrt n) + 32; measured 349, 1543.
  struct Case {
    std::size_t n;
    double nonzeros, bits;
  };
  for (const Case& c : {Case{1024, 25.4, 349}, Case{16384, 100.5, 1543}}) {
    const auto codec = qsgd(1, static_cast<int>(c.n), "2", "sparse");
    constexpr int kRounds = 60;
    double nonzeros = 0, bits = 0;
    for (std::uint32_t r = 0; r < kRounds; ++r) {
      const auto payload = encode(*codec, gaussian(c.n, r), {.stream = {.seed = 6, .step = r}});
      bits += 8.0 * static_cast<double>(payload.size());
      for (const float value : decode(*codec, payload, c.n)) nonzeros += value != 0 ? 1 : 0;
    }
    const double root = std::sqrt(static_cast<double>(c.n)), count = 1 + root;
    CHECK(nonzeros / kRounds == Approx(c.nonzeros).epsilon(0.08));
    CHECK(nonzeros / kRounds <= count);
    CHECK(bits / kRounds == Approx(c.bits).epsilon(0.08));
    CHECK(bits / kRounds <= (3 + 1.5 * std::log2(2 * (1 + root * root) / count)) * count + 32);
  }
}

TEST_CASE("qsgd at s = sqrt n: 2.94 bits a value dense, about 2.8 sparse") {
  for (const int n : {256, 1024, 4096}) {
    const int s = static_cast<int>(std::sqrt(n));
    double dense = 0, sparse = 0;
    const int rounds = 100000 / n;
    for (int r = 0; r < rounds; ++r) {
      const auto x = gaussian(static_cast<std::size_t>(n), static_cast<std::uint32_t>(r));
      const CallOptions options{.stream = {.seed = 6, .step = static_cast<std::uint32_t>(r)}};
      dense += static_cast<double>(encode(*qsgd(s, n, "2", "dense"), x, options).size() - 4);
      sparse += static_cast<double>(encode(*qsgd(s, n, "2", "sparse"), x, options).size() - 4);
    }
    CHECK(8 * dense / rounds / n == Approx(2.94).margin(0.06));
    CHECK(8 * sparse / rounds / n == Approx(2.79).margin(0.09));
  }
}

TEST_CASE("qsgd formats decode to the same values, for many levels and lengths") {
  for (const int levels : {1, 2, 7, 16, 127})
    for (const int bucket : {1, 5, 64, 512, 3000})
      for (const std::size_t n : {0u, 1u, 700u, 5001u}) {
        const auto x = random_values(n);
        const auto fixed = qsgd(levels, bucket, "2"), dense = qsgd(levels, bucket, "2", "dense"),
                   sparse = qsgd(levels, bucket, "2", "sparse");
        const auto y = decode(*fixed, encode(*fixed, x), n);
        REQUIRE(decode(*dense, encode(*dense, x), n) == y);
        REQUIRE(decode(*sparse, encode(*sparse, x), n) == y);
      }
  const auto many = qsgd(65535, 4096, "max", "dense");
  const auto x = random_values(4096);
  const auto y = decode(*many, encode(*many, x), 4096);
  for (std::size_t e = 0; e < 4096; ++e) REQUIRE(std::abs(y[e] - x[e]) <= 0.5f / 65000);
}

TEST_CASE("qsgd's size bound holds where every value has the largest level") {
  for (const char* format : {"fixed", "dense", "sparse"})
    for (const int levels : {1, 3, 15, 127}) {
      const std::vector<float> x(1000, -2.5f);
      const auto codec = qsgd(levels, 512, "max", format);
      const auto payload = encode(*codec, x);
      CHECK(payload.size() <= codec->max_encoded_size(1000));
      CHECK(payload.size() + 4 >= codec->max_encoded_size(1000));  // and is tight
      CHECK(decode(*codec, payload, 1000) == x);
    }
}

TEST_CASE("qsgd takes the ends of binary32") {
  for (const char* norm : {"max", "2"})
    for (const char* format : {"fixed", "dense"})
      for (const float v : {FLT_TRUE_MIN, 1e-41f, FLT_MIN, FLT_MAX}) {
        const auto codec = qsgd(7, 512, norm, format);
        for (const float y : decode(*codec, encode(*codec, {v, -v, v}), 3)) {
          CHECK(std::isfinite(y));
          if (norm[0] == 'm') CHECK(std::abs(y) == v);
        }
      }
}

TEST_CASE("qsgd gives the same bytes on several threads, and names a bad byte") {
  const std::size_t n = 300001;
  const auto x = random_values(n);
  ThreadTeam team(2);
  for (const int bucket : {512, 5000}) {
    const auto codec = qsgd(7, bucket, "2");
    std::vector<std::byte> shared(codec->max_encoded_size(n));
    EncodeJob job{.tensor = {.name = "t", .shape = {}, .data = x},
                  .draws = {.stream = CallOptions{}.stream},
                  .payload = shared,
                  .team = &team};
    codec->encode(job, {});
    CHECK(shared == encode(*codec, x));
  }
  using Catch::Matchers::Contains;
  CHECK_THROWS_WITH(decode(*qsgd(4, 512, "2"), from_hex("00005041910005"), 5),
                    Contains("byte 6 begins a level above 4"));
  CHECK_THROWS_WITH(decode(*qsgd(4, 512, "2", "sparse"), from_hex("00005041a02c"), 5),
                    Contains("ends within the bucket"));
  CHECK_THROWS_WITH(make_codec("qsgd", {{"levels", "128"}}), Contains("127"));
}
