#include "results/prediction/solve.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "results/prediction/stored_summary.h"
#include "tests/results/prediction/step_cases.h"

using namespace gradwire;
using namespace gradwire::results;

TEST_CASE("The bandwidth for a step time, by hand") {
  // .1 + 14 (1e-4 + 12.5e6 / B) <= .2 -> 175e6 / B = .0986 -> B = 1.7748e9 B/s.
  const Solution solution = solve_step(plain_fit(), training_step(), SolveFor::kBandwidth,
                                       parse_target("step_time<=200ms"), 32);
  REQUIRE(solution.value);
  CHECK(*solution.value == Approx(175e6 / 0.0986).epsilon(1e-6));
  CHECK(solution.low < *solution.value);
  CHECK(solution.high > *solution.value);
}

TEST_CASE("Each answer meets its target, and a little more of the quantity does not") {
  const StepFit fit = plain_fit();
  const Target target = parse_target("efficiency>=0.8");
  for (const SolveFor quantity : {SolveFor::kRatio, SolveFor::kLatency, SolveFor::kBandwidth}) {
    StepSummary step = training_step();
    if (quantity == SolveFor::kLatency) step.bandwidth = 1e12;
    const Solution solution = solve_step(fit, step, quantity, target, 32);
    REQUIRE(solution.value);
    const auto at = [&](double value) {
      StepSummary changed = step;
      if (quantity == SolveFor::kRatio) changed.buckets[0].message_bytes *= value;
      if (quantity == SolveFor::kLatency) changed.delay_s = value;
      if (quantity == SolveFor::kBandwidth) changed.bandwidth = value;
      return efficiency(fit, changed);
    };
    CHECK(at(*solution.value) == Approx(0.8).epsilon(1e-6));
  }
}

TEST_CASE("A throughput asks for the fewest workers, whatever their efficiency") {
  // Of n workers 0.1 s of compute and 2 (n - 1) / n x 0.8 s round the ring: 1.7 s of many, 18.8
  // samples/s each. 8 make 8 x 32 / 1.5 = 170 samples/s; one alone 320 / s: it sends nothing.
  const StepFit fit = plain_fit();
  const StepSummary step = training_step();
  const auto fewest = [&](const char* target) {
    return solve_step(fit, step, SolveFor::kWorkers, parse_target(target), 32).value;
  };
  CHECK(fewest("throughput>=300") == 1);
  const auto throughput = [&](int workers) {
    StepSummary changed = step;
    changed.workers = workers;
    return workers * 32 / step_time(changed, fit.constants).total_s;
  };
  for (const double wanted : {400.0, 1000.0, 5000.0}) {
    const auto found = fewest(("throughput>=" + std::to_string(wanted)).c_str());
    REQUIRE(found);
    CHECK(throughput(static_cast<int>(*found)) >= wanted);
    CHECK(throughput(static_cast<int>(*found) - 1) < wanted);
  }
  const Solution none =
      solve_step(fit, step, SolveFor::kWorkers, parse_target("throughput>=1e12"), 32);
  CHECK_FALSE(none.value);
  CHECK(none.limit.find("exposed communication") != std::string::npos);
}

TEST_CASE("Workers are whole, and the next one is too many") {
  const StepFit fit = plain_fit();
  StepSummary step = training_step();
  step.exchange = ExchangeKind::kParameterServer;
  step.bandwidth = 1e11;
  const Solution solution =
      solve_step(fit, step, SolveFor::kWorkers, parse_target("efficiency>=0.8"), 32);
  REQUIRE(solution.value);
  step.workers = static_cast<int>(*solution.value);
  CHECK(efficiency(fit, step) >= 0.8);
  ++step.workers;
  CHECK(efficiency(fit, step) < 0.8);
}

