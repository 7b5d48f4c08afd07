#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

namespace gradwire::trainers {
namespace {

/// Accuracy in percent on 1,500 held-out images of those that ship.
double accuracy_of(const std::string& method, const std::map<std::string, std::string>& options,
                   std::uint64_t seed) {
  scenarios::Scenario scenario = digits_scenario("lenet5", method);
  scenario.method.options = options;
  scenario.workload.data_set = "mnist";
  scenario.workload.batch_per_worker = 16;
  scenario.workload.steps = 250;
  scenario.workload.learning_rate = 0.02;
  scenario.seed = seed;
  const auto trainer = make_trainer(scenario, {2, true});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  scenarios::StepPlan plan;
  while (trainer->next(plan)) {
  }
  return 100 * trainer->evaluate().accuracy;
}

TEST_CASE("LeNet-5 on MNIST: TernGrad ends within 1.0 point of dense training, mean of 3 seeds") {
  double dense = 0, ternary = 0;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const double a = accuracy_of("none", {}, seed);
    const double b = accuracy_of("terngrad", {{"clip", "2.5"}}, seed);
    std::cout << "seed " << seed << ": none " << a << " %, terngrad " << b << " %\n";
    dense += a / 3;
    ternary += b / 3;
  }
  std::cout << "mean: none " << dense << " %, terngrad " << ternary << " %\n";
  CHECK(dense > 96);
  CHECK(std::abs(dense - ternary) < 1.0);
}

}  // namespace
}  // namespace gradwire::trainers
