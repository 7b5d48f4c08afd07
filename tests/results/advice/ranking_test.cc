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
  CHECK(advice.verdict() == Verdict::kCompress);
  CHECK(advice.chosen()->candidate.method == "small");
  CHECK(advice.ranked.front().seconds() == Approx(0.105 + 0.07 * kBothWays));
  CHECK(*advice.over_fp32 ==
        Approx((0.1 + 0.7 * kBothWays) / (0.105 + 0.07 * kBothWays)).epsilon(1e-6));
  CHECK(*advice.over_fp16 ==
        Approx((0.1 + 0.35 * kBothWays) / (0.105 + 0.07 * kBothWays)).epsilon(1e-6));
  CHECK(verdict_sentence(advice).find("Compress with small by ring") == 0);
}

TEST_CASE("The same models where encoding takes longer than it saves: do not compress") {
  // 10 MB instead of 400: 17.5 ms of exchange, which 40 ms of encoding do not win back.
  const std::vector<Candidate> candidates = {
      candidate("none", 8, 10), candidate("fp16", 8, 5, 0.02), candidate("small", 8, 1, 0.04)};
  const Advice advice = advise(candidates, plain_fit());
  CHECK(advice.verdict() == Verdict::kDoNotCompress);
  CHECK(advice.chosen()->candidate.method == "none");
  CHECK(*advice.over_fp32 == 1);
  CHECK(verdict_sentence(advice).find("Do not compress: no method") == 0);
  CHECK(verdict_sentence(advice).find("more") != std::string::npos);
}

TEST_CASE("Halves are enough where what is left is hidden") {
  std::vector<Candidate> candidates = {candidate("none", 8, 400), candidate("fp16", 8, 200),
                                       candidate("small", 8, 198, 0.001)};
  const Advice advice = advise(candidates, plain_fit());
  CHECK(advice.verdict() == Verdict::kHalves);
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

TEST_CASE("The verdict at 1, 10 and 100 times an assumed codec cost") {
  // After 100 ms of compute 8 workers send 400 MB in 720 ms, 200 MB in 360 and 4 MB in 7.2; that
  // codec takes 2 ms. At 10 times that 20 ms: still the fastest. At 100 times 200 ms: 307 against
  // 460 for fp16, whose own 1 ms is measured. At 400 ms it would have lost.
  std::vector<Candidate> candidates = {candidate("none", 8, 400), candidate("fp16", 8, 200, 0.001),
                                       candidate("small", 8, 4, 0.002)};
  CHECK(advice_by_codec_cost(candidates, plain_fit()).empty());
  CHECK(codec_cost_sentence({}).empty());
  candidates[2].step.assumed.coding = {1, 100};
  const auto seconds_of_small = [&](std::size_t i) {
    const auto by_cost = advice_by_codec_cost(candidates, plain_fit());
    REQUIRE(by_cost.size() == 3);
    for (const RankedCandidate& one : by_cost[i].advice.ranked)
      if (one.candidate.method == "small") return one.seconds();
    return 0.0;
  };
  const double exchange = 2 * 7.0 / 8 * 0.004 * kBothWays;
  CHECK(seconds_of_small(0) == Approx(0.1 + 0.002 + exchange));
  CHECK(seconds_of_small(1) == Approx(0.1 + 0.02 + exchange));
  CHECK(seconds_of_small(2) == Approx(0.1 + 0.2 + exchange));
  const auto stays = advice_by_codec_cost(candidates, plain_fit());
  CHECK(stays[2].advice.chosen()->candidate.method == "small");
  CHECK(codec_cost_sentence(stays).find("The winner does not change") != std::string::npos);
  candidates[2].step = with_coding(candidates[2].step, 2);
  candidates[2].step.assumed.coding = {1, 100};
  const auto changes = advice_by_codec_cost(candidates, plain_fit());
  CHECK(changes[1].advice.chosen()->candidate.method == "small");
  CHECK(changes[2].advice.chosen()->candidate.method == "fp16");
  CHECK(changes[2].advice.over_fp16 == 1);  // its time was measured: it stays
  CHECK(codec_cost_sentence(changes).find("100 times as long: fp16") != std::string::npos);
  CHECK(codec_cost_sentence(changes).find("The winner changes") != std::string::npos);
}

TEST_CASE("What loses too much accuracy is not advised, however fast") {
  const std::vector<Candidate> candidates = {candidate("none", 8, 400), candidate("fp16", 8, 200),
                                             candidate("small", 8, 4), candidate("less", 8, 20)};
  AccuracyKnowledge knowledge;
  const auto seeds = [](double mean) {
    return statistic(std::vector{mean - 0.001, mean, mean + 0.001});
  };
  // 95 % without compression; 93.5 and 94.8 % with it: 1.5 and 0.2 points less.
  knowledge.trained = {{"small", "mlp", "digits", 4, seeds(0.935), seeds(0.95)},
                       {"less", "mlp", "digits", 4, seeds(0.948), seeds(0.95)}};
  const Advice advice = advise(candidates, plain_fit(), {&knowledge, "mlp"});
  CHECK(advice.chosen()->candidate.method == "less");
  CHECK(advice.ranked.front().candidate.method == "small");
  const std::string words = verdict_sentence(advice);
  CHECK(words.find("Compress with less") == 0);
  CHECK(words.find("Accuracy kept: \u22120.2 points") != std::string::npos);
  CHECK(words.find("Not recommended, beyond the tolerance of 1 point: small") != std::string::npos);
  CHECK(words.find("\u22121.5 points") != std::string::npos);
  knowledge.tolerance = 0.02;  // two points are accepted
  const Advice lenient = advise(candidates, plain_fit(), {&knowledge, "mlp"});
  CHECK(lenient.chosen()->candidate.method == "small");
  CHECK(verdict_sentence(lenient).find("Not recommended") == std::string::npos);
  // Nobody trained it: it may be taken, and the words say what is not known.
  const Advice unknown = advise(candidates, plain_fit());
  CHECK(unknown.chosen()->candidate.method == "small");
  const AccuracyKnowledge none;
  const std::string plain = verdict_sentence(advise(candidates, plain_fit(), {&none, "resnet50"}));
  CHECK(plain.find("Accuracy unknown here; nothing published") != std::string::npos);
  CHECK(plain.find("To find out: gradwire run quickstart") != std::string::npos);
}

TEST_CASE("Nothing to choose from is an error") {
  CHECK_THROWS_WITH(advise({}, plain_fit()), Catch::Contains("no candidate"));
}
