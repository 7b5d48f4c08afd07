#include "compressors/kernels/kernels.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <limits>

#include "codec_fixture.h"
#include "compressors/arithmetic/bfloat.h"
#include "compressors/arithmetic/half.h"
#include "compressors/kernels/integers.h"
#include "compressors/ordered_sum.h"
#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;
using kernels::HalfFormat;
using kernels::Output;

namespace {

std::vector<float> hard_values(std::size_t n) {
  auto values = random_values(n);
  const float hard[] = {0.0f, -0.0f, 1e-45f, -1e-40f, 3e38f, 65520.0f, 0x1p-25f, 6.1e-5f};
  for (std::size_t i = 0; i < n; i += 5) values[i] = hard[i / 5 % 8];
  return values;
}

std::uint16_t short_at(const std::vector<std::byte>& bytes, std::size_t i) {
  std::uint16_t value;
  std::memcpy(&value, &bytes[2 * i], 2);
  return value;
}

}  // namespace

TEST_CASE("every instruction set makes the ternary codes and values of the shared arithmetic") {
  const auto values = hard_values(803);
  const RandomStream stream{.seed = 3};
  on_each_instruction_set([&] {
    for (const float scale : {0.5f, 1e-39f, 0.0f})
      for (const std::uint64_t first : {0u, 6u})
        for (const std::size_t n : {0u, 1u, 31u, 64u, 127u, 803u}) {
          const TernaryRule rule = ternary_rule(scale);
          std::vector<std::byte> codes((n + 3) / 4, std::byte{0xFF});
          const Draws draws{stream, first, {}};
          kernels::ternary_codes(values.data(), n, draws, 3, rule, codes.data());
          std::vector<float> stored(n), streamed(n), added(n, 0.25f);
          CHECK_FALSE(
              kernels::ternary_values(codes.data(), n, scale, Output::kStore, stored.data()));
          kernels::ternary_values(codes.data(), n, scale, Output::kStream, streamed.data());
          kernels::ternary_values(codes.data(), n, -scale, Output::kAdd, added.data());
          for (std::size_t e = 0; e < n; ++e) {
            const float draw = ternary_draw(philox_word(stream, first + 3 + e));
            const auto term = static_cast<float>(ternary_term(values[e], draw, rule));
            REQUIRE(stored[e] == term * scale);
            REQUIRE(streamed[e] == stored[e]);
            REQUIRE(added[e] == 0.25f + term * -scale);
          }
          if (n % 4 != 0) CHECK(std::to_integer<int>(codes.back()) >> (2 * (n % 4)) == 0);
        }
  });
}

TEST_CASE("ternary decoding tells of a code 3 wherever it is, and only among the n") {
  on_each_instruction_set([] {
    for (std::size_t at = 0; at < 200; ++at) {
      std::vector<std::byte> codes(50, std::byte{0x55});
      codes[at / 4] |= static_cast<std::byte>(3 << (2 * (at % 4)));
      std::vector<float> values(200);
      REQUIRE(kernels::ternary_values(codes.data(), 200, 1, Output::kStore, values.data()));
      REQUIRE_FALSE(kernels::ternary_values(codes.data(), at, 1, Output::kStore, values.data()));
    }
  });
}

TEST_CASE("every instruction set rounds to the same 16-bit floats and reads them back") {
  auto values = hard_values(801);
  values[400] = -INFINITY;
  values[401] = float_of(0x7F800001u);  // a signalling NaN with its lowest bit alone
  values[402] = float_of(0xFFC12345u);
  std::vector<std::byte> every_half(2 * 65536);
  for (std::uint32_t h = 0; h < 65536; ++h) std::memcpy(&every_half[2 * h], &h, 2);
  on_each_instruction_set([&] {
    for (const bool brain : {false, true})
      for (const bool streamed : {false, true}) {
        const auto format = brain ? HalfFormat::kBfloat16 : HalfFormat::kBinary16;
        std::vector<std::byte> halves(1602);
        kernels::to_half(values.data(), 801, format, 1.0f, streamed, halves.data());
        for (std::size_t e = 0; e < 801; ++e)
          REQUIRE(short_at(halves, e) ==
                  (brain ? bfloat_from_float(values[e]) : half_from_float(values[e])));
        std::vector<float> floats(65536);
        kernels::from_half(every_half.data(), 65536, format,
                           streamed ? Output::kStream : Output::kStore, 1.0f, floats.data());
        for (std::uint32_t h = 0; h < 65536; ++h) {
          const auto half = static_cast<std::uint16_t>(h);
          const float expected = brain ? float_from_bfloat(half) : float_from_half(half);
          REQUIRE(bits_of(floats[h]) == bits_of(expected));
        }
      }
  });
}

