#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "codec_fixture.h"
#include "compressors/arithmetic/golomb.h"
#include "compressors/arithmetic/packed_group.h"
#include "compressors/arithmetic/selection.h"
#include "compressors/arithmetic/trits.h"
#include "compressors/bit_packing.h"
#include "compressors/codecs/randomk/arithmetic.h"
#include "compressors/codecs/sz/arithmetic.h"
#include "compressors/codecs/sz/sz_symbols.h"
#include "compressors/codecs/ternary/threshold.h"
#include "compressors/codecs/ternary/threshold_search.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/kernels/kernels.h"
#include "compressors/kernels/levels.h"
#include "compressors/selection.h"
#include "compressors/trits.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

/// What CUDA's kernels are made of, against what the CPU's codecs do.

TEST_CASE("groups of eight codes are the packers' bytes, at every width and in both orders") {
  const RandomStream stream{.seed = 3};
  for (int bits = 1; bits <= kMostGroupBits; ++bits) {
    std::vector<std::uint32_t> codes(64), back(64);
    for (std::size_t i = 0; i < codes.size(); ++i)
      codes[i] = philox_word(stream, i) & ((1u << bits) - 1);
    const auto w = static_cast<std::size_t>(bits);
    std::vector<std::byte> packed(8 * w), expected(8 * w);
    for (const bool high_first : {false, true}) {
      if (high_first && bits > 8) continue;  // the CPU has no such packer
      for (std::size_t g = 0; g < 8; ++g)
        put_group(codes.data() + 8 * g, bits, high_first,
                  reinterpret_cast<std::uint8_t*>(packed.data()) + g * w);
      if (high_first) {
        const std::vector<std::uint8_t> bytes(codes.begin(), codes.end());
        kernels::pack_codes(bytes.data(), 64, bits, kernels::BitOrder::kHighFirst, expected.data());
      } else {
        pack_bits(codes, bits, 0, (1u << bits) - 1, expected);
      }
      REQUIRE(packed == expected);
      for (std::size_t g = 0; g < 8; ++g)
        take_group(reinterpret_cast<const std::uint8_t*>(packed.data()) + g * w, bits, high_first,
                   back.data() + 8 * g);
      REQUIRE(back == codes);
    }
  }
}

TEST_CASE("trits are read as they are packed") {
  for (std::uint32_t byte = 0; byte <= kLargestTritByte; ++byte) {
    std::byte packed = static_cast<std::byte>(byte), codes[2];
    REQUIRE(codes_from_trits({&packed, 1}, 5, codes) == 1);
    const std::uint32_t all =
        std::to_integer<std::uint32_t>(codes[0]) | std::to_integer<std::uint32_t>(codes[1]) << 8;
    for (std::uint32_t i = 0; i < kTritsInByte; ++i)
      REQUIRE(trit_of(byte, i) == (all >> (2 * i) & 3));
  }
}

TEST_CASE("Lorenzo differences give the symbols of sz") {
  std::vector<std::int32_t> codes(1000);
  for (std::size_t i = 0; i < codes.size(); ++i)
    codes[i] = static_cast<std::int32_t>(philox_word({.seed = 4}, i) % 97) - 48;
  codes[500] = 1 << 30;
  for (const std::size_t columns : {1u, 7u, 100u, 1000u})
    for (int predictor = 0; predictor < 3; ++predictor) {
      const SzCodes all{codes.data(), codes.size(), columns, 64, predictor};
      std::vector<std::uint16_t> symbols(codes.size());
      sz_symbols(all, 0, codes.size(), symbols.data());
      for (std::size_t i = 0; i < codes.size(); ++i)
        REQUIRE(symbols[i] ==
                lorenzo_symbol(lorenzo_difference(codes.data(), i, columns, predictor), 64));
    }
}

TEST_CASE("Golomb-Rice codes are their ones and their tail") {
  const GolombRule rule{3, 1};
  std::vector<std::uint32_t> indices = {0, 1, 17, 300, 301, 2000};
  std::vector<std::byte> written(256), expected(256);
  BitWriter out(written);
  golomb_write(out, rule, indices.size(), [&](std::size_t i) {
    return GolombEntry{indices[i], static_cast<std::uint32_t>(i % 2)};
  });
  std::size_t bit = 0;
  const auto put = [&](std::uint64_t value) {
    if (value != 0) expected[bit / 8] |= std::byte{0x80} >> static_cast<int>(bit % 8);
    ++bit;
  };
  std::uint64_t next = 0;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint64_t gap = indices[i] - next;
    next = std::uint64_t{indices[i]} + 1;
    for (std::uint64_t one = golomb_ones(gap, rule.b); one > 0; --one) put(1);
    const std::uint64_t tail = golomb_tail(gap, i % 2, rule.b, rule.extra);
    for (int b = golomb_tail_bits(rule.b, rule.extra); b-- > 0;) put(tail >> b & 1);
  }
  REQUIRE(out.finish() == (bit + 7) / 8);
  REQUIRE(written == expected);
}

