#include "base/philox.h"

#include <catch2/catch.hpp>

using namespace gradwire;

TEST_CASE("Philox 4x32-10 gives the published known answers", "[unit]") {
  // Known-answer vectors of the Random123 distribution (kat_vectors, philox 4x32 10).
  const PhiloxBlock zero = philox4x32_10(PhiloxBlock{{0, 0, 0, 0}}, 0, 0);
  CHECK(zero.word[0] == 0x6627e8d5u);
  CHECK(zero.word[1] == 0xe169c58du);
  CHECK(zero.word[2] == 0xbc57ac4cu);
  CHECK(zero.word[3] == 0x9b00dbd8u);
  const std::uint32_t ones = 0xffffffffu;
  const PhiloxBlock full = philox4x32_10(PhiloxBlock{{ones, ones, ones, ones}}, ones, ones);
  CHECK(full.word[0] == 0x408f276du);
  CHECK(full.word[1] == 0x41c83b0eu);
  CHECK(full.word[2] == 0xa20bc7c6u);
  CHECK(full.word[3] == 0x6d5451fdu);
}

TEST_CASE("an element's draw is word e mod 4 of block e / 4", "[unit]") {
  const RandomStream stream{7, 3, 2, 1};
  for (std::uint64_t e = 0; e < 12; ++e)
    CHECK(philox_word(stream, e) ==
          philox_block(stream, static_cast<std::uint32_t>(e / 4)).word[e % 4]);
}

TEST_CASE("u stays in [0, 1) and takes the top 24 bits", "[unit]") {
  CHECK(uniform_from_word(0) == 0.0f);
  CHECK(uniform_from_word(0xffffffffu) == 1.0f - 1.0f / 16777216.0f);
  CHECK(uniform_from_word(0x80000000u) == 0.5f);
  CHECK(uniform_from_word(0xffu) == 0.0f);
}
