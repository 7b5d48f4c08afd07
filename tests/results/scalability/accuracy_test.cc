#include "results/scalability/accuracy.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "results/scalability/figures.h"
#include "results/scalability/page.h"
#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

/// Three seeds of fp32 on a global batch of 64 (two workers of 32): 80, 100 and 120 steps.
TrainedSteps trained(std::int64_t workers, double mean, double least, double greatest) {
  TrainedSteps one{"lenet5", "digits", "none", static_cast<int>(workers), 32, 3, {}};
  one.steps.n = 3;
  one.steps.mean = mean;
  one.steps.least = least;
  one.steps.greatest = greatest;
  return one;
}

ScalabilityOptions options_of(StepsAssumption assumption) {
  ScalabilityOptions options;
  options.command = "gradwire report";
  options.source = "runs";
  options.accuracy = {0.9, assumption, {trained(2, 100, 80, 120), trained(4, 60, 50, 70)}, "them"};
  return options;
}

ScaleStore runs_of_none() {
  return ScaleStore(std::vector<ScaleRun>{{.workers = 2}, {.workers = 4}, {.workers = 8}});
}

}  // namespace

TEST_CASE("time to accuracy: steps of the seeds times the row's step time") {
  const ScaleStore runs = runs_of_none();
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of(StepsAssumption::kNone));
  const AccuracyAnswer answer = accuracy_of(all);
  REQUIRE(answer.rows.size() == 2);  // on 2 and 4 workers: batches of 64 and 128
  const double step = all.answer(0, 4)->seconds;
  CHECK(answer.rows[1].workers == 4);
  CHECK(answer.rows[1].seconds == Approx(60 * step));
  CHECK(answer.rows[1].low_s == Approx(50 * all.answer(0, 4)->low_s));
  CHECK(answer.rows[1].high_s == Approx(70 * all.answer(0, 4)->high_s));
  REQUIRE(answer.refused.size() == 1);
  CHECK_THAT(answer.refused[0], Contains("Not on 8, 16, 32 and 64 workers") &&
                                    Contains("a batch of 256 was never trained"));
}

TEST_CASE("untrained batches have steps under an assumption only, and the row names it") {
  const ScaleStore runs = runs_of_none();
  const auto on_8 = [&](StepsAssumption assumption) {
    const auto answer = accuracy_of(scalability_of(*runs.store, runs.ids, options_of(assumption)));
    CHECK(answer.refused.empty());
    for (const AccuracyRow& row : answer.rows)
      if (row.workers == 8) return row;
    return AccuracyRow{};
  };
  CHECK(on_8(StepsAssumption::kSameSteps).steps.steps == 60);
  const AccuracyRow samples = on_8(StepsAssumption::kSameSamples);
  CHECK(samples.steps.steps == 30);  // batches of 256 for 128
  CHECK_THAT(samples.steps.basis, Contains("assumed: as many samples"));
}

TEST_CASE("the report has the time to accuracy where it is asked for, with its cost") {
  const ScaleStore runs = runs_of_none();
  ScalabilityOptions options = options_of(StepsAssumption::kSameSamples);
  options.costs.prices.gpu_hour = 3600;  // a GPU's second costs one
  const Scalability all = scalability_of(*runs.store, runs.ids, options);
  const std::string html = document_html(scalability_document(all));
  CHECK(html_problem(html) == "");
  CHECK_THAT(html, Contains("Time to 90 % accuracy") && Contains("counted in them"));
  const auto rows = nlohmann::json::parse(scalability_json(all)).at("time_to_accuracy");
  CHECK(rows.at(0).at("cost").get<double>() ==
        Approx(2 * rows.at(0).at("seconds").get<double>()));  // two workers
  options.accuracy.target = 0;
  const Scalability none = scalability_of(*runs.store, runs.ids, options);
  CHECK(accuracy_of(none).rows.empty());
  CHECK_FALSE(has(document_html(scalability_document(none)), "accuracy</h2>"));
}

TEST_CASE("a method that nobody trained has no time, and the report says so") {
  const ScaleStore runs = runs_of_none();
  ScalabilityOptions options = options_of(StepsAssumption::kNone);
  options.accuracy.trained[0].method = options.accuracy.trained[1].method = "topk";
  const Scalability all = scalability_of(*runs.store, runs.ids, options);
  CHECK(accuracy_of(all).rows.empty());
  CHECK_THAT(
      document_html(scalability_document(all)),
      Contains("It cannot be said for any row above") && Contains("no finished training run"));
}
