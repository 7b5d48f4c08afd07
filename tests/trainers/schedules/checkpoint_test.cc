#include <catch2/catch.hpp>
#include <sstream>

#include "base/serial.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/checkpoint.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario) {
  auto trainer = make_trainer(scenario, {});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  return trainer;
}

void run_steps(scenarios::Trainer& trainer, int steps) {
  scenarios::StepPlan plan;
  for (int i = 0; i < steps; ++i) REQUIRE(trainer.next(plan));
}

TEST_CASE("a resumed run ends with the hash of one that was never interrupted") {
  struct Case {
    const char* method;
    const char* optimizer;
    bool feedback;
  };
  for (const Case& c :
       {Case{"none", "sgd", false}, Case{"topk", "adam", true}, Case{"terngrad", "sgd", false},
        Case{"none", "amsgrad", false}, Case{"none", "adamax", false}, Case{"none", "lars", false},
        Case{"none", "lamb", false}}) {
    scenarios::Scenario scenario = digits_scenario("mlp", c.method);
    scenario.method.error_feedback = c.feedback;
    scenario.workload.optimizer = c.optimizer;
    scenario.workload.learning_rate = 0.002;
    scenario.workload.steps = 10;
    scenario.workload.rate_schedule.shape = RateSchedule::Shape::kCosine;
    const auto whole = prepared(scenario), first = prepared(scenario), second = prepared(scenario);
    run_steps(*whole, 10);
    run_steps(*first, 6);
    std::stringstream checkpoint;
    first->save(checkpoint);
    second->load(checkpoint);
    CHECK(second->learning_hash() == first->learning_hash());
    run_steps(*second, 4);
    scenarios::StepPlan plan;
    CHECK_FALSE(second->next(plan));
    INFO(c.method);
    CHECK(second->learning_hash() == whole->learning_hash());
    // Negative control: the same four steps on top of other weights end elsewhere.
    CHECK(first->learning_hash() != whole->learning_hash());
  }
}

TEST_CASE("damaged and foreign checkpoints are refused") {
  scenarios::Scenario scenario = digits_scenario("logistic");
  const auto trainer = prepared(scenario);
  run_steps(*trainer, 2);
  std::stringstream out;
  trainer->save(out);
  const std::string good = out.str();
  const auto refusal = [&](scenarios::Trainer& target, std::string bytes) {
    std::istringstream in(std::move(bytes));
    try {
      target.load(in);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  using Catch::Contains;
  CHECK_THAT(refusal(*trainer, good.substr(0, good.size() - 9)), Contains("ends too early"));
  std::string torn = good;
  torn[good.size() / 2] ^= 1;
  CHECK_THAT(refusal(*trainer, torn), Contains("check sum"));
  CHECK_THAT(refusal(*trainer, "something else entirely"), Contains("does not start as one"));
  std::string older = good;
  older[7] = '1';  // the last byte of the first word, which ends in the version
  CHECK_THAT(refusal(*trainer, older), Contains("version 1"));
  scenario.workload.optimizer = "adam";
  CHECK_THAT(refusal(*prepared(scenario), good), Contains("updated by sgd, not by adam"));
  scenario.workload.optimizer = "sgd";
  scenario.seed = 9;
  CHECK_THAT(refusal(*prepared(scenario), good), Contains("another seed or model"));
  CHECK_THAT(refusal(*trainer, good), Contains("no error"));
}

TEST_CASE("content of many blocks is checked block by block") {
  std::vector<std::uint32_t> numbers(1'000'000);  // 4 MB in blocks of 1 MiB
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint32_t>(i * i);
  std::stringstream out;
  save_checked(out, [&](std::ostream& content) {
    put_span(content, std::span<const std::uint32_t>(numbers));
  });
  const std::string good = out.str();
  std::vector<std::uint32_t> loaded;
  const auto load = [&](const std::string& bytes) {
    std::istringstream in(bytes);
    loaded.clear();
    load_checked(in, [&](std::istream& content) { loaded = get_vector<std::uint32_t>(content); });
  };
  load(good);
  CHECK(loaded == numbers);
  using Catch::Contains;
  for (const std::size_t place : {100u, 1'500'000u, 3'999'000u}) {
    std::string torn = good;
    torn[place] ^= 1;
    CHECK_THROWS_WITH(load(torn), Contains("check sum"));
    CHECK_THROWS_WITH(load(good.substr(0, place)), Contains("ends too early"));
  }
  // Two whole blocks, each 8 + 2^20 + 8 bytes, that change places are not what was saved.
  constexpr std::size_t kWhole = (1u << 20) + 16;
  CHECK_THROWS_WITH(load(good.substr(0, 8) + good.substr(8 + kWhole, kWhole) +
                         good.substr(8, kWhole) + good.substr(8 + 2 * kWhole)),
                    Contains("check sum"));
}

}  // namespace
}  // namespace gradwire::trainers
