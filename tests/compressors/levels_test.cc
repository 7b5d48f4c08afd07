#include "compressors/kernels/levels.h"

#include "compressors/codecs/minmax/kernel.h"
#include "compressors/codecs/qsgd/kernel.h"
#include "compressors/codecs/rowquant/kernel.h"

#include <bit>
#include <catch2/catch.hpp>
#include <cfloat>
#include <cmath>
#include <cstring>

#include "codec_fixture.h"
#include "compressors/bit_packing.h"
#include "compressors/ordered_sum.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

namespace {

const Draws kDraws{.stream = {.seed = 5, .step = 1, .worker = 2, .tensor = 3}};

kernels::PackedCodes bytes_of(const std::vector<std::uint8_t>& codes) {
  return {reinterpret_cast<const std::byte*>(codes.data()), 8};
}

/// `encode` writes the same codes at every width that holds them, in either order, and no byte
/// more.
template <class Encode>
void check_packed(const std::vector<std::uint8_t>& codes, Encode&& encode) {
  const std::uint8_t largest = *std::max_element(codes.begin(), codes.end());
  for (int bits = std::max(1, static_cast<int>(std::bit_width(largest))); bits < 8; ++bits)
    for (const auto order : {kernels::BitOrder::kLowFirst, kernels::BitOrder::kHighFirst}) {
      const std::size_t size = (codes.size() * static_cast<std::size_t>(bits) + 7) / 8;
      // Filled differently: a byte that neither writes differs, and those behind stay as they were.
      std::vector<std::byte> expected(size + 8, std::byte{0xA5}), packed(size + 8, std::byte{0x5A});
      kernels::pack_codes(codes.data(), codes.size(), bits, order, expected.data());
      encode(kernels::CodeOutput{packed.data(), bits, order});
      const auto end = packed.begin() + static_cast<std::ptrdiff_t>(size);
      REQUIRE(std::equal(packed.begin(), end, expected.begin()));
      REQUIRE(std::count(end, packed.end(), std::byte{0x5A}) == 8);
    }
}

std::uint32_t draw_of(const Draws& draws, std::size_t e) {
  return philox_word(draws.stream, draws.first_element + e) >> 8;
}

}  // namespace

TEST_CASE("codes of 1 to 8 bits are packed low bit first as by the plain packer, and high first") {
  on_each_instruction_set([] {
    for (int bits = 1; bits <= 8; ++bits)
      for (const std::size_t n : {0u, 1u, 7u, 8u, 63u, 64u, 65u, 200u}) {
        const auto w = static_cast<unsigned>(bits);
        std::vector<std::uint8_t> codes(n), back(n);
        std::vector<std::uint32_t> wide(n);
        for (std::size_t i = 0; i < n; ++i)
          wide[i] = codes[i] = static_cast<std::uint8_t>((i * 37 + 11) % (1u << w));
        std::vector<std::byte> packed(packed_bytes(n, bits), std::byte{0xAA}),
            expected(packed.size());
        pack_bits(wide, bits, 0, (1u << w) - 1, expected);
        kernels::pack_codes(codes.data(), n, bits, kernels::BitOrder::kLowFirst, packed.data());
        REQUIRE(packed == expected);
        kernels::unpack_codes(packed.data(), n, bits, kernels::BitOrder::kLowFirst, back.data());
        REQUIRE(back == codes);
        kernels::pack_codes(codes.data(), n, bits, kernels::BitOrder::kHighFirst, packed.data());
        for (std::size_t bit = 0; bit < n * w; ++bit) {  // bit 0 is the top one of byte 0
          const unsigned got = std::to_integer<unsigned>(packed[bit / 8]) >> (7 - bit % 8) & 1u;
          REQUIRE(got == (codes[bit / w] >> (w - 1 - bit % w) & 1u));
        }
        kernels::unpack_codes(packed.data(), n, bits, kernels::BitOrder::kHighFirst, back.data());
        REQUIRE(back == codes);
      }
  });
}

