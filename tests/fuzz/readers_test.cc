#include "tests/fuzz/readers.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <string_view>

#include "base/philox.h"

using namespace gradwire;
using gradwire::testing::Reader;

/// A quick version of the fuzzing of readers: mutated inputs are taken, or refused with an Error.
namespace {

using Input = std::vector<std::byte>;

/// What numbers and texts of a hostile file look like.
constexpr std::array<std::string_view, 14> kPieces = {
    "-1",          "0",      "1e308", "-1e308",  "99999999999999999999",
    "NaN",         "null",   "{}",    "[]",      "\"\"",
    "\"\\u0000\"", "1e-320", "../..", "\xC3\x28"};

class Mutator {
 public:
  explicit Mutator(std::uint64_t seed) : stream_{.seed = seed} {}

  Input mutate(Input bytes) {
    for (std::uint32_t edits = 1 + below(3); edits > 0; --edits) edit(bytes);
    return bytes;
  }

 private:
  std::uint32_t below(std::size_t limit) {
    return philox_word(stream_, next_++) %
           static_cast<std::uint32_t>(std::max<std::size_t>(limit, 1));
  }
  void edit(Input& bytes) {
    const std::size_t at = below(bytes.size() + 1),
                      end = at + below(std::min<std::size_t>(bytes.size() - at, 24) + 1);
    const auto from = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    const auto to = bytes.begin() + static_cast<std::ptrdiff_t>(end);
    switch (below(6)) {
      case 0:
        bytes.erase(from, to);
        break;
      case 1: {
        const Input again(from, to);
        bytes.insert(to, again.begin(), again.end());
      } break;
      case 2:
        bytes.resize(at);
        break;
      case 3:
        if (at < bytes.size()) bytes[at] ^= static_cast<std::byte>(1u << below(8));
        break;
      default:
        put_piece(bytes, at);
    }
  }
  /// In the place of a number or word, where there is one behind `at`.
  void put_piece(Input& bytes, std::size_t at) {
    const auto is_word = [](std::byte b) {
      const char c = static_cast<char>(b);
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '.' || c == '-';
    };
    const auto from =
        std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(at), bytes.end(), is_word);
    const auto to = std::find_if_not(from, bytes.end(), is_word);
    const std::string_view piece = kPieces[below(kPieces.size())];
    const auto put = bytes.insert(bytes.erase(from, to), piece.size(), std::byte{});
    std::transform(piece.begin(), piece.end(), put,
                   [](char c) { return static_cast<std::byte>(c); });
  }

  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace

TEST_CASE("readers take what they are made for") {
  for (const Reader& reader : gradwire::testing::readers())
    for (const Input& seed : reader.seeds()) {
      INFO(reader.name);
      CHECK(reader.read(seed));
    }
}

TEST_CASE("readers are safe on any bytes") {
  constexpr int kInputs = 1000;
  for (const Reader& reader : gradwire::testing::readers()) {
    INFO(reader.name);
    const std::vector<Input> seeds = reader.seeds();
    Mutator mutator(3);
    int taken = 0;
    for (int i = 0; i < kInputs; ++i)
      taken +=
          reader.read(mutator.mutate(seeds[static_cast<std::size_t>(i) % seeds.size()])) ? 1 : 0;
    // Neither way goes untried.
    CHECK(taken > 0);
    CHECK(taken < kInputs);
  }
}

TEST_CASE("a reader that lets another exception out is a finding") {
  const Reader broken{"broken", nullptr,
                      [](std::span<const std::byte>) -> bool { throw std::out_of_range("at"); }};
  CHECK_THROWS_AS(broken.read({}), std::out_of_range);
}