TEST_CASE("counts above a sampled threshold decide as the selection does") {
  // Values of few magnitudes mislead small samples; `quiet` gives samples of zeros.
  for (const std::uint32_t seed : {1u, 2u, 3u, 4u})
    for (const std::size_t n : {50u, 5000u, 60000u})
      for (const double share : {0.001, 0.01, 0.3}) {
        std::vector<float> values = random_values(n, seed);
        if (seed == 3)
          for (float& v : values) v = v > 0.1f ? 1.0f : 0.5f;
        if (seed == 4)
          for (std::size_t e = 0; e < n; ++e) values[e] = e % 50 == 1 ? values[e] : 0.0f;
        const auto k = std::max<std::size_t>(1, static_cast<std::size_t>(share * n));
        const SelectionRule rule{true, 0.001};
        const std::vector<std::int64_t> shape = {static_cast<std::int64_t>(n)};
        std::vector<std::uint64_t> scratch(selection_scratch_size(n, k, rule) / 8 + 1);
        const Selected selected =
            select_largest("test", view_of(values, shape), k,
                           std::as_writable_bytes(std::span(scratch)), nullptr, rule);

        const SampleRule sample = sample_rule(n, selection_sample_size(n, k, rule));
        std::vector<std::uint32_t> keys(sample.count);
        for (std::size_t i = 0; i < keys.size(); ++i)
          keys[i] = magnitude_bits(values[i * sample.stride]);
        std::sort(keys.begin(), keys.end(), std::greater<>());
        std::uint32_t threshold = keys[sample_rank(keys.size(), k, n) - 1];
        std::uint32_t thresholds[kThresholdRetries + 1], counts[kThresholdRetries + 1];
        for (int j = 0; j <= kThresholdRetries; ++j) {
          thresholds[j] = threshold;
          counts[j] =
              static_cast<std::uint32_t>(std::count_if(values.begin(), values.end(), [&](float v) {
                return magnitude_bits(v) >= threshold;
              }));
          threshold = lowered_threshold(threshold);
        }
        const int retry = sampled_retry(counts, k, most_selected(n, k, rule));
        INFO("n " << n << " k " << k << " seed " << seed << " retry " << retry);
        REQUIRE(selected.indices.size() == (retry < 0 ? k : counts[retry]));
        if (retry >= 0) REQUIRE(selected.threshold == thresholds[retry]);
      }
}

TEST_CASE("the permutation's table holds the words that define it") {
  const PermutationRule rule = permutation_rule(1000);
  const PermutationWords words{.key = 0x0123456789ABCDEFull};
  std::vector<std::uint32_t> table(permutation_words(rule));
  kernels::philox_words({.seed = words.key}, 0, table.size() / 4, table.data());
  for (std::uint32_t i = 0; i < 1000; ++i)
    REQUIRE(permuted_index(i, rule, table.data()) == permuted_index(i, rule, words));
}

TEST_CASE("the least-error threshold is the largest gain of a sorted tensor's prefix sums") {
  // The way of CUDA: sums of mantissas over the sorted magnitudes, each exponent's from its first.
  for (const std::size_t n : {1u, 100u, 20000u}) {
    std::vector<float> values = random_values(n, 5);
    if (n > 100)
      for (std::size_t e = 0; e < n; e += 3) values[e] = 0.25f;
    std::vector<std::uint32_t> keys(n);
    for (std::size_t e = 0; e < n; ++e) keys[e] = magnitude_bits(values[e]);
    std::sort(keys.begin(), keys.end(), std::greater<>());
    double above = 0, gain = 0;
    float level = 0;
    std::uint64_t mantissas = 0;
    for (std::size_t i = 0; i < n && keys[i] != 0; ++i) {
      const std::uint32_t exponent = keys[i] >> 23;
      if (i > 0 && keys[i - 1] >> 23 != exponent) {
        above += scaled_mantissas(keys[i - 1] >> 23, mantissas);
        mantissas = 0;
      }
      mantissas += mantissa_of(keys[i]);
      if (i + 1 < n && keys[i + 1] == keys[i]) continue;
      const double sum = above + scaled_mantissas(exponent, mantissas);
      if (!(threshold_gain(sum, i + 1) > gain)) continue;
      gain = threshold_gain(sum, i + 1);
      level = threshold_level(sum, i + 1);
    }
    std::vector<std::uint64_t> scratch(threshold_search_scratch(n) / 8 + 1);
    const auto best = search_threshold(values, std::as_writable_bytes(std::span(scratch)), nullptr);
    REQUIRE(best.gain == gain);
    REQUIRE(best.level == level);
  }
}
