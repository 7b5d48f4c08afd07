#include "compressors/kernels/philox.h"

#include <catch2/catch.hpp>

#include "each_instruction_set.h"

using namespace gradwire;
using namespace gradwire::compressors;
using namespace gradwire::compressors::testing;

TEST_CASE("every instruction set draws the words of base/philox.h, in element order") {
  const RandomStream stream{.seed = 0x123456789ABCDEFull, .step = 5, .worker = 6, .tensor = 7};
  on_each_instruction_set([&] {
    for (const std::uint64_t first : {0ull, 1ull, 2ull, 3ull, 4ull, 1023ull, (1ull << 34) - 1000})
      for (const std::size_t n : {0u, 1u, 4u, 63u, 64u, 65u, 191u, 192u, 257u, 900u}) {
        std::vector<std::uint32_t> words(n);
        kernels::draw_words({stream, first, {}}, 7, n, words.data());
        for (std::size_t e = 0; e < n; ++e) REQUIRE(words[e] == philox_word(stream, first + 7 + e));
      }
  });
}

TEST_CASE("injected draws become the words that give them") {
  // u 2^24 rounded down, in the top 24 bits: 0.5 is 2^31, the largest u below 1 is 0xFFFFFF00.
  const std::vector<float> u = {0.0f, 0.5f, 0.25f, 0x1p-24f, 0x1p-25f, 1 - 0x1p-24f, 0.1f};
  on_each_instruction_set([&] {
    std::vector<std::uint32_t> words(6);
    kernels::draw_words({{}, 12345, u}, 1, 6, words.data());
    CHECK(words == std::vector<std::uint32_t>{0x80000000u, 0x40000000u, 0x100u, 0u, 0xFFFFFF00u,
                                              0x19999900u});
  });
}
