#include "results/advice/steps_to_target.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "tests/results/test_store.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

/// A finished run whose accuracy is 0.5 at first, and 0.9 from `reached` on (0 = never).
RunId train(Store& store, const std::string& method, int workers, std::uint64_t seed,
            std::int64_t reached, int every = 1) {
  RunHeader header = sample_header(seed, "hash of " + method + std::to_string(workers));
  header.method = method;
  header.workers = workers;
  header.scenario_json =
      R"({"name":"sample","workload":{"model":"lenet5","batch_per_worker":16,"evaluate_every":)" +
      std::to_string(every) + "}}";
  const RunId run = store.begin_run(header, 100);
  std::vector<MetricRow> metrics;
  for (std::int64_t step = 9; step < 100; step += 10)
    metrics.push_back({step, "accuracy", reached > 0 && step + 1 >= reached ? 0.9 : 0.5, "",
                       Provenance::kMeasured});
  store.append(run, {}, metrics);
  const std::vector<MetricRow> finals = {{-1, "final_accuracy", 0.9, "", Provenance::kMeasured}};
  store.finish_run(run, RunStatus::kFinished, "", "", "", finals);
  return run;
}

struct Trained {
  TemporaryFolder folder;
  std::unique_ptr<Store> store = Store::open(folder.file("t.db"), Store::Mode::kReadWrite);
  std::vector<TrainedSteps> steps(double accuracy = 0.9) const {
    return steps_to_target(*store, store->runs(), accuracy);
  }
};

}  // namespace

TEST_CASE("Steps to an accuracy, with the seeds' spread") {
  Trained trained;
  train(*trained.store, "none", 8, 1, 40);
  train(*trained.store, "none", 8, 2, 60);
  train(*trained.store, "none", 8, 3, 0);
  train(*trained.store, "none", 8, 2, 50);  // seed 2 again: the latest counts
  const auto steps = trained.steps();
  REQUIRE(steps.size() == 1);
  CHECK(steps[0].runs == 3);
  CHECK(steps[0].steps.n == 2);
  CHECK(steps[0].steps.mean == 45);
  CHECK(steps[0].global_batch() == 128);
  const StepsAnswer answer = steps_for(steps, "none", 128, StepsAssumption::kNone);
  CHECK(answer.steps == 45);
  CHECK(answer.low == 40);
  CHECK(answer.high == 50);
  CHECK(answer.basis == "2 of 3 seeds of lenet5 trained with a batch of 128");
  CHECK(trained.steps(0.4)[0].steps.mean == 10);
}

TEST_CASE("The accuracy may have been there since just after the evaluation before") {
  Trained trained;
  train(*trained.store, "none", 8, 1, 40, 10);
  train(*trained.store, "none", 8, 2, 60, 10);
  // Seen after 40 and 60 steps, evaluated every 10: at the earliest after 31.
  const StepsAnswer answer = steps_for(trained.steps(), "none", 128, StepsAssumption::kNone);
  CHECK(answer.steps == 50);
  CHECK(answer.low == 31);
  CHECK(answer.high == 60);
  CHECK_THAT(answer.basis, Catch::Contains("evaluated every 10 steps"));
}

TEST_CASE("A batch that was never trained is refused, or what is assumed is said") {
  Trained trained;
  train(*trained.store, "none", 4, 1, 80);
  train(*trained.store, "none", 8, 1, 40);
  const auto steps = trained.steps();
  CHECK_THROWS_WITH(
      steps_for(steps, "none", 256, StepsAssumption::kNone),
      Catch::Contains("a batch of 256 was never trained") && Catch::Contains("--assume-steps"));
  // 128 is nearer to 256 than 64: as many steps, or half as many.
  const auto same = steps_for(steps, "none", 256, StepsAssumption::kSameSteps);
  CHECK(same.steps == 40);
  CHECK_THAT(same.basis, Catch::Contains("assumed: as many steps with a batch of 256"));
  CHECK(steps_for(steps, "none", 256, StepsAssumption::kSameSamples).steps == 20);
  // What was trained needs no assumption, and none is made.
  CHECK(steps_for(steps, "none", 64, StepsAssumption::kSameSamples).steps == 80);
  CHECK(steps_for(steps, "none", 64, StepsAssumption::kSameSamples).basis.find("assumed") ==
        std::string::npos);
}

TEST_CASE("Methods that were not trained, or did not get there") {
  Trained trained;
  train(*trained.store, "topk 1% +ef", 8, 1, 0);
  const auto steps = trained.steps();
  CHECK_THROWS_WITH(steps_for(steps, "none", 128, StepsAssumption::kSameSteps),
                    Catch::Contains("no finished training run"));
  CHECK_THROWS_WITH(steps_for(steps, "topk 1% +ef", 128, StepsAssumption::kSameSteps),
                    Catch::Contains("none of 1 runs"));
  CHECK_THROWS_WITH(trained.steps(90), Catch::Contains("it is no share"));
}
