#include "bench/fidelity/spending.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "bench/fidelity/case_parts.h"
#include "bench/fidelity/fidelity.h"
#include "bench/fidelity/statistics.h"

using namespace gradwire;
using namespace gradwire::bench;

namespace {

/// Transfers of 100 kB over 100 Mbps and 1 ms, `loss` on the way: `flow` stands for the reference.
FidelityCase lossy_case(double loss, int repeats) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(1e8);
  link.loss = loss;
  FidelityCase result = pairs(link, 1e-3, Bytes(100'000), 4);
  result.experiment.repeats = repeats;
  return result;
}

}  // namespace

TEST_CASE("A sample knows its mean from ten groups on, or four that differ by far less") {
  // Two chains a run: means of 1 and 1.2, their standard error 0.1 / sqrt(n - 1) of 1.1.
  Sample two(2, Grouping::kPooled);
  for (int run = 0; run < 200; ++run) two.take({{{1}, {1.2}}, {}});
  CHECK(two.error() == Approx(0.1 / std::sqrt(399) / 1.1));
  CHECK(two.knows(0.0046));
  CHECK_FALSE(two.knows(0.0045));

  // By chain: groups of 1 and 1.02 in turn.
  Sample chains(1, Grouping::kByChain);
  for (int run = 0; run < 3; ++run) chains.take({{{run % 2 ? 1.02 : 1}}, {}});
  CHECK_FALSE(chains.knows(1));  // three groups
  chains.take({{{1.02}}, {}});
  // Four: 0.01 / sqrt(3) / 1.01 = 0.57 %.
  CHECK(chains.error() == Approx(0.00572).epsilon(1e-2));
  CHECK(chains.knows(0.012));
  CHECK_FALSE(chains.knows(0.011));  // known to it, but not to half of it
  // Pooled figures want 256 transfers.
  Sample few(1, Grouping::kPooled);
  for (int run = 0; run < 255; ++run) few.take({{{1}}, {}});
  CHECK_FALSE(few.knows(0.03));
  few.take({{{1}}, {}});
  CHECK(few.knows(0.03));
}

TEST_CASE("Runs count in the order of their seeds, and none after the mean is known") {
  const FidelityCase c = lossy_case(0.002, 32);
  RandomCase one(c, "flow", Grouping::kPooled), other(c, "flow", Grouping::kPooled);
  while (!one.known()) {
    const int number = one.begin();
    one.end(number, one.run(number), 1);
  }
  // By twos, the later one first.
  while (!other.known()) {
    const int first = other.begin(), second = other.begin();
    other.end(second, other.run(second), 1);
    CHECK(other.counted() <= first);
    other.end(first, other.run(first), 1);
  }
  CHECK(other.counted() == one.counted());
  CHECK(other.error() == one.error());
  CHECK(one.error() <= 0.03);
}

TEST_CASE("Time goes to all cases, first to the least sure; a limit ends them with two runs each") {
  std::vector<Comparison> results(4);
  const auto jobs = [&] {
    return std::vector<Job>{{Job::Kind::kPooled, "lossy", lossy_case(0.01, 32), 2, &results[0]},
                            {Job::Kind::kByChain, "mixed", lossy_case(0.001, 4), 1, &results[1]},
                            {Job::Kind::kPooled, "short", lossy_case(0.002, 32), 3, &results[2]},
                            {Job::Kind::kClean, "clean", lossy_case(0, 3), 4, &results[3]}};
  };
  std::vector<std::string> ended;
  const auto note = [&](const Job& job) { ended.push_back(job.regime); };
  const std::vector<Job> all = jobs();
  run_jobs(all, "flow", 1e6, note);
  CHECK(ended.size() == 4);
  for (const Comparison& c : results) CHECK(c.reference_error <= 0.03);
  CHECK(results[3].errors == std::vector<double>(3, 0));  // itself
  const auto before = results;

  // The same figures again, whoever was first.
  run_jobs(all, "flow", 1e6, note);
  for (std::size_t i = 0; i < 4; ++i) CHECK(results[i].transfers == before[i].transfers);
  CHECK(results[0].errors == before[0].errors);

  ended.clear();
  run_jobs(all, "flow", 0, note);
  CHECK(ended.size() == 4);
  CHECK(results[0].transfers >= 2 * 4 * 32);
  CHECK(results[1].transfers >= 2 * 4 * 4);
  CHECK(results[1].transfers < before[1].transfers);
}

TEST_CASE("A case that the reference cannot run is left out, with its reason; the others count") {
  std::vector<Comparison> results(3);
  FidelityCase clean = lossy_case(0, 3), random = lossy_case(0.01, 2);
  // 100 kB take 8 ms at least.
  clean.experiment.options.transfer_limit = Seconds(4e-3);
  random.experiment.options.transfer_limit = Seconds(4e-3);
  const std::vector<Job> jobs{{Job::Kind::kClean, "clean", clean, 1, &results[0]},
                              {Job::Kind::kPooled, "lossy", random, 2, &results[1]},
                              {Job::Kind::kClean, "whole", lossy_case(0, 3), 3, &results[2]}};
  int ended = 0;
  run_jobs(jobs, "flow", 1e6, [&](const Job&) { ++ended; });
  CHECK(ended == 3);
  for (const std::size_t i : {0u, 1u}) {
    CHECK(results[i].not_compared.find("a transfer failed") != std::string::npos);
    CHECK(results[i].name == jobs[i].c.experiment.name);
    CHECK(results[i].errors.empty());
  }
  CHECK(results[2].not_compared.empty());
  CHECK(results[2].errors == std::vector<double>(3, 0));
}

TEST_CASE("What a case throws ends the benchmark") {
  std::vector<Comparison> results(1);
  const std::vector<Job> jobs{{Job::Kind::kPooled, "lossy", lossy_case(0.01, 2), 1, &results[0]}};
  CHECK_THROWS(run_jobs(jobs, "no such executor", 10, [](const Job&) {}));
}

TEST_CASE("A control takes out what it explains, and nothing that it does not") {
  // y = 3 + 2 x: all is explained.
  const std::vector<double> x = {1, 4, 2, 8, 5, 7};
  std::vector<double> y;
  for (const double each : x) y.push_back(3 + 2 * each);
  CHECK(controlled(y, x).slope == Approx(2));
  CHECK(controlled(y, x).residual == Approx(0).margin(1e-12));
  // x - 2.5 = -1.5, -.5, .5, 1.5, 0, 0 and y - 10 = 1, 0, 0, 1, -1, -1: no covariance, and 4 the
  // sum of squares; a slope costs one degree of freedom more.
  const std::vector<double> flat = {11, 10, 10, 11, 9, 9};
  const Controlled none = controlled(flat, {1, 2, 3, 4, 2.5, 2.5});
  CHECK(none.slope == Approx(0).margin(1e-12));
  CHECK(none.residual == Approx(std::sqrt(4.0 / 4 / 6)));
  // Without controls, or with too few: y's own error, sqrt(4 / 5 / 6).
  CHECK(controlled(flat, {}).residual == Approx(std::sqrt(4.0 / 5 / 6)));
  CHECK(controlled({1, 2}, {1, 2}).slope == 0);
}

TEST_CASE("Differences tell of times that no control has shown") {
  // All of the sample took 1, its controls .9 to 1.1 beside it by .001; the controls' mean is known
  // to be 5, for one in ten takes 41: so does one in ten of the reference.
  Sample reference(1, Grouping::kPooled), controls(1, Grouping::kPooled);
  for (int run = 0; run < 12; ++run) {
    const double control = 0.9 + 0.1 * (run % 3);
    reference.take({{{control + (run % 2 ? 0.001 : -0.001)}}, {{control}}});
  }
  for (int run = 0; run < 1000; ++run) controls.take({{{run % 10 ? 1.0 : 41.0}}, {}});
  const auto means = reference.means_given(controls);
  CHECK(means[0].value == Approx(5).epsilon(0.001));
  CHECK(means[0].error < 0.001);
}

TEST_CASE("A mean far from what the controls have seen is less sure") {
  // x = 1, 2, 3, 1, 2, 3: spread sqrt(4 / 6). Three of them away the error is sqrt(1 + 9) times
  // that at the mean of x.
  const Controlled by = controlled({3, 3, 5, 1, 3, 9}, {1, 2, 3, 1, 2, 3});
  CHECK(by.spread == Approx(std::sqrt(4.0 / 6)));
  CHECK(by.residual_at(0) == Approx(by.residual));
  CHECK(by.residual_at(-3 * by.spread) == Approx(std::sqrt(10) * by.residual));
}

TEST_CASE("A mean by its control is that of the reference, though flow's is another") {
  // The reference takes twice what the control does; three chains saw few losses (1, 2, 3), the
  // control's mean is known to be 5: the reference's is 10, not 2 * 2, nor 5.
  Sample reference(1, Grouping::kPooled), controls(1, Grouping::kPooled);
  for (int run = 0; run < 6; ++run) {
    const double control = 1 + run % 3;
    reference.take({{{2 * control}}, {{control}}});
  }
  for (int run = 0; run < 100; ++run) controls.take({{{run % 2 ? 4.0 : 6.0}}, {}});
  const auto means = reference.means_given(controls);
  REQUIRE(means.size() == 1);
  CHECK(means[0].value == Approx(10));
  // Nothing is left but what is not known of the control's mean, 1 / sqrt(99) of 5, and is in the
  // reference's twice: once more than in what that is held against.
  CHECK(means[0].error == Approx(1 / std::sqrt(99) / 10));
  CHECK(reference.error() == Approx(0).margin(1e-9));
}

TEST_CASE("Where the reference varies more than its control, the control is to be known better") {
  // y = 4 x - 6 for x = 1, 2, 3: both have the mean 2, and 1 % of x's mean is 4 % of y's.
  Sample steep(1, Grouping::kPooled), alone(1, Grouping::kPooled);
  for (int run = 0; run < 6; ++run) {
    const double control = 1 + run % 3;
    steep.take({{{4 * control - 6}}, {{control}}});
    alone.take({{{control}}, {}});
  }
  CHECK(steep.leverage() == Approx(4));
  CHECK(alone.leverage() == 1);
}

TEST_CASE("Regimes are asked for by name or by --bbr: both is refused, not one of them ignored") {
  FidelityOptions both;
  both.bbr = true;
  both.regimes = {"lossy"};
  CHECK_THROWS_AS(bench_fidelity(both, [](const std::string&) {}), Error);
}

TEST_CASE("Single cases are run by their numbers, and are those of the whole regime") {
  std::vector<std::string> said;
  const auto run = [&](std::vector<int> numbers) {
    FidelityOptions options;
    options.cases = 3;
    options.reference = "flow";
    options.numbers = std::move(numbers);
    options.regimes = {"extremes"};
    said.clear();
    return bench_fidelity(options, [&](const std::string& line) { said.push_back(line); });
  };
  const auto lines_of = [&](const std::string& prefix) {
    return std::ranges::count_if(said,
                                 [&](const std::string& line) { return line.starts_with(prefix); });
  };
  CHECK(run({1, 3}).front().value == 2);
  CHECK(lines_of("extremes 1  less than a segment") == 1);
  CHECK(lines_of("extremes 2") == 0);
  CHECK(lines_of("extremes 3  slow") == 1);
  CHECK(run({}).front().value == 3);
  CHECK(lines_of("extremes 2  large") == 1);
  CHECK(run({4}).front().value == 0);  // there are three
}
