// LibTorch has a CHECK of its own, and so comes before Catch2.
#include "trainers/passes/layer_rules.h"

#include <ATen/ops/eye.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/philox.h"
#include "compressors/codec.h"
#include "tests/trainers/schedules/gossip_fixture.h"
#include "trainers/methods/catalogue.h"
#include "trainers/passes/evonorm.h"
#include "trainers/trainer_error.h"

/// Layers of few bits: the quantiser, its gradients, running ranges, range-EvoNorm; and workers
/// that gossip with such layers.
namespace gradwire::trainers {
namespace {

using namespace gossip;
using Bits = std::map<std::string, double>;

at::Tensor tensor(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return at::tensor(values).reshape(shape);
}

std::vector<float> values_of(const at::Tensor& values) {
  const at::Tensor flat = values.detach().contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

at::Tensor drawn(std::vector<std::int64_t> shape, std::uint32_t number, float size = 1) {
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

LayerRules rules_of(const Bits& changed = {}) {
  Bits options = {{"weight_bits", 8}, {"activation_bits", 8}, {"gradient_bits", 8}};
  for (const auto& [name, value] : changed) options[name] = value;
  return make_layer_rules({{"low-precision", options}});
}

const Layer kTrained{LayerKind::kLinear, 2, true};

/// x and w of a linear layer without bias, and what a rule makes of them and of a gradient dy.
struct Passed {
  at::Tensor x, w, y, dx, dw;

  Passed(at::Tensor input, at::Tensor weights, const at::Tensor& dy, const Bits& bits = {},
         const Layer& layer = kTrained)
      : x(std::move(input)), w(std::move(weights)) {
    x.set_requires_grad(true);
    w.set_requires_grad(true);
    y = rules_of(bits)[0]->forward(layer, x, std::span(&w, 1), linear);
    (y * dy).sum().backward();
    dx = x.grad();
    dw = w.grad();
  }
};

/// Q(x) with x's own range, by hand.
std::vector<double> quantised(const std::vector<float>& x, double lo, double hi, int bits) {
  const double top = (1 << bits) - 1, unit = std::max((hi - lo) / top, 1e-8);
  std::vector<double> all;
  for (const float each : x)
    all.push_back(std::clamp(std::nearbyint((each - lo) / unit), 0.0, top) * unit + lo);
  return all;
}

TEST_CASE("the uniform quantiser: the worked example, half a step, idempotence",
          "[low-precision]") {
  // Weights -1, -0.25, 0.2, 2: a step of 3/255, codes 0, 64, 102, 255. An input of 1 leaves them.
  const Bits weights_alone = {{"activation_bits", 32}, {"gradient_bits", 32}};
  const auto of = [&](const std::vector<float>& w) {
    const auto n = static_cast<std::int64_t>(w.size());
    return values_of(
        Passed(at::ones({1, 1}), tensor(w, {n, 1}), at::ones({1, n}), weights_alone).y);
  };
  const std::vector<float> example = of({-1, -0.25f, 0.2f, 2});
  CHECK(example[0] == -1);
  CHECK(example[1] == Approx(-0.247059).epsilon(1e-5));
  CHECK(example[2] == Approx(0.2).epsilon(1e-5));
  CHECK(example[3] == Approx(2));
  const std::vector<float> x = values_of(drawn({5000}, 1, 3)), once = of(x), twice = of(once);
  const double unit = (*std::ranges::max_element(x) - *std::ranges::min_element(x)) / 255.0;
  for (std::size_t e = 0; e < x.size(); ++e) {
    CHECK(std::abs(x[e] - once[e]) <= unit * (0.5 + 1e-4));
    CHECK(twice[e] == Approx(once[e]).margin(1e-5 * unit));
  }
  for (const float each : of({0.3f, 0.3f, 0.3f})) CHECK(each == Approx(0.3));
}

TEST_CASE("levels are those of codec int8, but for ties", "[low-precision]") {
  const std::vector<float> w = values_of(drawn({4000}, 3, 2));
  const at::Tensor ones = at::ones({1, 1});
  const Passed passed(ones, tensor(w, {4000, 1}), at::ones({1, 4000}),
                      {{"activation_bits", 32}, {"gradient_bits", 32}});
  const auto codec = compressors::make_codec("int8", {});
  const std::vector<std::int64_t> shape = {4000};
  const compressors::TensorView view{"w", shape, w};
  std::vector<std::byte> bytes(codec->max_encoded_size(view));
  compressors::EncodeJob job{.tensor = view, .payload = bytes};
  std::vector<float> decoded(w.size());
  codec->decode({.payload = std::span(bytes).first(codec->encode(job, {})), .values = decoded}, {});
  const std::vector<float> own = values_of(passed.y);
  int differ = 0;
  for (std::size_t e = 0; e < w.size(); ++e)
    differ += std::abs(own[e] - decoded[e]) > 1e-5 * std::abs(decoded[e]) + 1e-6;
  CHECK(differ <= 2);
}

TEST_CASE("a layer sees its input in the mean range of its samples", "[low-precision]") {
  // Samples reach from 0 to 4 and from -2 to 2: on average from -1 to 3.
  const at::Tensor identity = tensor({1, 0, 0, 1}, {2, 2});
  const Bits bits = {{"weight_bits", 32}, {"activation_bits", 2}, {"gradient_bits", 32}};
  const Passed passed(tensor({0, 4, -2, 2}, {2, 2}), identity, tensor({1, 2, 3, 4}, {2, 2}), bits);
  // Steps of 4/3 from -1: 0 is nearest to 1/3, 4 and -2 are beyond, 2 is nearest to 5/3.
  const std::vector<float> y = values_of(passed.y);
  CHECK(y[0] == Approx(1.0 / 3));
  CHECK(y[1] == Approx(3));
  CHECK(y[2] == Approx(-1));
  CHECK(y[3] == Approx(5.0 / 3));
  CHECK(values_of(passed.dx) == std::vector<float>{1, 2, 3, 4});  // as they come
}

TEST_CASE("running ranges are recorded in training and used in evaluations", "[low-precision]") {
  Layer layer = kTrained;
  layer.remembered = at::zeros({2});
  layer.record = true;
  const at::Tensor x = tensor({0, 4, -2, 2}, {2, 2}), w = tensor({1, 0, 0, 1}, {2, 2});
  const LayerRules rules = rules_of({{"weight_bits", 32}, {"activation_bits", 2}});
  const auto pass = [&](const Layer& at) {
    return values_of(rules[0]->forward(at, x, std::span(&w, 1), linear));
  };
  pass(layer);
  CHECK(values_of(layer.remembered)[0] == Approx(0.9 * -1));
  pass(layer);
  CHECK(values_of(layer.remembered)[0] == Approx(0.1 * -0.9 + 0.9 * -1));
  CHECK(values_of(layer.remembered)[1] == Approx(2.97));
  layer.record = false;
  pass(layer);
  CHECK(values_of(layer.remembered)[1] == Approx(2.97));
  layer.training = false;
  layer.remembered = tensor({0, 3}, {2});
  CHECK(pass(layer) == std::vector<float>{0, 3, 0, 2});
}

TEST_CASE("gradients: of weights as they come, of inputs drawn without bias", "[low-precision]") {
  const at::Tensor dy = drawn({6, 50}, 4), w = drawn({50, 3}, 5);
  const Bits gradients_alone = {{"weight_bits", 32}, {"activation_bits", 32}};
  const auto pass = [&](std::uint32_t step, const Bits& bits) {
    Layer layer = kTrained;
    layer.draws.step = step;
    return Passed(drawn({6, 3}, 6), drawn({50, 3}, 5), dy, bits, layer);
  };
  const Passed exact =
      pass(0, {{"weight_bits", 32}, {"activation_bits", 32}, {"gradient_bits", 32}});
  const Passed once = pass(0, gradients_alone);
  CHECK(values_of(once.dw) == values_of(exact.dw));
  CHECK(values_of(once.y) == values_of(exact.y));
  CHECK(values_of(once.dx) != values_of(exact.dx));
  CHECK(values_of(once.dx) == values_of(pass(0, gradients_alone).dx));  // drawn by counter
  // With 2 bits: a step u, elements err by u at most, means of 4,000 draws by a few u / sqrt(4000).
  Bits two = gradients_alone;
  two["gradient_bits"] = 2;
  const double unit = (dy.max() - dy.min()).item<float>() / 3.0;
  const at::Tensor identity = at::eye(50);
  at::Tensor sum = at::zeros({6, 50});
  constexpr int kDraws = 4000;
  for (int i = 0; i < kDraws; ++i) {
    Layer layer = kTrained;
    layer.draws.step = static_cast<std::uint32_t>(i);
    const at::Tensor dx = Passed(drawn({6, 50}, 6), identity.clone(), dy, two, layer).dx;
    if (i == 0) CHECK((dx - dy).abs().max().item<float>() <= unit * (1 + 1e-5));
    sum += dx;
  }
  const float bias = (sum / kDraws - dy).abs().max().item<float>();
  CHECK(bias < 4.5 * 0.5 * unit / std::sqrt(kDraws));
}

TEST_CASE("range-EvoNorm: factors of chunks, and its equation by hand", "[low-precision]") {
  CHECK(range_factor(64) == Approx(0.18731).epsilon(1e-4));
  CHECK(range_factor(256) == Approx(0.16221).epsilon(1e-4));
  CHECK(range_factor(1024) == Approx(0.14509).epsilon(1e-4));
  CHECK(evonorm_groups(64, 1) == 1);
  CHECK(evonorm_groups(128, 1) == 2);
  CHECK(evonorm_groups(16, 1024) == 8);
  CHECK_THROWS_AS(evonorm_groups(100, 1), TrainerError);
  const at::Tensor x = drawn({3, 128}, 8, 2), v = drawn({128}, 9), g = drawn({128}, 10),
                   b = drawn({128}, 11);
  const std::vector<float> y = values_of(range_evonorm(x, v, g, b)), in = values_of(x);
  const auto at = [](const at::Tensor& all, std::size_t c) { return values_of(all)[c]; };
  for (std::size_t sample = 0; sample < 3; ++sample)
    for (std::size_t group = 0; group < 2; ++group) {
      const float* const first = in.data() + sample * 128 + group * 64;
      double range = 0;
      for (std::size_t chunk = 0; chunk < 16; ++chunk) {
        const auto [lo, hi] = std::minmax_element(first + 4 * chunk, first + 4 * chunk + 4);
        range += (*hi - *lo) / 16.0;
      }
      for (std::size_t e = 0; e < 64; e += 9) {
        const std::size_t c = group * 64 + e;
        const double gate = std::clamp(first[e] * at(v, c) / 6.0 + 0.5, 0.0, 1.0);
        const double norm = first[e] * gate / (range * range_factor(4) + 1e-5);
        CHECK(y[sample * 128 + c] == Approx(norm * at(g, c) + at(b, c)).epsilon(1e-4));
      }
    }
  // One sample's numbers do not depend on the others', as those of a batch do.
  const std::vector<float> alone = values_of(range_evonorm(x.slice(0, 1, 2), v, g, b));
  for (std::size_t e = 0; e < 128; ++e) CHECK(alone[e] == y[128 + e]);
}

TEST_CASE("range-EvoNorm in few bits: inputs, weights and factors", "[low-precision]") {
  Layer layer{LayerKind::kEvoNorm, 2, true};
  const at::Tensor x = drawn({5, 64}, 12, 2);
  const std::vector<at::Tensor> w = {drawn({64}, 13), drawn({64}, 14), drawn({64}, 15)};
  const auto compute = [](const at::Tensor& in, std::span<const at::Tensor> each) {
    return range_evonorm(in, each[0], each[1], each[2]);
  };
  const auto by = [&](const Bits& bits) {
    return rules_of(bits)[0]->forward(layer, x, w, compute);
  };
  const at::Tensor exact = range_evonorm(x, w[0], w[1], w[2]);
  const double eight = (by({}) - exact).abs().max().item<float>();
  const double four =
      (by({{"weight_bits", 4}, {"activation_bits", 4}}) - exact).abs().max().item<float>();
  CHECK(eight > 0);
  CHECK(eight < 0.1);
  CHECK(four > 3 * eight);
  // By hand: everything quantised, the factors of all samples with their own range.
  const auto grid = [](const at::Tensor& t, double lo, double hi) {
    std::vector<float> all;
    for (const double each : quantised(values_of(t), lo, hi, 8))
      all.push_back(static_cast<float>(each));
    return tensor(all, t.sizes().vec());
  };
  const auto own = [&](const at::Tensor& t) {
    return grid(t, t.min().item<float>(), t.max().item<float>());
  };
  const at::Tensor q = grid(x, x.amin(1).mean().item<float>(), x.amax(1).mean().item<float>());
  const at::Tensor y = range_evonorm(q, own(w[0]), own(w[1]), own(w[2]), own);
  CHECK((by({}) - y).abs().max().item<float>() < 1e-4);
}

scenarios::Scenario low_precision(const std::string& mixing, const std::string& bits,
                                  const std::string& messages = "int8") {
  scenarios::Scenario scenario = scenario_of(4, "ring", "low-precision");
  scenario.method.options = {{"mixing", mixing},
                             {"messages", messages},
                             {"weight_bits", bits},
                             {"activation_bits", bits},
                             {"gradient_bits", bits}};
  return scenario;
}

TEST_CASE("32 bits are the method that mixes alike, bit for bit", "[low-precision]") {
  for (const char* mixing : {"choco-sgd", "deepsqueeze", "d-psgd"}) {
    scenarios::Scenario parent = scenario_of(4, "ring", mixing);
    parent.method.options = {{"messages", "int8"}};
    const bool plain = std::string(mixing) == "d-psgd";
    if (plain) {
      parent.method.name = "none";
      parent.method.options.clear();
    }
    const Outcome same = run(low_precision(mixing, "32", plain ? "none" : "int8"));
    const Outcome of_parent = run(parent);
    CHECK(same.hash == of_parent.hash);
    CHECK(same.weights == of_parent.weights);
    CHECK(same.evaluation.loss == of_parent.evaluation.loss);
    // Negative control.
    CHECK(run(low_precision(mixing, "8", plain ? "none" : "int8")).hash != of_parent.hash);
  }
}

TEST_CASE("workers with 8-bit layers learn, alike on all threads and after a checkpoint",
          "[low-precision]") {
  for (const bool evonorm : {false, true}) {
    scenarios::Scenario scenario = low_precision("choco-sgd", "8");
    scenario.workload.hidden = {64};
    scenario.workload.normalisation = evonorm ? "range-evonorm" : "none";
    scenario.workload.learning_rate = 0.2;
    scenario.workload.steps = 60;
    const Outcome one = run(scenario);
    CHECK(one.losses.back() < 0.5 * one.losses.front());
    CHECK(one.evaluation.accuracy > 0.8);
    CHECK(figure(one.figures, "mean_drift") < 1e-6);
    for (const int threads : {2, 4}) {
      const Outcome several = run(scenario, threads);
      CHECK(several.hash == one.hash);
      CHECK(several.evaluation.loss == one.evaluation.loss);
    }
    auto trainer = prepared(scenario);
    scenarios::StepPlan plan;
    for (int i = 0; i < 7; ++i) REQUIRE(trainer->next(plan));
    std::stringstream saved;
    trainer->save(saved);
    trainer = prepared(scenario, 2);
    trainer->load(saved);
    const Outcome resumed = finish(*trainer, 4);
    CHECK(resumed.hash == one.hash);
    CHECK(resumed.evaluation.loss == one.evaluation.loss);  // running ranges, too
  }
}

TEST_CASE("bits of passes are 1 to 8, or 32", "[low-precision]") {
  const methods::MethodRow& row = *methods::find_method("low-precision");
  const auto make = [&](const std::string& bits) {
    row.make({.options = OptionValues(row.options, {{"weight_bits", bits}})});
  };
  CHECK_NOTHROW(make("32"));
  CHECK_NOTHROW(make("2"));
  CHECK_THROWS_AS(make("9"), Error);
}

}  // namespace
}  // namespace gradwire::trainers