TEST_CASE("every instruction set gives the levels and values of the shared arithmetic") {
  on_each_instruction_set([] {
    for (const float scale : {1.0f, 1e-40f, 1e36f, 1e-20f, 0.0f})
      for (const std::uint32_t top : {1u, 15u, 255u})
        for (const std::size_t n : {1u, 63u, 64u, 450u}) {
          auto values = random_values(n);
          for (float& value : values) value *= scale;
          const auto range = kernels::bucket_range(values.data(), n);
          REQUIRE(range.finite);
          REQUIRE(range.smallest == *std::min_element(values.begin(), values.end()));
          REQUIRE(range.largest == *std::max_element(values.begin(), values.end()));
          const LevelGrid grid = level_grid(range.smallest, range.largest, top);
          for (const auto rounding :
               {LevelRounding::kHalfUp, LevelRounding::kHalfToEven, LevelRounding::kDrawn})
            for (const std::size_t begin : {0u, 8u, 3u}) {
              std::vector<std::uint8_t> codes(n);
              kernels::level_codes(values.data(), n, grid, rounding, kDraws, begin,
                                   kernels::byte_codes(codes.data()));
              if (rounding != LevelRounding::kDrawn)
                check_packed(codes, [&](const kernels::CodeOutput& out) {
                  kernels::level_codes(values.data(), n, grid, rounding, kDraws, begin, out);
                });
              std::vector<float> decoded(n), sum(n, 0.5f);
              kernels::level_values(bytes_of(codes), n, grid, NAN, kernels::Output::kStore, 1.0f,
                                    decoded.data());
              kernels::level_values(bytes_of(codes), n, grid, NAN, kernels::Output::kAdd, 3.0f,
                                    sum.data());
              for (std::size_t e = 0; e < n; ++e) {
                const std::uint32_t draw = draw_of(kDraws, begin + e);
                REQUIRE(codes[e] == level_of(values[e], grid, rounding, draw));
                REQUIRE(codes[e] <= top);
                REQUIRE(decoded[e] == level_value(codes[e], grid));
                REQUIRE(sum[e] == 0.5f + 3.0f * decoded[e]);
                if (values[e] == range.smallest) REQUIRE(codes[e] == 0);
                if (values[e] == range.largest && !grid.wide)
                  REQUIRE(codes[e] == (range.largest > range.smallest ? top : 0));
              }
            }
        }
  });
}

TEST_CASE("every instruction set gives the norm levels and values of the shared arithmetic") {
  on_each_instruction_set([] {
    for (const float scale : {1.0f, 1e-40f, 1e36f, 0.0f})
      for (const std::size_t n : {1u, 64u, 450u}) {
        auto values = random_values(n);
        for (float& value : values) value *= scale;
        const double squares = kernels::sum_of_squares(values.data(), n);
        REQUIRE(squares ==
                ordered_sum(n, [&](std::size_t e) { return 1.0 * values[e] * values[e]; }));
        for (const int bits : {2, 4, 8})
          for (const std::uint32_t levels : {(1u << (bits - 1)) - 1u, 1u << (bits - 2)}) {
            const NormGrid grid = norm_grid(norm_from_squares(squares), levels);
            std::vector<std::uint8_t> codes(n);
            std::vector<std::int32_t> signed_levels(n);
            kernels::norm_codes(values.data(), n, &grid, n, bits, kDraws, 4, codes.data());
            kernels::signed_norm_levels(values.data(), n, grid, kDraws, 4, signed_levels.data());
            std::vector<float> decoded(n);
            kernels::norm_values(bytes_of(codes), n, grid, bits, kernels::Output::kStore, 1.0f,
                                 decoded.data());
            for (std::size_t e = 0; e < n; ++e) {
              const std::int32_t level = signed_norm_level(values[e], grid, draw_of(kDraws, e + 4));
              REQUIRE(signed_levels[e] == level);
              const std::uint32_t magnitude = static_cast<std::uint32_t>(std::abs(level));
              REQUIRE(codes[e] == (magnitude | (level < 0 ? 1u << (bits - 1) : 0u)));
              REQUIRE(decoded[e] == norm_level_value(magnitude, level < 0, grid));
            }
          }
      }
  });
}

TEST_CASE("ranges and squares tell values that are not finite, wherever they are") {
  on_each_instruction_set([] {
    for (const float bad : {NAN, INFINITY, -INFINITY})
      for (std::size_t at = 0; at < 75; at += 2) {
        auto values = random_values(75);
        values[at] = bad;
        CHECK_FALSE(kernels::bucket_range(values.data(), 75).finite);
        CHECK_FALSE(std::isfinite(kernels::sum_of_squares(values.data(), 75)));
      }
  });
}

TEST_CASE("the columns' largest magnitudes, scaled codes and their values") {
  on_each_instruction_set([] {
    const auto values = random_values(300), inverses = random_values(300, 1);
    std::vector<std::uint32_t> largest(300, bits_of(0.001f));
    kernels::raise_magnitudes(values.data(), 300, largest.data());
    std::vector<std::uint8_t> codes(300);
    std::vector<float> scaled(300), decoded(300);
    for (std::size_t e = 0; e < 300; ++e) scaled[e] = 40.0f / (std::abs(inverses[e]) + 1e-6f);
    kernels::scaled_codes(values.data(), scaled.data(), 300, 8.0f, codes.data());
    kernels::scaled_values(bytes_of(codes), inverses.data(), 300, 8.0f, kernels::Output::kStore,
                           1.0f, decoded.data());
    for (std::size_t e = 0; e < 300; ++e) {
      REQUIRE(largest[e] == std::max(bits_of(0.001f), magnitude_bits(values[e])));
      REQUIRE(codes[e] == scaled_code(values[e], scaled[e], 8.0f));
      REQUIRE(codes[e] < 16);
      REQUIRE(decoded[e] == (codes[e] - 8.0f) / 8.0f * inverses[e]);
    }
    std::vector<float> ends(2);
    const std::uint8_t first_and_last[] = {0, 255};
    kernels::symmetric_values({reinterpret_cast<const std::byte*>(first_and_last), 8}, 2, 0.3f,
                              255.0f, kernels::Output::kStore, 1.0f, ends.data());
    CHECK(ends == std::vector<float>{-0.3f, 0.3f});
  });
}
