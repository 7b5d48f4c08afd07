#include "compressors/instruction_sets.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "bench/codecs/codec_run.h"

using namespace gradwire;
using namespace gradwire::bench;

namespace {

/// What one case makes of a tensor: two payloads (the second after state and residual have moved
/// on), the values decoded from it, and those added to others.
struct Outcome {
  std::vector<std::byte> first, second;
  std::vector<float> decoded, sums;
};

Outcome outcome_of(const CodecCase& codec_case, std::size_t n, ThreadTeam* team) {
  Tensors tensors(n, 3);
  CodecRun run(codec_case, tensors, team);
  Outcome outcome;
  run.encode();
  outcome.first.assign(run.payload().begin(), run.payload().end());
  run.encode();
  outcome.second.assign(run.payload().begin(), run.payload().end());
  run.decode();
  outcome.decoded.assign(tensors.values().begin(), tensors.values().end());
  run.accumulate();
  outcome.sums.assign(tensors.values().begin(), tensors.values().end());
  return outcome;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(std::as_bytes(std::span(a)), std::as_bytes(std::span(b)));
}

void check_same(const Outcome& a, const Outcome& b) {
  CHECK(a.first == b.first);
  CHECK(a.second == b.second);
  CHECK(same_bits(a.decoded, b.decoded));
  CHECK(same_bits(a.sums, b.sums));
}

}  // namespace

TEST_CASE("every codec gives the same bits on every instruction set", "[unit]") {
  const std::vector<std::string> sets = compressors::instruction_sets();
  for (const CodecCase& codec_case : codec_cases({})) {
    if (codec_case.codec == "powersgd") continue;  // compared by tolerance, see its own tests
    for (const std::size_t n : {1, 37, 20011}) {
      CAPTURE(codec_case.label, n);
      const Outcome best = outcome_of(codec_case, n, nullptr);
      for (const std::string& set : sets) {
        CAPTURE(set);
        compressors::limit_instruction_sets(set);
        check_same(outcome_of(codec_case, n, nullptr), best);
      }
      compressors::limit_instruction_sets("best");
    }
  }
}

TEST_CASE("every codec gives the same bits on one thread and on three", "[unit]") {
  constexpr std::size_t n = 3 * (1 << 16) + 1029;
  ThreadTeam team(3);
  for (const CodecCase& codec_case : codec_cases({})) {
    if (codec_case.codec == "powersgd") continue;
    CAPTURE(codec_case.label);
    check_same(outcome_of(codec_case, n, &team), outcome_of(codec_case, n, nullptr));
  }
}

TEST_CASE("an instruction set can be chosen by name, and only one that is there", "[unit]") {
  const std::vector<std::string> sets = compressors::instruction_sets();
  REQUIRE(!sets.empty());
  CHECK(compressors::instruction_set() == sets.front());
  for (const std::string& set : sets) {
    compressors::limit_instruction_sets(set);
    CHECK(compressors::instruction_set() == set);
    CHECK(compressors::instruction_sets() == sets);
  }
  CHECK_THROWS_AS(compressors::limit_instruction_sets("mmx"), Error);
  CHECK(compressors::instruction_set() == sets.back());  // as it was
  compressors::limit_instruction_sets("best");
  CHECK(compressors::instruction_set() == sets.front());
}
