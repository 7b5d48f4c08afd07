#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

struct Result {
  double accuracy = 0;
  double loss = 0;
  double ratio = 0;  ///< dense bytes / bytes
  std::uint64_t hash = 0;
};

std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario, int threads = 1) {
  auto trainer = make_trainer(scenario, {threads, true});
  const Layout& layout = static_cast<SynchronousTrainer&>(*trainer).layout();
  std::vector<std::int64_t> elements;
  for (const BucketSlot& bucket : layout.buckets()) elements.push_back(bucket.count);
  trainer->use_profile(fixed_profile(elements));
  return trainer;
}

Result train(const scenarios::Scenario& scenario, int threads = 1) {
  const auto trainer = prepared(scenario, threads);
  scenarios::StepPlan plan;
  double sent = 0, dense = 0;
  while (trainer->next(plan)) {
    sent += static_cast<double>(plan.payload.count());
    dense += static_cast<double>(plan.dense_payload.count());
  }
  CHECK(plan.step == scenario.workload.steps - 1);
  const scenarios::Evaluation evaluation = trainer->evaluate();
  return {evaluation.accuracy, plan.loss, dense / sent, trainer->learning_hash()};
}

TEST_CASE("every codec learns the digits to more than 90 %") {
  struct Case {
    const char* method;
    bool feedback;
    double least_ratio, most_ratio;
  };
  // Ratios: fp16 halves. terngrad with 4 workers sends 2, 3, 3 and three times 4 bits where fp32
  // sends six times 32: 192 / 20 = 9.6 less scales. topk (1 %, 64 bits a kept element) all-gathers:
  // 2 E 32 / (N E 0.64) = 25 for N = 4, less lengths and small tensors' one element each.
  for (const Case& c : {Case{"none", false, 1, 1}, Case{"fp16", false, 2, 2},
                        Case{"terngrad", false, 9, 9.6}, Case{"topk", true, 10, 30}}) {
    scenarios::Scenario scenario = digits_scenario("mlp", c.method);
    scenario.method.error_feedback = c.feedback;
    const Result result = train(scenario);
    INFO(c.method << " accuracy " << result.accuracy << " loss " << result.loss << " ratio "
                  << result.ratio);
    CHECK(result.accuracy > 0.9);
    CHECK(result.ratio >= c.least_ratio);
    CHECK(result.ratio <= c.most_ratio);
  }
}

TEST_CASE("negative control: 0.1 % without error feedback hardly learns") {
  // 0.1 % of 50,826 elements without error feedback: most are never sent.
  scenarios::Scenario sparse = digits_scenario("mlp", "topk");
  sparse.method.options["ratio"] = "0.001";
  sparse.workload.steps = 60;
  const Result without = train(sparse);
  sparse.method.error_feedback = true;
  const Result with = train(sparse);
  INFO("topk 0.1 % with feedback " << with.accuracy << ", without " << without.accuracy);
  CHECK(with.accuracy > without.accuracy + 0.15);
}

