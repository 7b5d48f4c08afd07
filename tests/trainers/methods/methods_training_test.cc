#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "scenarios/methods.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// The catalogue's methods in training: same on any number of threads, through a checkpoint, and as
/// their plain parents where a setting leaves nothing of them.
namespace gradwire::trainers {
namespace {

using Options = std::map<std::string, std::string>;

struct Case {
  const char* method;
  Options options;
  const char* collective;
  std::string optimizer = "sgd";
  Options optimizer_options = {};
  bool feeds_back = false;
};

const Options kCompAms = {{"bias_correction", "false"}, {"epsilon_inside", "true"}};

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"qsgd", {{"whole_below", "1000"}}, "ring"},
      {"qsgd", {{"format", "dense"}, {"levels", "16"}}, "parameter-server"},
      {"qsvrg", {{"inner_steps", "4"}}, "ring"},
      {"qsvrg", {{"inner_steps", "4"}}, "parameter-server"},
      {"natural", {{"down", "same"}}, "parameter-server"},
      {"dither", {{"down", "same"}}, "parameter-server"},
      {"natural", {}, "ring"},
      {"fastsgd", {}, "parameter-server"},
      {"cgx", {{"adapt_every", "3"}}, "ring"},
      {"cgx", {{"adapt_every", "3"}}, "scatter-reduce"},
      {"comp-ams", {}, "parameter-server", "amsgrad", kCompAms, true},
      {"comp-ams", {{"compressor", "block-sign"}}, "parameter-server", "amsgrad", kCompAms, true},
      {"batch-augmentation", {{"copies", "2"}}, "ring"},
      {"qcmd", {}, "parameter-server", "adagrad-cmd", {}},
      {"qrda", {}, "parameter-server", "adagrad-rda", {}}};
  return all;
}

scenarios::Scenario scenario_of(const Case& which, int steps) {
  scenarios::Scenario scenario = digits_scenario("logistic", which.method);
  if (which.optimizer == "sgd") scenario.workload.model = "mlp";
  scenario.method.options = which.options;
  scenario.method.error_feedback = which.feeds_back;
  scenario.workload.steps = steps;
  scenario.workload.momentum = 0;
  scenario.workload.optimizer = which.optimizer;
  scenario.workload.optimizer_options = which.optimizer_options;
  scenario.cluster.device = "reference-cpu";
  scenario.exchange.collective = which.collective;
  return scenario;
}

struct Run {
  std::vector<float> weights;
  std::vector<double> losses;
  std::vector<Bytes> payloads;
  std::uint64_t hash = 0;
};

Run run_of(const scenarios::Scenario& scenario, int threads = 1) {
  const auto trainer = make_trainer(scenario, {.threads = threads});
  trainer->prepare();
  Run run;
  scenarios::StepPlan plan;
  while (trainer->next(plan)) {
    run.losses.push_back(plan.loss);
    run.payloads.push_back(plan.payload);
  }
  const auto weights = static_cast<SynchronousTrainer&>(*trainer).weights();
  run.weights.assign(weights.begin(), weights.end());
  run.hash = trainer->learning_hash();
  return run;
}

}  // namespace

TEST_CASE("every method learns the same on any number of threads") {
  for (const Case& each : cases()) {
    INFO(each.method << " by " << each.collective);
    const scenarios::Scenario scenario = scenario_of(each, 12);
    const Run one = run_of(scenario, 1);
    CHECK(run_of(scenario, 2).hash == one.hash);
    CHECK(run_of(scenario, 4).hash == one.hash);
  }
}

TEST_CASE("every method goes on from a checkpoint as if nothing had happened") {
  for (const Case& each : cases()) {
    INFO(each.method << " by " << each.collective);
    const scenarios::Scenario scenario = scenario_of(each, 12);
    const Run whole = run_of(scenario);
    const auto first = make_trainer(scenario, {}), second = make_trainer(scenario, {});
    first->prepare();
    scenarios::StepPlan plan;
    for (int step = 0; step < 7; ++step) first->next(plan);
    std::stringstream checkpoint;
    first->save(checkpoint);
    second->prepare();
    second->load(checkpoint);
    while (second->next(plan)) {
    }
    CHECK(second->learning_hash() == whole.hash);
  }
}