TEST_CASE("every instruction set scales 16-bit floats on both ways, the product rounded first") {
  const auto values = random_values(333);
  std::vector<std::byte> halves(666);
  on_each_instruction_set([&] {
    kernels::to_half(values.data(), 333, HalfFormat::kBinary16, 1.0f, false, halves.data());
    std::vector<std::byte> scaled(666);
    for (const float factor : {0.125f, 0.3f}) {
      kernels::to_half(values.data(), 333, HalfFormat::kBinary16, factor, false, scaled.data());
      for (std::size_t e = 0; e < 333; ++e)
        REQUIRE(short_at(scaled, e) == half_from_float(factor * values[e]));
    }
    std::vector<float> sums(333, 0.1f);
    kernels::from_half(halves.data(), 333, HalfFormat::kBinary16, Output::kAdd, 0.3f, sums.data());
    for (std::size_t e = 0; e < 333; ++e)
      REQUIRE(sums[e] == 0.1f + 0.3f * float_from_half(short_at(halves, e)));
  });
}

TEST_CASE("every instruction set finds the same maxima and copies") {
  const auto values = hard_values(5001);
  const std::uint32_t largest = bits_of(3e38f);
  on_each_instruction_set([&] {
    CHECK(kernels::max_magnitude_bits(values.data(), values.size()) == largest);
    for (const bool streamed : {false, true}) {
      std::vector<float> copy(5002, 7.0f);
      CHECK(kernels::copy_max_magnitude_bits(values.data(), 5001, streamed,
                                             std::as_writable_bytes(std::span(copy)).data()) ==
            largest);
      CHECK(std::memcmp(copy.data(), values.data(), 4 * 5001) == 0);
      CHECK(copy[5001] == 7.0f);
    }
  });
}

TEST_CASE("block moments are the ordered sums of their definition on every instruction set") {
  const auto values = random_values(4096);
  on_each_instruction_set([&] {
    for (const std::size_t n : {1u, 15u, 16u, 37u, 4095u, 4096u}) {
      const auto moments = kernels::block_moments(values.data(), n, 0.1);
      const auto d = [&](std::size_t e) { return double{values[e]} - 0.1; };
      CHECK(moments.sum == ordered_sum(n, d));
      CHECK(moments.sum_squares == ordered_sum(n, [&](std::size_t e) { return d(e) * d(e); }));
      std::uint32_t largest = 0;
      for (std::size_t e = 0; e < n; ++e) largest = std::max(largest, magnitude_bits(values[e]));
      CHECK(moments.max_magnitude == largest);
    }
  });
}

TEST_CASE("integers are scaled with one rounding each") {
  std::vector<std::uint32_t> integers(37);
  for (std::size_t i = 0; i < 37; ++i) integers[i] = static_cast<std::uint32_t>(i) - 18u;
  on_each_instruction_set([&] {
    std::vector<float> values(37);
    kernels::scale_integers(integers.data(), 37, 0.1f, values.data());
    for (std::size_t i = 0; i < 37; ++i)
      REQUIRE(values[i] == static_cast<float>(static_cast<int>(i) - 18) * 0.1f);
  });
}

TEST_CASE("every instruction set scales and adds in three roundings") {
  const auto start = hard_values(803), added = random_values(803, 2);
  on_each_instruction_set([&] {
    for (const std::size_t n : {0u, 1u, 31u, 64u, 803u}) {
      const float weight = n == 31 ? 1.0f : 0.3f;
      auto values = start;
      kernels::scale_and_add(0.9f, added.data(), weight, n, values.data());
      for (std::size_t e = 0; e < values.size(); ++e) {
        const float scaled = 0.9f * start[e], more = weight * added[e];
        const float expected = scaled + more;
        REQUIRE(values[e] == (e < n ? expected : start[e]));
      }
    }
  });
}
