#include "compressors/codecs/fastsgd_r/kernel.h"

#include <catch2/catch.hpp>
#include <vector>

#include "compressors/codecs/fastsgd_r/arithmetic.h"
#include "tests/compressors/codec_fixture.h"
#include "tests/compressors/each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

struct Coded {
  std::vector<std::uint8_t> codes;
  std::vector<std::uint64_t> kept;
  bool operator==(const Coded&) const = default;
};

constexpr int kSignBit = 6;

Coded coded(const std::vector<float>& values, const std::vector<std::uint32_t>& least) {
  Coded made{std::vector<std::uint8_t>(values.size(), 0xFF),
             std::vector<std::uint64_t>((values.size() + 63) / 64, ~std::uint64_t{0})};
  kernels::level_codes(values.data(), values.size(), least.data(), least.size(), kSignBit,
                       made.codes.data(), made.kept.data());
  return made;
}

Coded one_by_one(const std::vector<float>& values, const std::vector<std::uint32_t>& least) {
  Coded made{std::vector<std::uint8_t>(values.size()),
             std::vector<std::uint64_t>((values.size() + 63) / 64)};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint32_t magnitude = magnitude_bits(values[i]);
    if (magnitude < least.back()) continue;
    const std::uint32_t level =
        log_level(magnitude, least.data(), static_cast<std::uint32_t>(least.size()));
    made.codes[i] = static_cast<std::uint8_t>(level | (values[i] < 0 ? 1u << kSignBit : 0u));
    made.kept[i / 64] |= std::uint64_t{1} << i % 64;
  }
  return made;
}

std::vector<std::uint32_t> leasts(std::size_t levels) {
  std::vector<std::uint32_t> least;
  float value = 0.7f;
  for (; least.size() < levels; value *= 0.8f) least.push_back(bits_of(value));
  return least;
}

}  // namespace

TEST_CASE("level codes: each value's first level that it reaches, and its sign") {
  // 0.7 0.56 0.448: 1 and 0.7 are of level 0, 0.6 of 1, -0.5 of 2; 0.4, 0 and -0 are dropped.
  const Coded made = coded({1.0f, 0.7f, 0.6f, -0.5f, 0.4f, 0.0f, -0.0f}, leasts(3));
  CHECK(made.codes == std::vector<std::uint8_t>{0, 0, 1, 66, 0, 0, 0});
  CHECK(made.kept == std::vector<std::uint64_t>{0b1111});
}

TEST_CASE("every instruction set makes the level codes of the shared arithmetic") {
  on_each_instruction_set([&] {
    for (const std::size_t levels : {std::size_t{1}, std::size_t{3}, kernels::kMostLevelCodes})
      for (const std::size_t n : {0u, 1u, 15u, 63u, 64u, 65u, 127u, 128u, 1003u}) {
        const auto least = leasts(levels);
        auto values = random_values(n);
        for (std::size_t i = 0; i < n; i += 3) values[i] = float_of(least[i / 3 % levels]);
        for (std::size_t i = 1; i < n; i += 7) values[i] = -float_of(least[i % levels] - 1);
        const Coded made = coded(values, least);
        REQUIRE(made == one_by_one(values, least));
        if (n == 0) continue;
        const bool last_kept = made.kept.back() >> (n - 1) % 64 != 0;
        values.back() = last_kept ? -values.back() : 2.0f;
        REQUIRE(made != one_by_one(values, least));
      }
  });
}

TEST_CASE("level codes where none, and where all are kept") {
  on_each_instruction_set([&] {
    const auto none = coded(std::vector<float>(200, 1e-6f), leasts(4));
    CHECK(none.codes == std::vector<std::uint8_t>(200));
    CHECK(none.kept == std::vector<std::uint64_t>(4));
    const auto all = coded(std::vector<float>(200, -1.0f), leasts(4));
    CHECK(all.codes == std::vector<std::uint8_t>(200, 64));
    CHECK(all.kept == std::vector<std::uint64_t>{~0ull, ~0ull, ~0ull, 0xFF});
  });
}