TEST_CASE("comp-ams that sends everything is AMSGrad") {
  scenarios::Scenario scenario =
      scenario_of({"comp-ams", {{"ratio", "1"}}, "parameter-server", "amsgrad", kCompAms}, 10);
  scenario.workload.learning_rate = 1e-3;
  const Run whole = run_of(scenario);
  scenario.method.name = "none";
  scenario.method.options = {};
  const Run plain = run_of(scenario);
  CHECK(whole.weights == plain.weights);
  CHECK(whole.losses == plain.losses);
  // The negative control: half of it is something else.
  scenario.method.name = "comp-ams";
  scenario.method.options = {{"ratio", "0.5"}};
  CHECK(run_of(scenario).weights != plain.weights);
}

TEST_CASE("comp-ams sends values and indices up, all weights down") {
  // logistic on digits: 640 weights and 10 biases, 1 % is 7 and 1. Up: 4 B of length, 4 of count, 8
  // an entry; down: 4 B of count and 4 an element of the bucket.
  const Run run =
      run_of(scenario_of({"comp-ams", {}, "parameter-server", "amsgrad", kCompAms, true}, 2));
  const std::int64_t up = (8 + 7 * 8) + (8 + 8), down = 4 + 650 * 4;
  CHECK(run.payloads[0] == Bytes(4 * (up + down)));
  CHECK(run.payloads[1] == run.payloads[0]);
}

TEST_CASE("bits that never change are those of plain cgx") {
  const Case fixed{"cgx", {}, "ring"}, late{"cgx", {{"adapt_every", "100"}}, "ring"},
      soon{"cgx", {{"adapt_every", "2"}}, "ring"};
  const Run plain = run_of(scenario_of(fixed, 8));
  CHECK(run_of(scenario_of(late, 8)).hash == plain.hash);
  // Error within that of 4 bits and no more bytes; the first steps are as before.
  const Run adapted = run_of(scenario_of(soon, 8));
  CHECK(adapted.payloads[0] == plain.payloads[0]);
  CHECK(adapted.payloads[1] == plain.payloads[1]);
  for (std::size_t step = 2; step < 8; ++step)
    CHECK(adapted.payloads[step] <= plain.payloads[step]);
}

TEST_CASE("a sparse model comes down in fewer bytes the sparser it is") {
  // digits have pixels that are never black: with a penalty many weights stay 0 by dual averaging.
  Case rda{"qrda", {}, "parameter-server", "adagrad-rda", {{"l1", "0.02"}}};
  const Run sparse = run_of(scenario_of(rda, 20));
  const auto zeros = std::count(sparse.weights.begin(), sparse.weights.end(), 0.0f);
  CHECK(zeros > 150);
  // 650 weights: 4 + 82 bytes of bits + 4 each that is not zero; the up-link is 10 B and 2 bits an
  // element: (8 + 160) + (8 + 3), and 4 B of length each.
  const std::int64_t up = 4 + 8 + 160 + 4 + 8 + 3;
  const std::int64_t down = 4 + 82 + 4 * (650 - static_cast<std::int64_t>(zeros));
  CHECK(sparse.payloads.back() == Bytes(4 * (up + down)));
  rda.optimizer_options = {{"l1", "0"}};
  CHECK(run_of(scenario_of(rda, 20)).payloads.back() > sparse.payloads.back());
  CHECK(sparse.losses.back() < sparse.losses.front());
}

