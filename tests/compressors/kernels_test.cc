#include "compressors/kernels/kernels.h"

#include <hwy/targets.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "codec_fixture.h"
#include "compressors/arithmetic/half.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

// Runs `check` on each instruction set this machine has, and says on how many.
template <class Check>
int on_each_target(Check&& check) {
  int targets = 0;
  for (const int64_t target : {HWY_AVX3, HWY_AVX2, HWY_SCALAR}) {
    if (target != HWY_SCALAR && (hwy::SupportedTargets() & target) == 0) continue;
    hwy::GetChosenTarget().Update(target);
    INFO("target " << hwy::TargetName(target));
    check();
    ++targets;
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return targets;
}

std::vector<float> hard_values(std::size_t n) {
  auto values = random_values(n);
  const float hard[] = {0.0f, -0.0f, 1e-45f, -1e-40f, 3e38f, 65520.0f, 0x1p-25f, 6.1e-5f};
  for (std::size_t i = 0; i < n; i += 5) values[i] = hard[i / 5 % 8];
  return values;
}

}  // namespace

TEST_CASE("every instruction set draws the same words") {
  const RandomStream stream{.seed = 0x123456789ABCDEFull, .step = 5, .worker = 6, .tensor = 7};
  CHECK(on_each_target([&] {
          for (const std::size_t blocks : {0u, 1u, 7u, 32u, 33u, 100u})
            for (const std::uint32_t first : {0u, 3u, 0xFFFFFFF0u}) {
              std::vector<std::uint32_t> words(4 * blocks);
              kernels::philox_words(stream, first, blocks, words.data());
              for (std::size_t w = 0; w < words.size(); ++w) {
                const auto block = static_cast<std::uint32_t>(first + w / 4);
                REQUIRE(words[w] == philox_block(stream, block).word[w % 4]);
              }
            }
        }) >= 1);
}

TEST_CASE("every instruction set makes the same ternary codes and values") {
  const auto values = hard_values(203);
  std::vector<std::uint32_t> words(204);
  kernels::philox_words({.seed = 3}, 0, 51, words.data());
  CHECK(on_each_target([&] {
          for (const float scale : {0.5f, 1e-39f, 0.0f})
            for (const std::size_t n : {0u, 1u, 31u, 32u, 63u, 203u}) {
              const TernaryRule rule = ternary_rule(scale);
              std::vector<std::byte> codes((n + 3) / 4);
              kernels::ternary_codes(values.data(), words.data(), n, rule, codes.data());
              std::vector<float> decoded(n), added(n, 0.25f);
              kernels::ternary_values(codes.data(), n, scale, decoded.data());
              kernels::ternary_values_add(codes.data(), n, scale, added.data());
              for (std::size_t e = 0; e < n; ++e) {
                const int term = ternary_term(values[e], ternary_draw(words[e]), rule);
                REQUIRE(decoded[e] == static_cast<float>(term) * scale);
                REQUIRE(added[e] == 0.25f + static_cast<float>(term) * scale);
              }
            }
        }) >= 1);
}

TEST_CASE("every instruction set rounds to the same halves and reads them back") {
  auto values = hard_values(401);
  values[400] = -INFINITY;
  std::vector<std::byte> every_half(2 * 65536);
  for (std::uint32_t h = 0; h < 65536; ++h) std::memcpy(&every_half[2 * h], &h, 2);
  CHECK(on_each_target([&] {
          std::vector<std::byte> halves(802);
          kernels::to_half(values.data(), 401, halves.data());
          for (std::size_t e = 0; e < 401; ++e) {
            std::uint16_t half;
            std::memcpy(&half, &halves[2 * e], 2);
            REQUIRE(half == half_from_float(values[e]));
          }
          std::vector<float> floats(65536);
          kernels::from_half(every_half.data(), 65536, floats.data());
          for (std::uint32_t h = 0; h < 65536; ++h) {
            const auto expected = float_from_half(static_cast<std::uint16_t>(h));
            REQUIRE(bits_of(floats[h]) == bits_of(expected));
          }
        }) >= 1);
}

TEST_CASE("every instruction set finds the same maxima, moments and entries") {
  const auto values = hard_values(4001);
  const std::uint32_t largest = bits_of(3e38f), threshold = magnitude_bits(values[1]);
  kernels::BlockMoments* reference = nullptr;
  kernels::BlockMoments first;
  std::vector<std::byte> first_entries;
  CHECK(on_each_target([&] {
          CHECK(kernels::max_magnitude_bits(values.data(), values.size()) == largest);
          const auto moments = kernels::block_moments(values.data() + 1, 37, 0.1);
          std::vector<std::byte> entries(8 * values.size());
          entries.resize(8 * kernels::select_entries(values.data(), values.size(), threshold, 1,
                                                     entries.data()));
          std::vector<std::uint32_t> keys(values.size() + 16), expected;
          const auto found =
              kernels::collect_keys(values.data(), values.size(), threshold, keys.data());
          keys.resize(found.count);
          for (const float value : values)
            if (magnitude_bits(value) >= threshold) expected.push_back(magnitude_bits(value));
          CHECK(keys == expected);
          CHECK(found.max_magnitude == largest);
          if (reference == nullptr) {
            first = moments;
            reference = &first;
            first_entries = entries;
          }
          CHECK(moments.sum == reference->sum);
          CHECK(moments.sum_squares == reference->sum_squares);
          CHECK(entries == first_entries);
        }) >= 1);
}
