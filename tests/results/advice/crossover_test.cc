#include "results/advice/crossover.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/results/advice/candidates.h"

using namespace gradwire::results;

namespace {

StepConstants plain() {
  auto constants = usual_constants();
  constants[0] = 1;
  return constants;
}

}  // namespace

TEST_CASE("A codec stops to pay where encoding takes as long as it saves") {
  // 8 workers: 2 x 7/8 x (100 - 20) MB x 1.0293 / B = 10 ms at B = 14.41 GB/s; against fp16, whose
  // 50 MB are coded at once, 2 x 7/8 x 30 MB x 1.0293 / B = 10 ms at 5.40 GB/s.
  const double both_ways = 1 + kAcknowledgements;
  std::vector<Candidate> candidates = {candidate("none", 8, 100), candidate("small", 8, 20, 0.01)};
  auto found = crossovers(candidates, plain());
  REQUIRE(found.size() == 1);
  CHECK(found[0].method == "small");
  CHECK(found[0].workers == 8);
  CHECK(found[0].rate.value() == Approx(1.75 * 80e6 * both_ways / 0.01).epsilon(1e-6));
  candidates.push_back(candidate("fp16", 8, 50));
  found = crossovers(candidates, plain());
  CHECK(found[0].rate.value() == Approx(1.75 * 30e6 * both_ways / 0.01).epsilon(1e-6));
}

TEST_CASE("A gain within the margin does not pay") {
  // Nothing against 100 MB: 3 % of the 0.1 s of compute is 1.75 x 100 MB x 1.0293 / B at 60 GB/s.
  std::vector<Candidate> candidates = {candidate("none", 8, 100), candidate("small", 8, 0)};
  const auto found = crossovers(candidates, plain(), {.margin = kTie});
  REQUIRE(found[0].rate);
  CHECK(*found[0].rate == Approx(1.75 * 100e6 * (1 + kAcknowledgements) / 0.003).epsilon(1e-6));
  CHECK(crossovers(candidates, plain())[0].wins_always);
}

TEST_CASE("What is always better, and what never is") {
  const std::vector<Candidate> candidates = {candidate("none", 4, 100), candidate("free", 4, 20),
                                             candidate("larger", 4, 120, 0.01)};
  const auto found = crossovers(candidates, plain());
  REQUIRE(found.size() == 2);
  CHECK(found[0].wins_always);
  CHECK_FALSE(found[0].rate);
  CHECK_FALSE(found[1].wins_always);
  CHECK_FALSE(found[1].rate);
}

TEST_CASE("More bytes over fewer hops pay above a rate, not below it") {
  // 64 workers: a ring of 100 MB sends 126/64 x 100 = 197 MB in 126 hops, gathering 10 MB 630 MB in
  // 63 hops: 433 MB x 1.0293 / B are the delay of 63 hops at 63 d = 445.7 MB / B.
  const double more = (630e6 - 126 / 64.0 * 100e6) * (1 + kAcknowledgements);
  std::vector<Candidate> candidates = {candidate("none", 64, 100), gathered("sparse", 64, 10)};
  for (Candidate& one : candidates) one.step.delay_s = 0.001;
  auto found = crossovers(candidates, plain());
  REQUIRE(found.size() == 1);
  REQUIRE(found[0].pays.size() == 1);
  CHECK(found[0].pays[0].from == Approx(more / 0.063).epsilon(0.01));
  CHECK(std::isinf(found[0].pays[0].to));
  CHECK_FALSE(found[0].rate);  // on the slowest links it does not pay
  CHECK_FALSE(found[0].wins_always);
  CHECK(pays_words(found[0]).starts_with("> "));
  Crossover several;
  CHECK(pays_words(several) == "never");
  several.pays = {{0, 125e6}, {1.25e9, 12.5e9}};
  CHECK(pays_words(several) == "< 1.00 Gbps and 10.0 Gbps to 100 Gbps");
}

TEST_CASE("Of a gathered codec the rate falls as workers are added, and then it never wins") {
  // Ratio 1/8 gathered: bytes are even with a ring's at 16 workers.
  std::vector<Candidate> candidates;
  for (const int n : {4, 8, 12, 32}) {
    candidates.push_back(candidate("none", n, 800));
    candidates.push_back(gathered("sparse", n, 100, 0.01));
  }
  const auto found = crossovers(candidates, plain());
  REQUIRE(found.size() == 4);
  CHECK(found[0].rate.value() > found[1].rate.value());
  CHECK(found[1].rate.value() > found[2].rate.value());
  CHECK_FALSE(found[3].rate);
  CHECK_FALSE(found[3].wins_always);
}

TEST_CASE("A method's best collective counts, and the winner by rate") {
  std::vector<Candidate> candidates = {candidate("none", 16, 100), candidate("small", 16, 90, 0.01),
                                       candidate("small", 16, 10, 0.02)};
  candidates[2].collective = "tree";
  const auto found = crossovers(candidates, plain());
  REQUIRE(found.size() == 1);
  CHECK(found[0].collective ==
        "tree");  // 90 MB saved in 20 ms pay up to a higher rate than 10 in 10
  const std::vector<double> rates = {1e8, 1e12};
  CHECK(winners_by_rate(candidates, 16, rates, plain()) ==
        std::vector<std::string>{"small", "none"});
  // A server's link goes with the workers'.
  Candidate served = candidate("none", 4, 100);
  served.step.exchange = ExchangeKind::kParameterServer;
  served.step.server_bandwidth = 2e9;
  const double slow = seconds_at_rate(served, 1e9, plain()) - 0.1;
  CHECK(seconds_at_rate(served, 2e9, plain()) - 0.1 == Approx(slow / 2));
}

TEST_CASE("Without a baseline there is nothing to cross") {
  CHECK_THROWS_WITH(crossovers(std::vector<Candidate>{candidate("small", 8, 20)}, plain()),
                    Catch::Contains("no candidate is uncompressed or fp16"));
}
