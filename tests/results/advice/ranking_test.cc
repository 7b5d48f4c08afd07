#include "results/advice/ranking.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/advice/candidates.h"

using namespace gradwire::results;

namespace {

/// Efficiency 1 but for acknowledgements: 1.0293 s a GB and link that is used both ways.
StepFit plain_fit() {
  StepFit fit;
  fit.constants = usual_constants();
  fit.constants[0] = 1;
  return fit;
}
constexpr double kBothWays = 1 + kAcknowledgements;

}  // namespace

TEST_CASE("The least lossy way within 3 % of the fastest wins") {
  CHECK(verdict_of(1.0, 0.6, 0.5) == Verdict::kCompress);
  CHECK(verdict_of(1.0, 0.51, 0.5) == Verdict::kHalves);
  CHECK(verdict_of(1.0, 0.516, 0.5) == Verdict::kCompress);  // 3.2 % off
  CHECK(verdict_of(1.02, 1.0, 0.999) == Verdict::kDoNotCompress);
  CHECK(verdict_of(1.0, 1.2, 1.1) == Verdict::kDoNotCompress);
  CHECK(verdict_of({}, 0.6, 0.5) == Verdict::kCompress);
  CHECK(verdict_of({}, {}, 0.5) == Verdict::kCompress);
  CHECK(verdict_of(0.5, {}, {}) == Verdict::kDoNotCompress);
}

TEST_CASE("A slow network: compress, by how much") {
  // 8 workers, 2 x 7/8 of 400, 200 and 40 MB at 1 GB/s: 700, 350 and 70 ms times 1.0293, after 100
  // ms of compute (and 5 of encoding).
  const std::vector<Candidate> candidates = {candidate("none", 8, 400), candidate("fp16", 8, 200),
                                             candidate("small", 8, 40, 0.005)};
  const Advice advice = advise(candidates, plain_fit());
  CHECK(advice.verdict == Verdict::kCompress);
  CHECK(advice.ranked[advice.chosen].candidate.method == "small");
  CHECK(advice.ranked.front().seconds() == Approx(0.105 + 0.07 * kBothWays));
  CHECK(*advice.over_fp32 ==
        Approx((0.1 + 0.7 * kBothWays) / (0.105 + 0.07 * kBothWays)).epsilon(1e-6));
  CHECK(*advice.over_fp16 ==
        Approx((0.1 + 0.35 * kBothWays) / (0.105 + 0.07 * kBothWays)).epsilon(1e-6));
  CHECK(verdict_sentence(advice).find("Compress: small by ring") == 0);
}

TEST_CASE("The same models where encoding takes longer than it saves: do not compress") {
  // 10 MB instead of 400: 17.5 ms of exchange, which 40 ms of encoding do not win back.
  const std::vector<Candidate> candidates = {
      candidate("none", 8, 10), candidate("fp16", 8, 5, 0.02), candidate("small", 8, 1, 0.04)};
  const Advice advice = advise(candidates, plain_fit());
  CHECK(advice.verdict == Verdict::kDoNotCompress);
  CHECK(advice.ranked[advice.chosen].candidate.method == "none");
  CHECK(*advice.over_fp32 == 1);
  CHECK(verdict_sentence(advice).find("Do not compress: none") == 0);
  CHECK(verdict_sentence(advice).find("more") != std::string::npos);
}

TEST_CASE("Halves are enough where what is left is hidden") {
  std::vector<Candidate> candidates = {candidate("none", 8, 400), candidate("fp16", 8, 200),
                                       candidate("small", 8, 198, 0.001)};
  const Advice advice = advise(candidates, plain_fit());
  CHECK(advice.verdict == Verdict::kHalves);
  CHECK(*advice.over_fp16 == 1);
  CHECK(*advice.over_fp32 > 1.5);
}

TEST_CASE("Gathered messages lose against a ring where they are not small enough: from times") {
  // 32 workers, 320 MB: a ring carries 2 x 31/32 x 320 MB, a gather 31 x message. They are even at
  // a message of 20 MB, 1 / 16 of 320. Nothing says so but the times.
  for (const double megabytes : {18.0, 19.0, 21.0, 22.0}) {
    const std::vector<Candidate> candidates = {candidate("none", 32, 320),
                                               gathered("sparse", 32, megabytes)};
    const Advice advice = advise(candidates, plain_fit());
    CHECK((advice.ranked.front().candidate.method == "sparse") == (megabytes < 20));
  }
}

TEST_CASE("Nothing to choose from is an error") {
  CHECK_THROWS_WITH(advise({}, plain_fit()), Catch::Contains("no candidate"));
}
