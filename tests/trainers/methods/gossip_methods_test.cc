#include <cmath>
#include <memory>

#include "compressors/codec.h"
#include "scenarios/methods.h"
#include "tests/trainers/schedules/gossip_fixture.h"

namespace gradwire::trainers {
namespace {

using namespace gossip;

/// Three workers, all weights 1/3, step 1/2, the largest of two elements: the worked examples of
/// the two algorithms, one tensor, no gradient.
class Hand {
 public:
  Hand(const std::string& method, std::vector<std::vector<float>> x)
      : x_(std::move(x)), y_(3, std::vector<float>(2)) {
    scenarios::Method choice{.name = method};
    choice.error_feedback = method == "deepsqueeze";
    choice.options = {{"messages", "topk"}, {"share", "0.5"}, {"step", "0.5"}};
    method_ = scenarios::training_method(choice, 3);
    channel_ = std::make_unique<TensorChannel>(plans_up(*method_, 0), layout_, 1);
  }
  void step() {
    const methods::GossipPlan plan = method_->gossip().value();
    for (std::size_t w = 0; w < 3; ++w) {
      std::vector<float> value = x_[w];
      for (std::size_t e = 0; plan.differences && e < 2; ++e) value[e] -= y_[w][e];
      if (!plan.differences) y_[w] = {0, 0};
      std::vector<std::byte> message;
      channel_->encode(states_, static_cast<int>(w), 0, value, message);
      channel_->add(0, channel_->payloads(message)[0], 1, y_[w]);
    }
    const sim::Mixing all = sim::make_mixing(3, sim::both_ways(sim::gossip_complete(3)));
    WorkerPool pool(1);
    const std::vector<std::span<float>> x(x_.begin(), x_.end());
    const std::vector<std::span<const float>> y(y_.begin(), y_.end());
    drift = mix(all, plan.step, x, y, pool).drift;
  }
  void check(const std::vector<std::vector<double>>& expected) const {
    for (std::size_t w = 0; w < 3; ++w)
      for (std::size_t e = 0; e < 2; ++e) CHECK(x_[w][e] == Approx(expected[w][e]));
  }
  std::vector<float> residual(int worker) {
    const auto bytes = states_.at({worker, 0}, 8);
    const auto* const values = reinterpret_cast<const float*>(bytes.data());
    return {values[0], values[1]};
  }
  double drift = 1;

 private:
  std::vector<std::vector<float>> x_, y_;
  Layout layout_{std::vector<Parameter>{{"w", {2}}}, Bytes(1000)};
  std::unique_ptr<methods::Method> method_;
  std::unique_ptr<TensorChannel> channel_;
  StateStore states_;
};

TEST_CASE("CHOCO-SGD does the arithmetic of its algorithm", "[gossip]") {
  // y = (3,0), (0,3), (0,0), of mean (1,1): worker 0: (3,0) + (1/2)((1,1) - (3,0)) = (2, 0.5).
  Hand hand("choco-sgd", {{3, 0}, {0, 3}, {0, 0}});
  hand.step();
  hand.check({{2, 0.5}, {0.5, 2}, {0.5, 0.5}});
  CHECK(hand.drift < 1e-7);
}

TEST_CASE("DeepSqueeze does the arithmetic of its algorithm", "[gossip]") {
  // C = (3,0), (0,3), (0,2), of mean (1, 5/3): worker 1: (1,3) + (1/2)((1, 5/3) - (0,3)).
  Hand hand("deepsqueeze", {{3, 1}, {1, 3}, {0, 2}});
  hand.step();
  hand.check({{2, 1 + 2.5 / 3}, {1.5, 3 - 2.0 / 3}, {0.5, 2 - 0.5 / 3}});
  CHECK(hand.drift < 1e-7);
  CHECK(hand.residual(0) == std::vector<float>{0, 1});
  CHECK(hand.residual(1) == std::vector<float>{1, 0});
  CHECK(hand.residual(2) == std::vector<float>{0, 0});
}

scenarios::Scenario by(const std::string& method, const std::string& codec,
                       const std::string& step = "1") {
  scenarios::Scenario scenario = scenario_of(8, "ring", method);
  scenario.method.error_feedback = method == "deepsqueeze" && codec != "none";
  scenario.method.options = {{"messages", codec}, {"step", step}};
  scenario.workload.steps = 60;
  scenario.workload.learning_rate = 0.2;
  return scenario;
}

TEST_CASE("without a codec and with a step of 1 both are D-PSGD, up to rounding", "[gossip]") {
  scenarios::Scenario plain = by("none", "none");
  plain.method.options = {};
  const Outcome parent = run(plain);
  for (const char* method : {"choco-sgd", "deepsqueeze"}) {
    const Outcome same = run(by(method, "none"));
    for (std::size_t w = 0; w < 8; ++w)
      CHECK(most_apart(same.weights[w], parent.weights[w]) < 1e-5);
    CHECK(same.payloads == parent.payloads);
  }
  CHECK(most_apart(run(by("choco-sgd", "none", "0.5")).weights[0], parent.weights[0]) > 1e-4);
}

TEST_CASE("differences bring workers a hundred times closer than weights do", "[gossip]") {
  const auto distance = [](const std::string& method) {
    scenarios::Scenario scenario = by(method, "int8");
    scenario.workload.steps = 100;
    scenario.schedule.final_mixing = 40;
    const Outcome outcome = run(scenario);
    CHECK(figure(outcome.figures, "mean_drift") < 1e-6);
    return outcome.distances.back();
  };
  CHECK(distance("deepsqueeze") > 100 * distance("choco-sgd"));
}

TEST_CASE("a tenth of the differences learns, with a small step", "[gossip]") {
  const Outcome few = run(by("choco-sgd", "topk", "0.3"));
  CHECK(few.losses.back() < 0.7 * few.losses.front());
  // Values and columns of a tenth: a fifth of fp32's bytes, and headers.
  CHECK(figure(few.figures, "edge_bytes") <
        0.22 * 4 * static_cast<double>(few.weights[0].size()) + 100);
  // A worker on a ring keeps two neighbours' copies and its own.
  CHECK(figure(few.figures, "memory_method_bytes") ==
        3 * 4 * static_cast<double>(few.weights[0].size()));
}

TEST_CASE("hashes of compressed gossip do not depend on threads or interruptions", "[gossip]") {
  for (const char* method : {"choco-sgd", "deepsqueeze"}) {
    scenarios::Scenario scenario = by(method, "int8");
    scenario.workload.optimizer = "quasi-global";
    scenario.workload.momentum = 0.9;
    scenario.workload.steps = 14;
    const Outcome one = run(scenario);
    for (const int threads : {2, 4}) CHECK(run(scenario, threads).hash == one.hash);
    auto trainer = prepared(scenario);
    scenarios::StepPlan plan;
    for (int i = 0; i < 5; ++i) REQUIRE(trainer->next(plan));
    std::stringstream saved;
    trainer->save(saved);
    trainer = prepared(scenario, 2);
    trainer->load(saved);
    CHECK(finish(*trainer, 8).hash == one.hash);
  }
}

}  // namespace
}  // namespace gradwire::trainers