TEST_CASE("what is learnt does not depend on host threads, but on seed and method") {
  for (const char* method : {"none", "terngrad", "topk"}) {
    scenarios::Scenario scenario = digits_scenario("lenet5", method);
    scenario.workload.steps = 6;
    scenario.exchange.bucket = Bytes(100'000);
    const std::uint64_t hash = train(scenario, 1).hash;
    CHECK(train(scenario, 1).hash == hash);
    CHECK(train(scenario, 2).hash == hash);
    CHECK(train(scenario, 4).hash == hash);
    scenario.seed = 2;
    CHECK(train(scenario, 1).hash != hash);
  }
}

TEST_CASE("how the gradients are bucketed does not change what is learnt without compression") {
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.workload.steps = 5;
  scenario.cluster.workers = 2;  // with two workers the order of addition cannot matter
  const auto weights_with = [&](std::int64_t bucket) {
    scenario.exchange.bucket = Bytes(bucket);
    const auto trainer = prepared(scenario);
    scenarios::StepPlan plan;
    while (trainer->next(plan)) {
    }
    const auto weights = static_cast<SynchronousTrainer&>(*trainer).weights();
    return std::vector<float>(weights.begin(), weights.end());
  };
  CHECK(weights_with(25'000'000) == weights_with(1'000));
}

TEST_CASE("N workers without compression do what one worker with all their samples does") {
  // The mean of the gradients of four batches of 8 is the gradient of one batch of 32, so one step
  // from equal weights ends at equal weights, up to rounding.
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.cluster.workers = 4;
  scenario.workload.batch_per_worker = 8;
  scenario.workload.steps = 1;
  const auto trainer = prepared(scenario);
  scenarios::StepPlan plan;
  trainer->next(plan);
  auto data = load_digits(scenario.seed);
  const auto model = make_model("mlp", data, "cpu");
  const Layout layout(model->parameters(), scenario.exchange.bucket);
  std::vector<float> weights(static_cast<std::size_t>(layout.elements())), none;
  initialise(model->parameters(), layout, scenario.seed, weights);
  Sampler sampler(data.train, 4, 8, scenario.seed);
  std::vector<std::uint32_t> samples;
  for (int w = 0; w < 4; ++w) {
    const auto batch = sampler.batch(w, 0);
    samples.insert(samples.end(), batch.begin(), batch.end());
  }
  Batch batch;
  gather(data, samples, batch);
  const auto replica = model->make_replica(layout, weights, none);
  const auto gradients = replica->make_gradients();
  const double loss = replica->train_pass(batch, {.record_statistics = true}, *gradients);
  CHECK(plan.loss == Approx(loss).epsilon(1e-5));
  const auto mean = static_cast<SynchronousTrainer&>(*trainer).mean();
  for (const TensorSlot& slot : layout.tensors()) {
    const auto& expected = gradients->tensors()[layout.tensor_of(slot.parameter)];
    double difference = 0, size = 0;
    for (std::size_t e = 0; e < expected.size(); ++e) {
      difference += std::abs(mean[static_cast<std::size_t>(slot.first) + e] - expected[e]);
      size += std::abs(expected[e]);
    }
    INFO(slot.name);
    CHECK(difference < 1e-5 * size);
  }
}

TEST_CASE(
    "the step's graph: edges to the step before, times of the profile, bytes of the encoder") {
  scenarios::Scenario scenario = digits_scenario("mlp", "topk");
  scenario.cluster.slowdown = {1, 1, 2, 1};
  const auto trainer = prepared(scenario);
  scenarios::StepPlan plan;
  trainer->next(plan);
  CHECK(plan.after.empty());
  CHECK(plan.bytes.size() == 4);
  // Each message goes 3 hops round a ring of 4.
  Bytes sum{0};
  for (const Bytes bytes : plan.bytes) sum += bytes;
  CHECK(plan.payload == sum * 3);
  CHECK(plan.seconds.size() == plan.graph->size());
  trainer->on_submitted(plan, 42);
  trainer->next(plan);
  REQUIRE(plan.after.size() == 4);
  CHECK(plan.after[2].from.graph == 42);
  CHECK(plan.graph->labels[plan.graph->label[plan.after[2].from.op]] == "update");
  CHECK(plan.graph->labels[plan.graph->label[plan.after[2].to]] == "forward");
  CHECK(plan.seconds[plan.after[2].to] == plan.seconds[plan.after[1].to] * 2);
}

TEST_CASE("measured times are positive, cover every bucket, and leave learning alone") {
  scenarios::Scenario scenario = digits_scenario("mlp", "topk");
  scenario.method.error_feedback = true;
  scenario.exchange.bucket = Bytes(70'000);
  scenario.workload.steps = 3;
  const std::uint64_t hash = train(scenario).hash;
  const auto trainer = make_trainer(scenario, {});
  const scenarios::ComputeProfile& profile = trainer->prepare();
  CHECK(profile.provenance == "measured");
  CHECK(profile.repetitions >= 5);
  CHECK(profile.forward > Seconds(0));
  CHECK(profile.update > Seconds(0));
  REQUIRE(profile.buckets.size() >= 2);
  for (const auto& bucket : profile.buckets) {
    CHECK(bucket.backward > Seconds(0));
    CHECK(bucket.encode > Seconds(0));
    CHECK(bucket.decode > Seconds(0));
  }
  scenarios::StepPlan plan;
  while (trainer->next(plan)) {
  }
  CHECK(trainer->learning_hash() == hash);
}

TEST_CASE("times once given are kept: preparing does not measure again") {
  const auto trainer = prepared(digits_scenario("mlp"));
  CHECK(trainer->prepare().device == "test");
  CHECK(trainer->prepare().forward == Seconds(1e-3));
}

TEST_CASE("a shipped device profile gives times without measuring") {
  scenarios::Scenario scenario = digits_scenario("lenet5", "terngrad");
  scenario.cluster.device = "reference-cpu";
  const auto trainer = make_trainer(scenario, {});
  const scenarios::ComputeProfile& profile = trainer->prepare();
  CHECK(profile.provenance == "profile");
  CHECK(profile.forward > Seconds(0));
  CHECK(profile.buckets[0].encode > profile.buckets[0].scale);
  // The same times every time.
  CHECK(make_trainer(scenario, {})->prepare().forward == profile.forward);
}

TEST_CASE("times of another model are refused") {
  const auto trainer = make_trainer(digits_scenario("mlp"), {});
  CHECK_THROWS_AS(trainer->use_profile(fixed_profile({5})), TrainerError);
}

TEST_CASE("lars that leaves out all tensors trains as sgd, and lamb and a schedule do not") {
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.workload.steps = 12;
  const std::uint64_t sgd = train(scenario).hash;
  scenarios::Scenario lars = scenario;
  lars.workload.optimizer = "lars";
  lars.workload.optimizer_options = {{"exclude", "all"}};
  CHECK(train(lars).hash == sgd);
  CHECK(train(lars, 3).hash == sgd);
  lars.workload.optimizer_options = {};
  CHECK(train(lars).hash != sgd);  // negative control
  // A schedule that changes nothing; one that does.
  scenario.workload.rate_schedule.shape = RateSchedule::Shape::kStep;
  scenario.workload.rate_schedule.milestones = {12};
  CHECK(train(scenario).hash == sgd);
  scenario.workload.rate_schedule.milestones = {11};  // the last step
  CHECK(train(scenario).hash != sgd);
}

TEST_CASE("epochs are passes of all workers over the training data") {
  // 4 workers of 16 samples; the rate falls to nothing at epoch 1. Of the 1,438 training samples 22
  // steps take 1,408 and 23 take 1,472: step 23 is the first that changes nothing.
  scenarios::Scenario scenario = digits_scenario("logistic");
  RateSchedule& schedule = scenario.workload.rate_schedule;
  schedule.shape = RateSchedule::Shape::kStep;
  schedule.in_epochs = true;
  schedule.milestones = {1};
  schedule.factor = 0;
  const auto trainer = prepared(scenario);
  const auto& weights = static_cast<const SynchronousTrainer&>(*trainer);
  scenarios::StepPlan plan;
  for (int step = 0; step < 25; ++step) {
    INFO(step);
    const std::vector<float> before(weights.weights().begin(), weights.weights().end());
    REQUIRE(trainer->next(plan));
    const bool moved = !std::equal(before.begin(), before.end(), weights.weights().begin());
    CHECK(moved == (step < 23));
  }
}

TEST_CASE("a profile's update time is that of the bytes that the rule moves") {
  // Profiles have the time of sgd with momentum, 20 B an element.
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.cluster.device = "reference-cpu";
  const auto update_of = [&](const char* rule, double momentum) {
    scenario.workload.optimizer = rule;
    scenario.workload.momentum = momentum;
    return make_trainer(scenario, {})->prepare().update;
  };
  const Seconds profiled = update_of("sgd", 0.9);
  CHECK(update_of("sgd", 0) / profiled == Approx(12.0 / 20));
  CHECK(update_of("adam", 0) / profiled == Approx(28.0 / 20));
  CHECK(update_of("lamb", 0) / profiled == Approx(40.0 / 20));
}

TEST_CASE("a run that diverges says so") {
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.workload.learning_rate = 1e20;
  CHECK_THROWS_WITH(train(scenario), Catch::Contains("is not finite"));
}

}  // namespace
}  // namespace gradwire::trainers
