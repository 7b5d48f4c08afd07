// LibTorch has a CHECK of its own, and so comes before Catch2.
#include "trainers/passes/layer_rules.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>
#include <sstream>

#include "base/philox.h"
#include "compressors/codecs/kbit/arithmetic.h"
#include "tests/trainers/methods/lockstep_run.h"
#include "trainers/methods/catalogue.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Quantised networks: levels and their gradients, normalisation by shifts, products of bit planes
/// against floats, weights between -1 and 1, what is sent.
namespace gradwire::trainers {
namespace {

using Options = std::map<std::string, std::string>;
using Bits = std::map<std::string, double>;

at::Tensor tensor(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return at::tensor(values).reshape(shape);
}

std::vector<float> values_of(const at::Tensor& values) {
  const at::Tensor flat = values.contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

at::Tensor drawn(std::vector<std::int64_t> shape, std::uint32_t number, float size) {
  std::int64_t count = 1;
  for (const std::int64_t each : shape) count *= each;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t e = 0; e < values.size(); ++e)
    values[e] = size * (2 * uniform({.seed = 7, .worker = number}, e) - 1);
  return tensor(values, std::move(shape));
}

at::Tensor linear(const at::Tensor& input, std::span<const at::Tensor> weights) {
  return weights.size() == 2 ? at::linear(input, weights[0], weights[1])
                             : at::linear(input, weights[0]);
}

LayerRules rules_of(const Bits& changed) {
  Bits options = {{"weight_bits", 1}, {"activation_bits", 1}, {"input_step", 0.03125},
                  {"shifts", 1},      {"packed", 1},          {"straight_through", 1},
                  {"drawn", 0}};
  for (const auto& [name, value] : changed) options[name] = value;
  return make_layer_rules({{"qnn", options}});
}

at::Tensor layer_of(const Bits& bits, const Layer& layer, const at::Tensor& x,
                    const std::vector<at::Tensor>& weights) {
  return rules_of(bits)[0]->forward(layer, x, weights, linear);
}

const Layer kFirst{LayerKind::kLinear, 0, true}, kTrained{LayerKind::kLinear, 4, true};

Layer evaluated(Layer layer) {
  layer.training = false;
  return layer;
}

scenarios::Scenario scenario_with(const Options& options, int steps = 12,
                                  const char* method = "qnn") {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.workload.hidden = std::vector<std::int64_t>{70, 40};
  scenario.workload.normalisation = "batch";
  scenario.workload.loss = "squared-hinge";
  scenario.workload.optimizer = "adam";
  scenario.workload.learning_rate = 0.005;
  scenario.method.options = options;
  scenario.workload.steps = steps;
  return scenario;
}

}  // namespace

TEST_CASE("one bit is the sign, whose gradient passes within [-1, 1]", "[qnn]") {
  // x = (0.5, -2), (0, 1); w = (0.3, -0.1), (-0.7, 0): signs (1, -1), (1, 1) and (1, -1), (-1, 1).
  at::Tensor x = tensor({0.5f, -2, 0, 1}, {2, 2}), w = tensor({0.3f, -0.1f, -0.7f, 0}, {2, 2});
  at::Tensor b = tensor({0.25f, -1}, {2});
  for (at::Tensor* each : {&x, &w, &b}) each->requires_grad_(true);
  const at::Tensor y = layer_of({}, kTrained, x, {w, b});
  CHECK(values_of(y) == std::vector<float>{2.25f, -3, 0.25f, -1});
  y.mul(tensor({1, 2, 4, 8}, {2, 2})).sum().backward();
  // dx = dy w_q, but 0 where |x| > 1; dw = dy^T x_q.
  CHECK(values_of(x.grad()) == std::vector<float>{1 - 2, 0, 4 - 8, -4 + 8});
  CHECK(values_of(w.grad()) == std::vector<float>{1 + 4, -1 + 4, 2 + 8, -2 + 8});
  CHECK(values_of(b.grad()) == std::vector<float>{5, 10});
  // Negative control: steps have no gradient of their own.
  x.mutable_grad().reset();
  layer_of({{"straight_through", 0}}, kTrained, x, {w, b}).sum().backward();
  CHECK(values_of(x.grad()) == std::vector<float>{0, 0, 0, 0});
}

TEST_CASE("drawn signs are unbiased within [-1, 1], and of evaluations the sign", "[qnn]") {
  constexpr std::int64_t kDraws = 40000;
  Layer layer = kTrained;
  layer.draws = {.seed = 3, .step = 5, .worker = 1, .tensor = 9};
  for (const float x : {-2.0f, -1.0f, -0.4f, 0.0f, 0.7f, 1.0f, 1.5f}) {
    CAPTURE(x);
    const at::Tensor inputs = at::full({kDraws, 1}, double{x});
    const auto signs = [&](const Layer& seen) {
      return layer_of({{"drawn", 1}}, seen, inputs, {at::ones({1, 1})});
    };
    // Expected clip(x, -1, 1); five standard errors of a sign, at most 1 / sqrt(40,000) each.
    const double mean = signs(layer).mean().item<float>();
    CHECK(std::abs(mean - std::clamp(double{x}, -1.0, 1.0)) < 5.0 / 200);
    CHECK(signs(layer).abs().eq(1).all().item<bool>());
    CHECK(signs(layer).equal(signs(layer)));
    CHECK(signs(evaluated(layer)).eq(x < 0 ? -1 : 1).all().item<bool>());
    if (std::abs(x) >= 1) continue;
    Layer other = layer;
    other.draws.step = 6;
    CHECK_FALSE(signs(other).equal(signs(layer)));
  }
  at::Tensor x = tensor({0.5f, -2, 0, 1}, {2, 2}).requires_grad_(true);
  layer_of({{"drawn", 1}}, layer, x, {at::ones({1, 2})}).sum().backward();
  CHECK(values_of(x.grad()) == std::vector<float>{1, 0, 1, 1});
}

TEST_CASE("k bits have 2^k levels, those of codec kbit to the bit", "[qnn]") {
  std::vector<float> inputs = {-2, -1, -0.5f, 0, 0.5f, 1, 3, 1.0f / 3, -1.0f / 3, 1e-30f, -1e-30f};
  for (const float value : values_of(drawn({500}, 1, 1.5f))) inputs.push_back(value);
  const auto n = static_cast<std::int64_t>(inputs.size());
  for (int bits = 1; bits <= 8; ++bits) {
    CAPTURE(bits);
    const double all = bits;
    // A weight of 1 is the highest level of any number of bits: y = 1 x_q.
    const std::vector<float> y = values_of(
        layer_of({{"activation_bits", all}}, kTrained, tensor(inputs, {n, 1}), {at::ones({1, 1})}));
    std::set<float> levels;
    for (std::size_t e = 0; e < inputs.size(); ++e) {
      const auto odd =
          2 * static_cast<int>(compressors::unit_code(inputs[e], bits)) - ((1 << bits) - 1);
      const float unit = static_cast<float>(1.0 / ((1 << bits) - 1));
      REQUIRE(y[e] == static_cast<float>(odd) * unit);
      levels.insert(y[e]);
    }
    CHECK(levels.size() <= std::size_t{1} << bits);
  }
}

TEST_CASE("the first layer sees multiples of the step in 8 bits", "[qnn]") {
  // 0.04 / 2^-5 = 1.28, 1; 2.0 is 64; 9 is cut at 127 steps, -9 at -128.
  const at::Tensor x = tensor({0.04f, 2, 9, -9}, {4, 1});
  CHECK(values_of(layer_of({}, kFirst, x, {at::ones({1, 1})})) ==
        std::vector<float>{0.03125f, 2, 127 * 0.03125f, -4});
  CHECK(values_of(layer_of({{"input_step", 0}}, kFirst, x, {at::ones({1, 1})})) == values_of(x));
}

TEST_CASE("normalisation by shifts: the worked example", "[qnn]") {
  // c = (-2, -1, 0, 3): v = (4 + 1 + 0 + 3 * 4) / 4 = 4.25, 1 / sqrt v = 0.485, nearest 0.5.
  const at::Tensor mean = at::zeros({1}), v = at::ones({1});
  const std::vector<at::Tensor> running = {mean, v};
  const std::vector<at::Tensor> weights = {at::ones({1}), at::zeros({1})};
  Layer layer{LayerKind::kNormalisation, 2, true};
  layer.running = running;
  layer.record = true;
  const at::Tensor x = tensor({1, 2, 3, 6}, {4, 1});
  CHECK(values_of(layer_of({}, layer, x, weights)) == std::vector<float>{-1, -0.5f, 0, 1.5f});
  CHECK(mean.item<float>() == Approx(0.1 * 3));
  CHECK(v.item<float>() == Approx(0.9 + 0.1 * 4.25));
  // Evaluated: (x - 0.3) AP2(1 / sqrt 1.325 = 0.87) = x - 0.3; a scale of 3 counts as 4.
  CHECK(values_of(layer_of({}, evaluated(layer), x, weights))[1] == Approx(1.7));
  CHECK(values_of(layer_of({}, evaluated(layer), x, {at::full({1}, 3.0), at::ones({1})}))[1] ==
        Approx(4 * 1.7 + 1));
  // A pass that does not record leaves them; negative control: the model's own has other values.
  layer.record = false;
  layer_of({}, layer, x + 5, weights);
  CHECK(mean.item<float>() == Approx(0.3));
  const at::Tensor own = at::batch_norm(x, weights[0], weights[1], {}, {}, true, 0.1, 1e-5, true);
  CHECK(values_of(own)[0] == Approx(-1.069).epsilon(1e-3));
}

TEST_CASE("gradients go through a normalisation by shifts", "[qnn]") {
  const std::vector<at::Tensor> weights = {at::ones({2}), at::zeros({2})};
  const Layer layer{LayerKind::kNormalisation, 2, true};
  at::Tensor x = drawn({6, 2}, 3, 2).requires_grad_(true);
  layer_of({}, layer, x, weights).mul(drawn({6, 2}, 4, 1)).sum().backward();
  // Of a batch's shift nothing is left: gradients of a channel add up to 0.
  const at::Tensor sums = x.grad().sum(0);
  CHECK(std::abs(sums[0].item<float>()) < 1e-5);
  CHECK(x.grad().abs().sum().item<float>() > 0.1);
}

TEST_CASE("evaluations by bit planes are those by floats, to the bit", "[qnn]") {
  for (const auto& [samples, in, out] :
       {std::tuple{1, 1, 1}, {5, 63, 7}, {33, 64, 65}, {9, 500, 40}})
    for (const auto& [kw, ka] :
         {std::pair{1.0, 1.0}, {1.0, 2.0}, {2.0, 2.0}, {4.0, 4.0}, {8.0, 3.0}})
      for (const Layer& layer : {kFirst, kTrained}) {
        const at::Tensor x = drawn({samples, in}, 5, 1.4f), b = drawn({out}, 6, 1);
        const at::Tensor w = drawn({out, in}, 7, 1);
        const auto result = [&](double packed, const Layer& seen) {
          return values_of(layer_of(
              {{"weight_bits", kw}, {"activation_bits", ka}, {"packed", packed}}, seen, x, {w, b}));
        };
        REQUIRE(result(1, evaluated(layer)) == result(0, evaluated(layer)));
        REQUIRE(result(1, evaluated(layer)) == result(0, layer));
        const Bits odd_step = {{"input_step", 0.03}, {"packed", 0}};
        REQUIRE(values_of(layer_of({{"input_step", 0.03}}, evaluated(layer), x, {w, b})) ==
                values_of(layer_of(odd_step, evaluated(layer), x, {w, b})));
        // Negative control: one weight of another sign.
        const std::vector<float> before = result(1, evaluated(layer));
        w[0][0] *= -1;
        if (in == 63) CHECK(result(1, evaluated(layer)) != before);
      }
}

TEST_CASE("a whole network evaluates the same packed and as floats", "[qnn]") {
  const auto score = [](const char* bits, const char* packed) {
    LockstepRun run(scenario_with({{"activation_bits", bits}, {"packed", packed}}, 40));
    const scenarios::Evaluation score = run.steps(40).trainer->evaluate();
    return std::pair(score.loss, score.accuracy);
  };
  for (const char* bits : {"1", "2"}) CHECK(score(bits, "true") == score(bits, "false"));
  CHECK(score("1", "true") != score("2", "true"));  // negative control
}

TEST_CASE("weights of layers stay within [-1, 1], and are counted", "[qnn]") {
  scenarios::Scenario scenario = scenario_with({});
  scenario.workload.optimizer = "sgd";
  scenario.workload.learning_rate = 50;
  LockstepRun run(scenario);
  run.steps(12);
  bool at_bound = false, vectors_beyond = false;
  for (const TensorSlot& slot : run.lockstep().layout().tensors())
    for (const float weight : slice(run.lockstep().weights(), slot)) {
      if (slot.shape.size() == 2) {
        REQUIRE(std::abs(weight) <= 1);
        at_bound |= std::abs(weight) == 1;
      } else {
        vectors_beyond |= std::abs(weight) > 1;
      }
    }
  CHECK(at_bound);
  CHECK(vectors_beyond);
  // 64-70-40-10: rows of 64, 70 and 40 bits are 1, 2 and 1 words.
  CHECK(run.figure("packed_weights_bytes") == 8 * (70 * 1 + 40 * 2 + 10 * 1));
  CHECK(run.figure("fp32_weights_bytes") == 4 * (64 * 70 + 70 * 40 + 40 * 10));
}

TEST_CASE("32 bits of everything are the plain network", "[qnn]") {
  const Options plain = {
      {"weight_bits", "32"}, {"activation_bits", "32"}, {"normalisation", "model"}};
  const std::vector<float> weights = LockstepRun(scenario_with({}, 12, "none")).steps(12).weights();
  CHECK(LockstepRun(scenario_with(plain)).steps(12).weights() == weights);
  CHECK(LockstepRun(scenario_with({})).steps(12).weights() != weights);
}

TEST_CASE("gradients as powers of two take 6 bits and a head of 5 bytes", "[qnn]") {
  // The tensors of 64-70-40-10: matrices, and bias, scale and shift of each layer.
  std::int64_t bytes = 0;
  for (const std::int64_t n : {64 * 70, 70, 70, 70, 70 * 40, 40, 40, 40, 40 * 10, 10, 10, 10})
    bytes += 4 + 5 + (6 * n + 7) / 8;  // each behind its length
  scenarios::Scenario scenario = scenario_with({{"gradients", "log"}}, 1);
  LockstepRun run(scenario);
  CHECK(run.steps(1).plan.payload == Bytes(4 * 3 * bytes));  // each message to three others
  CHECK(run.weights() != LockstepRun(scenario_with({}, 1)).steps(1).weights());
}

TEST_CASE("bits beyond 8 are refused, but for 32", "[qnn]") {
  const methods::MethodRow* row = methods::find_method("qnn");
  REQUIRE(row != nullptr);
  const auto made = [&](const char* bits) {
    return row->make({.options = OptionValues(row->options, {{"activation_bits", bits}})});
  };
  CHECK_THROWS_WITH(made("9"), Catch::Contains("1 to 8, or 32"));
  CHECK(made("32")->passes().layer_rules.size() == 1);
  const Options drawn = {{"activation_bits", "2"}, {"rounding", "stochastic"}};
  CHECK_THROWS_WITH(row->make({.options = OptionValues(row->options, drawn)}),
                    Catch::Contains("one bit alone"));
}

TEST_CASE("a network of one bit learns, on any number of threads and from a checkpoint", "[qnn]") {
  const char* const rounding = GENERATE("nearest", "stochastic");
  const scenarios::Scenario scenario =
      scenario_with({{"gradients", "log"}, {"rounding", rounding}}, 60);
  LockstepRun whole(scenario);
  whole.steps(1);
  const double start = whole.plan.loss;
  whole.steps(59);
  CHECK(whole.plan.loss < 0.6 * start);
  CHECK(LockstepRun(scenario, 2).steps(60).trainer->learning_hash() ==
        whole.trainer->learning_hash());
  LockstepRun first(scenario), second(scenario);
  first.steps(31);
  std::stringstream checkpoint;
  first.trainer->save(checkpoint);
  second.trainer->load(checkpoint);
  second.steps(29);
  CHECK(second.trainer->learning_hash() == whole.trainer->learning_hash());
  CHECK(second.figure("packed_weights_bytes") == whole.figure("packed_weights_bytes"));
}

}  // namespace gradwire::trainers
