#include "compressors/coding/golomb_rice.h"
#include "compressors/coding/golomb_walk.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "codec_fixture.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

std::vector<GolombEntry> random_mask(std::size_t n, double p, std::uint32_t step) {
  std::vector<GolombEntry> entries;
  const RandomStream stream{.seed = 21, .step = step};
  for (std::size_t e = 0; e < n; ++e) {
    const std::uint32_t word = philox_word(stream, e);
    if (static_cast<double>(word >> 1) * 0x1p-31 < p)
      entries.push_back({static_cast<std::uint32_t>(e), word & 1});
  }
  return entries;
}

std::vector<std::byte> write(const std::vector<GolombEntry>& entries, GolombRule rule,
                             std::size_t n) {
  std::vector<std::byte> bytes((golomb_max_bits(n, entries.size(), rule) + 7) / 8);
  BitWriter out(bytes);
  golomb_write(out, rule, entries.size(), [&](std::size_t i) { return entries[i]; });
  bytes.resize(out.finish());
  return bytes;
}

/// Mean bits of a position, signs apart.
double position_bits(double p, int b, std::size_t n) {
  const auto entries = random_mask(n, p, 1);
  std::vector<std::byte> bytes((golomb_max_bits(n, entries.size(), {b, 1}) + 7) / 8);
  BitWriter out(bytes);
  golomb_write(out, {b, 1}, entries.size(), [&](std::size_t i) { return entries[i]; });
  const auto bits = static_cast<double>(out.bit_position());
  return bits / static_cast<double>(entries.size()) - 1.0;
}

double expected_bits(double p, int b) {
  return b + 1 / (1 - std::pow(1 - p, std::pow(2.0, b)));
}

void check_that_codes_come_back() {
  for (const double p : {0.9, 0.2, 0.01, 0.0005})
    for (const int b : {0, 1, 4, 6, 9, 10, 11, 15, 20, 31})
      for (const int extra : {0, 1, 3}) {
        const std::size_t n = 20011;
        const auto entries = random_mask(n, p, 5);
        const GolombRule rule{b, extra};
        std::vector<GolombEntry> sent = entries;
        for (GolombEntry& entry : sent)
          entry.extra = (entry.index * 2654435761u >> 7) & ((1u << extra) - 1u);
        const auto bytes = write(sent, rule, n);
        std::size_t wrong = 0;
        const GolombWalk walk =
            golomb_walk(BitReader(bytes), rule, sent.size(), n,
                        [&](std::size_t i, std::uint32_t index, std::uint32_t bits) {
                          wrong += sent[i].index != index || sent[i].extra != bits;
                        });
        CHECK(walk.complete());
        CHECK(walk.visited == sent.size());
        CHECK(wrong == 0);
        CHECK((walk.bit_position + 7) / 8 == bytes.size());
      }
}

void check_where_walks_stop() {
  const auto entries = random_mask(5000, 0.1, 9);
  const auto bytes = write(entries, {3, 1}, 5000);
  std::size_t visited = 0;
  const auto count = [&](std::size_t, std::uint32_t, std::uint32_t) { ++visited; };
  const std::span<const std::byte> all(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    visited = 0;
    const auto walk = golomb_walk(BitReader(all.first(size)), {3, 1}, entries.size(), 5000, count);
    REQUIRE(walk.beyond_bytes);
    REQUIRE(walk.visited == visited);
    REQUIRE(walk.bit_position <= 8 * size);
  }
  for (std::size_t n = 1; n < 5000; n += 101) {
    visited = 0;
    const auto walk = golomb_walk(BitReader(all), {3, 1}, entries.size(), n, count);
    if (n > entries.back().index) continue;
    REQUIRE(walk.beyond_tensor);
    REQUIRE((visited == 0 || entries[visited - 1].index < n));
    REQUIRE(entries[visited].index >= n);
  }
}

}  // namespace

TEST_CASE("b* is that of the logarithms") {
  CHECK(golomb_parameter(25, 1) == 4);
  CHECK(golomb_parameter(100, 1) == 6);
  CHECK(golomb_parameter(400, 1) == 8);
  CHECK(golomb_parameter(1000, 1) == 9);
  CHECK(golomb_parameter(20, 4) == 2);
  CHECK(golomb_parameter(7, 7) == 0);
  CHECK(golomb_parameter(7, 0) == 0);
  CHECK(golomb_parameter(std::size_t{1} << 32, 1) == 31);
  const double phi = (1 + std::sqrt(5.0)) / 2;
  for (std::size_t n = 2; n < 3000; n += 7)
    for (std::size_t k = 1; k < n; k += 1 + n / 13) {
      const double p = static_cast<double>(k) / static_cast<double>(n);
      const double b = 1 + std::floor(std::log2(std::log(phi - 1) / std::log(1 - p)));
      REQUIRE(golomb_parameter(n, k) == static_cast<int>(std::max(b, 0.0)));
    }
}

TEST_CASE("mean position bits on random masks are within 1 % of b_pos") {
  // b_pos = b* + 1 / (1 - (1 - p)^(2^b*)): 6.085, 8.108, 10.114, 11.495
  const struct {
    double p;
    int b;
    double bits;
  } rows[] = {
      {1 / 25.0, 4, 6.085}, {1 / 100.0, 6, 8.108}, {1 / 400.0, 8, 10.114}, {1 / 1000.0, 9, 11.495}};
  for (const auto& row : rows) {
    CHECK(expected_bits(row.p, row.b) == Approx(row.bits).margin(0.001));
    CHECK(position_bits(row.p, row.b, 4000000) == Approx(row.bits).epsilon(0.01));
  }
  // Negative control: the often quoted 8.38 bits at p = 0.01 belong to b = 7, not to b*.
  CHECK(expected_bits(0.01, 7) == Approx(8.38).margin(0.005));
  CHECK(position_bits(0.01, 7, 4000000) > 1.02 * 8.108);
}

TEST_CASE("coding is within 0.4 % of the entropy at p = 0.01, and STC's is 4.414 times smaller") {
  // Entropy of a nonzero: H(p) / p position bits + 1 sign bit.
  const double p = 0.01;
  const double entropy = (-p * std::log2(p) - (1 - p) * std::log2(1 - p)) / p;
  CHECK(position_bits(p, 6, 4000000) + 1 == Approx(entropy + 1).epsilon(0.004 + 0.002));
  CHECK(expected_bits(p, 6) + 1 < 1.004 * (entropy + 1));
  CHECK((entropy + 32) / (entropy + 1) == Approx(4.414).margin(0.001));
}

TEST_CASE("codes of every parameter come back, long runs of ones too") {
  on_each_instruction_set(check_that_codes_come_back);
}

TEST_CASE("a walk stops where the bytes end and where an index leaves the tensor") {
  on_each_instruction_set(check_where_walks_stop);
}
