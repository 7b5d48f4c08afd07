#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/trainers/methods/lockstep_run.h"
#include "tests/trainers/routes/exchange_fixture.h"
#include "trainers/methods/catalogue.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Mixed precision: its scale, what a skipped step leaves as it was, master weights, bytes.
namespace gradwire::trainers {
namespace {

using Options = std::map<std::string, std::string>;

/// The method by itself, with one tensor.
struct Alone {
  std::unique_ptr<methods::Method> method;
  std::vector<float> weights = {1}, mean = {0}, remembered;
  methods::SharedModel model;

  explicit Alone(const Options& options) {
    const methods::MethodRow* row = methods::find_method("mixed-precision");
    REQUIRE(row != nullptr);
    method = row->make({.options = OptionValues(row->options, options)});
    remembered.resize(method->remembers({}));
    model.weights = {weights};
    model.mean = {mean};
    model.remembered = remembered;
    method->start(model);
  }
  /// A step with that mean of scaled gradients, which plain sgd of rate 1 takes.
  bool step(float scaled) {
    mean[0] = scaled;
    if (!method->accept(model)) return false;
    weights[0] -= mean[0];
    method->finish(model);
    return true;
  }
  float scale() const { return method->loss_scale(remembered); }
};

scenarios::Scenario scenario_with(const Options& options, int steps = 12) {
  scenarios::Scenario scenario = digits_scenario("mlp", "mixed-precision");
  scenario.method.options = options;
  scenario.workload.steps = steps;
  return scenario;
}

/// What the update remembers.
std::string memory_of(const LockstepRun& run) {
  std::ostringstream out;
  run.lockstep().updates().save(out);
  return out.str();
}

TEST_CASE("the scale follows overflows", "[mixed-precision]") {
  // Doubles after 3 good steps (g), halves after a bad one (B).
  Alone alone(Options{{"scale", "8"}, {"interval", "3"}});
  const float expected[] = {8, 8, 4, 4, 4, 8, 8, 8, 16, 8, 4};
  const std::string flags = "ggBggggggBB";
  for (std::size_t i = 0; i < flags.size(); ++i) {
    CAPTURE(i);
    CHECK(alone.step(flags[i] == 'g' ? 0.0f : INFINITY) == (flags[i] == 'g'));
    CHECK(alone.scale() == expected[i]);
  }
  Alone constant(Options{{"scaling", "static"}, {"scale", "8"}});
  CHECK_FALSE(constant.step(NAN));
  CHECK(constant.scale() == 8);
  Alone least(Options{{"scale", "8"}, {"smallest_scale", "4"}});
  for (int i = 0; i < 3; ++i) CHECK_FALSE(least.step(-INFINITY));
  CHECK(least.scale() == 4);
}

TEST_CASE("a mean is divided by its scale, exactly for powers of two", "[mixed-precision]") {
  for (const char* scale : {"1", "8", "65536", "1048576"}) {
    Alone alone(Options{{"scaling", "static"}, {"scale", scale}});
    REQUIRE(alone.step(0.3f * alone.scale()));
    CHECK(alone.mean[0] == 0.3f);
  }
}

TEST_CASE("fp32 master weights keep what fp16 weights lose", "[mixed-precision]") {
  // 1 + 2^-12 is halfway to nothing in fp16, whose next number above 1 is 1 + 2^-10.
  Alone master(Options{{"scaling", "none"}});
  Alone halves(Options{{"scaling", "none"}, {"master_weights", "false"}});
  for (int i = 0; i < 4096; ++i) {
    master.step(-0x1p-12f);
    halves.step(-0x1p-12f);
  }
  CHECK(master.weights[0] == 2.0f);
  CHECK(halves.weights[0] == 1.0f);
  halves.step(-0x1p-11f);  // a tie, to the even 1
  CHECK(halves.weights[0] == 1.0f);
  halves.step(-0x1p-10f);
  CHECK(halves.weights[0] == 1.0f + 0x1p-10f);
}

TEST_CASE("a skipped step changes neither weights nor what the update remembers",
          "[mixed-precision]") {
  for (const char* optimizer : {"sgd", "adam"}) {
    CAPTURE(optimizer);
    // The scale is multiplied by 1e6 after every fourth good step: no gradient is small enough for
    // it.
    scenarios::Scenario scenario = scenario_with(
        {{"scale", "1024"}, {"interval", "4"}, {"growth", "1000000"}, {"backoff", "0.5"}});
    scenario.workload.optimizer = optimizer;
    scenario.workload.learning_rate = 0.002;
    LockstepRun run(scenario);
    run.steps(4);
    CHECK(run.figure("skipped_steps") == 0);
    const std::vector<float> weights = run.weights();
    const std::string memory = memory_of(run);
    run.steps(3);
    CHECK(run.figure("skipped_steps") == 3);
    CHECK(run.weights() == weights);
    CHECK(memory_of(run) == memory);
    // The negative control: a step that is not skipped changes both.
    scenario.method.options["interval"] = "1000";
    LockstepRun other(scenario);
    other.steps(5);
    CHECK(other.weights() != weights);
    CHECK(memory_of(other) != memory);
  }
}

TEST_CASE("an infinity or a NaN of one worker reaches all, so that all decide alike",
          "[mixed-precision]") {
  for (const bool server : {false, true}) {
    for (const float bad : {INFINITY, -INFINITY, NAN}) {
      CAPTURE(server, bad);
      Fixture fixture(3);
      fixture.gradients[2][1][5] = bad;
      const Outcome outcome =
          exchange_once(fixture, settings_for("fp16", server, {{"not_finite", "send"}}));
      const auto bad_values = [](const std::vector<float>& mean) {
        return std::ranges::count_if(mean, [](float value) { return !std::isfinite(value); });
      };
      CHECK(bad_values(outcome.mean) == 1);
      for (const auto& replica : outcome.replicas) CHECK(bad_values(replica) == 1);
    }
  }
}

TEST_CASE("each collective carries half the bytes of fp32", "[mixed-precision]") {
  for (const char* collective : {"ring", "tree", "parameter-server"}) {
    for (const int workers : {3, 4}) {
      CAPTURE(collective, workers);
      scenarios::Scenario scenario = scenario_with({}, 1);
      scenario.exchange.collective = collective;
      scenario.cluster.workers = workers;
      const Bytes halves = LockstepRun(scenario).steps(1).plan.payload;
      scenario.method = {};
      scenario.method.name = "none";
      CHECK(LockstepRun(scenario).steps(1).plan.payload == Bytes(2 * halves.count()));
    }
  }
}

TEST_CASE("scales that are powers of two give the same bits where no half under- or overflows",
          "[mixed-precision]") {
  const auto weights = [](const char* scale) {
    scenarios::Scenario scenario = scenario_with({{"scaling", "static"}, {"scale", scale}}, 1);
    scenario.workload.model = "logistic";  // gradients of the first step: 0, or 1e-4 to 1
    return LockstepRun(scenario).steps(1).weights();
  };
  const std::vector<float> expected = weights("1024");
  CHECK(weights("4096") == expected);
  CHECK(weights("3000") != expected);  // scaling by it rounds
}

TEST_CASE("training in fp16 learns what fp32 learns, a tiny loss needs its scale",
          "[mixed-precision]") {
  const auto loss = [](const Options& options) {
    return LockstepRun(scenario_with(options, 60)).steps(60).plan.loss;
  };
  scenarios::Scenario plain = scenario_with({}, 60);
  plain.method = {};
  plain.method.name = "none";
  const double single = LockstepRun(plain).steps(60).plan.loss;
  CHECK(loss({}) == Approx(single).epsilon(0.1));
  const std::string tiny = "9.5367431640625e-07";  // 2^-20
  CHECK(loss({{"loss_factor", tiny}, {"scaling", "static"}, {"scale", "1048576"}}) ==
        Approx(single).epsilon(0.1));
  // Negative controls: gradients below 2^-25 are 0, those above 65504 infinite.
  const Options unscaled = {{"loss_factor", tiny}, {"scaling", "none"}};
  CHECK(loss(unscaled) > 2.0);  // ln 10 = 2.3
  CHECK(loss({{"scaling", "static"}, {"scale", "1e12"}}) > 2.0);
}

TEST_CASE("mixed precision learns the same on any number of threads and from a checkpoint",
          "[mixed-precision]") {
  // Skips the first steps, then some on the way.
  const scenarios::Scenario scenario =
      scenario_with({{"scale", "16777216"}, {"interval", "3"}}, 20);
  LockstepRun whole(scenario);
  whole.steps(20);
  CHECK(whole.figure("skipped_steps") > 2);
  CHECK(LockstepRun(scenario, 2).steps(20).trainer->learning_hash() ==
        whole.trainer->learning_hash());
  CHECK(LockstepRun(scenario, 4).steps(20).trainer->learning_hash() ==
        whole.trainer->learning_hash());
  LockstepRun first(scenario), second(scenario);
  first.steps(11);
  std::stringstream checkpoint;
  first.trainer->save(checkpoint);
  second.trainer->load(checkpoint);
  second.steps(9);
  CHECK(second.trainer->learning_hash() == whole.trainer->learning_hash());
  CHECK(second.figure("skipped_steps") == whole.figure("skipped_steps"));
}

}  // namespace
}  // namespace gradwire::trainers