TEST_CASE("The most workers are found beyond numbers that are too many") {
  // Halving-doubling among no power of two sends whole messages twice more: 6 and 7 are slower than
  // 8 and 16.
  const StepFit fit = plain_fit();
  StepSummary step = training_step();
  step.exchange = ExchangeKind::kHalvingDoubling;
  const auto seconds = [&](int workers) {
    StepSummary changed = step;
    changed.workers = workers;
    return step_time(changed, fit.constants).total_s;
  };
  const double allowed = 1.001 * seconds(16);
  REQUIRE(seconds(6) > allowed);
  REQUIRE(seconds(17) > allowed);
  REQUIRE(seconds(32) > allowed);
  const Target target = parse_target("step_time<=" + std::to_string(1e6 * allowed) + "us");
  CHECK(solve_step(fit, step, SolveFor::kWorkers, target, 32).value == 16);
}

TEST_CASE("Where nothing meets the target, what limits is said") {
  // Compute alone takes .1 s.
  const Solution solution = solve_step(plain_fit(), training_step(), SolveFor::kBandwidth,
                                       parse_target("step_time<=50ms"), 32);
  CHECK_FALSE(solution.value);
  CHECK(solution.limit.find("compute") != std::string::npos);
  StepSummary slow = training_step();
  slow.buckets[0].encode_s = 5;
  CHECK(solve_step(plain_fit(), slow, SolveFor::kRatio, parse_target("efficiency>=0.5"), 32)
            .limit.find("encoding") != std::string::npos);
}

TEST_CASE("Targets are read with units, others refused") {
  CHECK(parse_target("step_time<=50ms").value == Approx(0.05));
  CHECK(parse_target("efficiency>=80%").value == Approx(0.8));
  CHECK(parse_target("throughput>=1000").kind == Target::Kind::kThroughput);
  CHECK_THROWS_WITH(parse_target("efficiency<=0.8"), Catch::Contains("say efficiency>=0.8"));
  CHECK_THROWS(parse_target("efficiency>=0"));
  CHECK_THROWS_WITH(parse_target("efficiency>=80"), Catch::Contains("no efficiency is above 1"));
}

TEST_CASE("A summary survives the store's figures") {
  StepSummary step = training_step();
  step.exchange = ExchangeKind::kTwoLevel;
  step.group = 4;
  step.overlap = false;
  step.loss = 0.01;
  step.buckets.assign(4, {0.1, 0.2, 0.3, 0.4, 1e6});
  const auto read = stored_summary(summary_metrics(step, RunOrigins{}));
  REQUIRE(read);
  CHECK(read->exchange == step.exchange);
  CHECK(read->group == 4);
  CHECK_FALSE(read->overlap);
  CHECK(step_time(*read, usual_constants()).total_s ==
        Approx(step_time(step, usual_constants()).total_s));
  CHECK_FALSE(stored_summary({}));
}

TEST_CASE("Buckets that differ survive as they are; of very many only totals do") {
  // A large bucket last is exposed where equal ones would hide behind the backward pass.
  StepSummary step = training_step();
  step.buckets = {{0.1, 0.01, 0.01, 0, 1e5}, {0.2, 0.01, 0.01, 0, 1e5}, {0.01, 0.3, 0.1, 0, 5e7}};
  const auto rows = summary_metrics(step, RunOrigins{});
  const auto read = stored_summary(rows);
  REQUIRE(read);
  REQUIRE(read->buckets.size() == 3);
  CHECK(read->buckets[2].message_bytes == 5e7);
  CHECK(read->buckets[1].backward_s == 0.2);
  CHECK(read->buckets[0].add_s == 0);
  CHECK(step_time(*read, usual_constants()).total_s == step_time(step, usual_constants()).total_s);
  // Equal buckets need no figures of their own; 300 are kept as totals.
  step.buckets.assign(3, step.buckets[2]);
  CHECK(summary_metrics(step, RunOrigins{}).size() < rows.size());
  step.buckets.assign(300, {.message_bytes = 1});
  step.buckets[0].message_bytes = 301;
  CHECK(stored_summary(summary_metrics(step, RunOrigins{}))->buckets[5].message_bytes ==
        2);  // 600 bytes over 300
}
