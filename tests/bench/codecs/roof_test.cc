#include "bench/codecs/roof.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "bench/codecs/codec_cases.h"
#include "bench/codecs/roof_loops.h"
#include "compressors/instruction_sets.h"

using namespace gradwire;
using namespace gradwire::bench;

namespace {

std::vector<float> ramp(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// Each loop on n elements that begin `offset` elements into an array, with guards around them.
void check_loops(std::size_t n, std::size_t offset, bool past_caches) {
  const std::vector<float> from = ramp(n + offset);
  std::vector<float> to(n + offset + 1, -7.0f);
  loops::copy(from.data() + offset, to.data() + offset, n, past_caches);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(to[offset + i] == from[offset + i]);
  loops::add(from.data() + offset, to.data() + offset, n);
  loops::update(to.data() + offset, n, 0.5f);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(to[offset + i] == from[offset + i]);
  // n terms from offset + 1 on; sums of integers below 2^24 are exact in any order.
  const std::size_t sum = n * (2 * offset + n + 1) / 2;
  REQUIRE(loops::read(to.data() + offset, n) == static_cast<float>(sum));
  loops::fill(to.data() + offset, n, 3.0f, past_caches);
  for (std::size_t i = 0; i < n; ++i) REQUIRE(to[offset + i] == 3.0f);
  for (std::size_t i = 0; i < offset; ++i) REQUIRE(to[i] == -7.0f);
  REQUIRE(to.back() == -7.0f);
}

}  // namespace

TEST_CASE("the roof's loops move every element, aligned or not, on every instruction set",
          "[unit]") {
  for (const std::string& set : compressors::instruction_sets()) {
    CAPTURE(set);
    compressors::limit_instruction_sets(set);
    for (const std::size_t n : {0, 1, 15, 16, 17, 63, 64, 200, 1000})
      for (const std::size_t offset : {0, 1, 13, 16})
        for (const bool past_caches : {false, true}) check_loops(n, offset, past_caches);
  }
  compressors::limit_instruction_sets("best");
}

TEST_CASE("the roof's time adds up the loops' times by the kind of traffic", "[unit]") {
  constexpr std::size_t n = 1 << 16;
  const std::vector<float> source(n, 1.0f);
  std::vector<float> target(n);
  Rounds rounds;
  const Roof roof(source, target, nullptr, rounds);
  rounds.run(5, 0);
  // The loops stand in the order read, copy, fill, update, add.
  const double read = rounds.seconds(0), copy = rounds.seconds(1), fill = rounds.seconds(2),
               update = rounds.seconds(3), add = rounds.seconds(4);
  CHECK(roof.seconds({.reads = 4}, n) == Approx(read));
  CHECK(roof.seconds({.writes = 4}, n) == Approx(fill));
  CHECK(roof.seconds({.updates = 8}, n) == Approx(update));
  CHECK(roof.seconds({.adds = 12}, n) == Approx(add));
  CHECK(roof.seconds({.reads = 4, .writes = 4}, n) == Approx(copy));
  // 4.25 bytes of a 2-bit encoder: 0.25 + 0.25 balanced = 1/16 of a copy, 3.75 of 4 read.
  CHECK(roof.seconds({.reads = 4, .writes = 0.25}, n) == Approx(copy / 16 + read * 3.75 / 4));
  CHECK(roof.seconds({.reads = 4, .writes = 4}, 2 * n) == Approx(2 * copy));
  CHECK(roof.speeds().copy == Approx(8e-9 * n / copy));
}

TEST_CASE("what each operation must move, by hand", "[unit]") {
  const CodecCase one_pass{.label = "a"}, two_passes{.label = "b", .passes = 2};
  const CodecCase feedback{.label = "c", .feedback = true};
  const CodecCase feedback2{.label = "d", .feedback = true, .passes = 2};
  const CodecCase sparse{.label = "e", .sparse = true};
  const auto total = [](const CodecCase& c, CodecOperation operation, double payload,
                        double density) {
    return traffic_of(c, operation, payload, density).total();
  };
  CHECK(total(one_pass, CodecOperation::kEncode, 0.25, 1) == Approx(4.25));
  CHECK(total(two_passes, CodecOperation::kEncode, 0.25, 1) == Approx(8.25));
  CHECK(total(feedback, CodecOperation::kEncode, 0.08, 1) == Approx(12.08));
  CHECK(total(feedback2, CodecOperation::kEncode, 0.25, 1) == Approx(20.25));
  CHECK(total(one_pass, CodecOperation::kDecode, 0.25, 1) == Approx(4.25));
  CHECK(total(one_pass, CodecOperation::kAccumulate, 0.25, 1) == Approx(8.25));
  // One entry in a hundred: 1 - 0.99^16 = 0.1485 of the lines, 8 bytes for each of their floats.
  CHECK(total(sparse, CodecOperation::kAccumulate, 0.08, 0.01) ==
        Approx(0.08 + 8 * 0.1485).epsilon(1e-3));
}