TEST_CASE("qsvrg with one inner step and fine codes is gradient descent on all samples") {
  // Where x is y, grad_B(x) - grad_B(y) + mu is mu, whatever the batch: an epoch of one inner step
  // is a step of the full gradient.
  const Case fine{"qsvrg",
                  {{"inner_steps", "1"}, {"levels", "65535"}, {"format", "dense"}},
                  "parameter-server"};
  scenarios::Scenario scenario = scenario_of(fine, 20);
  const Run run = run_of(scenario);
  for (std::size_t step = 2; step < 20; step += 2) {
    INFO(step);
    CHECK(run.losses[step] < run.losses[step - 2]);  // of all samples
  }
  // Full gradients go as fp32, more bytes than codes of few bits.
  const Run coarse = run_of(scenario_of({"qsvrg", {{"inner_steps", "3"}}, "ring"}, 8));
  for (std::size_t step = 0; step < 8; ++step)
    CHECK((coarse.payloads[step] > coarse.payloads[1]) == (step % 4 == 0));
}

TEST_CASE("batch augmentation that changes nothing is plain training") {
  const Case alone{
      "batch-augmentation", {{"copies", "1"}, {"shift", "0"}, {"cutout", "0"}}, "ring"};
  scenarios::Scenario scenario = scenario_of(alone, 8);
  const Run whole = run_of(scenario);
  scenario.method = {};
  CHECK(run_of(scenario).hash == whole.hash);
  // Four copies of one worker's batch have its gradient: a sum of four equal floats, over 4.
  scenario.cluster.workers = 1;
  const Run one = run_of(scenario);
  const Case four{"batch-augmentation", {{"copies", "4"}, {"shift", "0"}, {"cutout", "0"}}, "ring"};
  CHECK(run_of(scenario_of(four, 8)).weights == one.weights);
}

TEST_CASE("copies that are changed alike are one") {
  const Options alike = {{"copies", "4"}, {"same_draws", "true"}};
  const Run four = run_of(scenario_of({"batch-augmentation", alike, "ring"}, 8));
  scenarios::Scenario scenario = scenario_of({"batch-augmentation", {{"copies", "1"}}, "ring"}, 8);
  scenario.cluster.workers = 1;
  const Run one = run_of(scenario);
  CHECK(four.weights == one.weights);
  // The negative control: copies with changes of their own.
  CHECK(run_of(scenario_of({"batch-augmentation", {{"copies", "4"}}, "ring"}, 8)).weights !=
        one.weights);
}

TEST_CASE("the mean gradient of more copies varies less, down to what their samples share") {
  // With variance s^2 of one copy and correlation r between copies of a sample the mean of M has
  // s^2 / B (1 + (M - 1) r) / M = a + b / M: a and b from 1 and 2 copies, held against 4 and 8.
  const auto variance = [](int copies) {
    scenarios::Scenario scenario =
        scenario_of({"batch-augmentation", {{"copies", std::to_string(copies)}}, "ring"}, 300);
    scenario.workload.model = "logistic";
    scenario.workload.data_set = "glyph";
    scenario.workload.data_options = {{"samples", "300"}};
    scenario.workload.learning_rate = 0;
    scenario.cluster.workers = copies;
    const auto trainer = make_trainer(scenario, {});
    trainer->prepare();
    scenarios::StepPlan plan;
    std::vector<double> sum, squares;
    while (trainer->next(plan)) {
      const auto mean = static_cast<SynchronousTrainer&>(*trainer).mean();
      sum.resize(mean.size());
      squares.resize(mean.size());
      for (std::size_t e = 0; e < mean.size(); ++e) {
        sum[e] += static_cast<double>(mean[e]);
        squares[e] += static_cast<double>(mean[e]) * static_cast<double>(mean[e]);
      }
    }
    double total = 0;
    for (std::size_t e = 0; e < sum.size(); ++e)
      total += squares[e] / 300 - sum[e] / 300 * (sum[e] / 300);
    return total;
  };
  const double one = variance(1), two = variance(2), four = variance(4), eight = variance(8);
  const double b = 2 * (one - two), a = one - b;
  INFO(one << " " << two << " " << four << " " << eight << ", a " << a << ", b " << b);
  CHECK(two < one);
  CHECK(four < two);
  CHECK(eight < four);
  CHECK(four == Approx(a + b / 4).epsilon(0.15));
  CHECK(eight == Approx(a + b / 8).epsilon(0.15));
}

}  // namespace gradwire::trainers
