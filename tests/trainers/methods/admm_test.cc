// LibTorch has a CHECK of its own, and so comes before Catch2.
#include "trainers/passes/layer_rules.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <numeric>
#include <sstream>

#include "base/philox.h"
#include "compressors/model_file.h"
#include "tests/trainers/methods/lockstep_run.h"
#include "trainers/methods/catalogue.h"
#include "trainers/methods/lowbit_projection.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// ADMM's low-bit quantisation: projection, penalty and dual by hand, what is kept in a file, and
/// settings under which nothing of it is left.
namespace gradwire::trainers {
namespace {

using Options = std::map<std::string, std::string>;

std::unique_ptr<methods::Method> admm(const Options& options) {
  const methods::MethodRow* row = methods::find_method("admm");
  REQUIRE(row != nullptr);
  return row->make({.options = OptionValues(row->options, options)});
}

/// A model of a matrix and a vector, as the method sees it.
struct ByHand {
  std::vector<float> weights = {0.9f, -0.2f, 0.35f, -0.6f}, bias = {1, 2};
  std::vector<float> mean = {0.1f, 0.2f, 0.3f, 0.4f}, bias_mean = {3, 4};
  std::vector<float> remembered;
  const std::int64_t matrix[2] = {1, 4}, vector[1] = {2};
  const methods::TensorInfo infos[2] = {{"w", matrix}, {"b", vector}};
  std::unique_ptr<methods::Method> method;

  explicit ByHand(const Options& options) : method(admm(options)) {
    remembered.resize(method->remembers(infos));
    methods::SharedModel model = seen(0, false);
    model.mean.clear();
    method->start(model);
  }
  methods::SharedModel seen(double epoch, bool last) {
    return {.moment = {.epoch = epoch},
            .next = {.epoch = epoch + 0.5},
            .last = last,
            .tensors = infos,
            .weights = {weights, bias},
            .mean = {mean, bias_mean},
            .remembered = remembered};
  }
  std::vector<float> part(std::size_t first) const {
    return {remembered.begin() + static_cast<std::ptrdiff_t>(first),
            remembered.begin() + static_cast<std::ptrdiff_t>(first) + 4};
  }
  std::vector<float> quantised() const { return part(3); }
  std::vector<float> dual() const { return part(7); }
  double figure(const std::string& name) const {
    for (const auto& [each, value] : method->figures(remembered))
      if (each == name) return value;
    return -1;
  }
};

void check_near(const std::vector<float>& values, const std::vector<double>& expected) {
  REQUIRE(values.size() == expected.size());
  for (std::size_t e = 0; e < values.size(); ++e)
    CHECK(values[e] == Approx(expected[e]).margin(1e-6));
}

scenarios::Scenario text_scenario(const Options& options, int steps = 12,
                                  const char* method = "admm") {
  scenarios::Scenario scenario = digits_scenario("char-lstm", method);
  scenario.workload.data_set = "markov";
  scenario.workload.data_options = {{"tokens", "2560"}, {"held_out_tokens", "640"}};
  scenario.workload.hidden = std::vector<std::int64_t>{12};
  scenario.workload.embedding = 8;
  scenario.workload.batch_per_worker = 4;  // 5 steps of 4 workers an epoch
  scenario.workload.optimizer = "adam";
  scenario.workload.learning_rate = 0.01;
  scenario.workload.steps = steps;
  scenario.method.options = options;
  scenario.hash = "00000000000000ab";
  return scenario;
}

compressors::ModelFile file_of(const LockstepRun& run) {
  return compressors::read_model_file(run.trainer->model_file(), "this run's");
}

std::vector<float> values_of(const compressors::StoredTensor& tensor) {
  std::vector<float> values(tensor.elements());
  compressors::load_tensor(tensor, values);
  return values;
}

std::vector<float> drawn(std::size_t n, std::uint32_t number) {
  std::vector<float> values(n);
  for (std::size_t e = 0; e < n; ++e) values[e] = 2 * uniform({.seed = 5, .worker = number}, e) - 1;
  return values;
}

double error_of(const std::vector<float>& x, const std::vector<float>& y) {
  double sum = 0;
  for (std::size_t e = 0; e < x.size(); ++e) sum += std::pow(double{x[e]} - double{y[e]}, 2);
  return sum;
}

std::vector<float> projected(const char* table, const char* tie, const std::vector<float>& values,
                             std::int64_t iterations = 5) {
  const std::int64_t shape[] = {4, static_cast<std::int64_t>(values.size()) / 4};
  std::vector<float> result(values.size());
  const methods::LowbitTensor tensors[] = {{shape, values, result}};
  methods::LowbitProjection{table, tie, iterations}.project(tensors);
  return result;
}

}  // namespace

TEST_CASE("the worked example: projection, dual and penalty by hand", "[admm]") {
  ByHand hand({{"rho", "0.5"}, {"clip", "0"}});
  // alpha = (0.9 + 0.35 + 0.6) / 3; G = alpha (1, 0, 1, -1).
  const double a = 1.85 / 3;
  check_near(hand.quantised(), {a, 0, a, -a});
  CHECK(hand.dual() == std::vector<float>(4, 0.0f));
  methods::SharedModel model = hand.seen(0, false);
  REQUIRE(hand.method->accept(model));
  // mean + rho (W - G + u), u = 0; vectors are left alone.
  check_near(hand.mean, {0.1 + 0.5 * (0.9 - a), 0.2 + 0.5 * -0.2, 0.3 + 0.5 * (0.35 - a),
                         0.4 + 0.5 * (a - 0.6)});
  CHECK(hand.bias_mean == std::vector<float>{3, 4});
  // Half an epoch on, nothing happens; a whole one on, u = 0 + W - G.
  hand.method->finish(model);
  CHECK(hand.dual() == std::vector<float>(4, 0.0f));
  model = hand.seen(0.5, false);
  hand.method->finish(model);
  check_near(hand.dual(), {0.283333, -0.2, -0.266667, 0.016667});
  CHECK(hand.figure("final_rho") == Approx(0.65));
  CHECK(hand.figure("outer_steps") == 1);
  // |W - G|^2 = 0.191667, |W|^2 = 1.3325.
  CHECK(hand.figure("primal_residual") == Approx(std::sqrt(0.191667 / 1.3325)).epsilon(1e-5));
  // The next: V = W + u = (1.18333, -0.4, 0.083333, -0.583333): 0.5625 first, then
  // q = (1, -1, 0, -1) and alpha = 2.166667 / 3, above whose half are the same.
  hand.mean = {0, 0, 0, 0};
  model = hand.seen(1.5, false);
  hand.method->accept(model);
  check_near(hand.mean, {0.65 * (0.9 - a + 0.283333), 0.65 * -0.4, 0.65 * (0.35 - a - 0.266667),
                         0.65 * (a - 0.6 + 0.016667)});
  hand.method->finish(model);
  check_near(hand.quantised(), {0.722222, -0.722222, 0, -0.722222});
  check_near(hand.dual(), {1.183333 - 0.722222, -0.4 + 0.722222, 0.083333, -0.583333 + 0.722222});
}

TEST_CASE("the last step projects, wherever in an epoch it is; without rho there is no dual",
          "[admm]") {
  ByHand hand({{"rho", "0"}, {"clip", "0"}});
  hand.weights = {0.5f, 0.5f, -0.25f, 0};
  const std::vector<float> before = hand.mean;
  methods::SharedModel model = hand.seen(0, true);
  hand.method->accept(model);
  CHECK(hand.mean == before);
  hand.method->finish(model);
  CHECK(hand.quantised() == projected("ternary", "model", hand.weights));
  CHECK(hand.dual() == std::vector<float>(4, 0.0f));
}

TEST_CASE("the gradient of all tensors together is clipped, penalty included", "[admm]") {
  // |mean|^2 = 0.01 + 0.04 + 0.09 + 0.16 + 9 + 16 = 25.3.
  ByHand hand({{"rho", "0"}, {"clip", "1"}});
  methods::SharedModel model = hand.seen(0, false);
  hand.method->accept(model);
  check_near(hand.bias_mean, {3 / std::sqrt(25.3), 4 / std::sqrt(25.3)});
  check_near(hand.mean, {0.1 / std::sqrt(25.3), 0.2 / std::sqrt(25.3), 0.3 / std::sqrt(25.3),
                         0.4 / std::sqrt(25.3)});
}

TEST_CASE("the penalty's gradient is that of rho / 2 |W - G + u|^2, by differences", "[admm]") {
  ByHand hand({{"rho", "0.3"}, {"clip", "0"}, {"table", "pm0124"}});
  methods::SharedModel model = hand.seen(0.5, false);
  hand.method->finish(model);  // so that u is not 0
  hand.mean = {0, 0, 0, 0};
  model = hand.seen(1, false);
  hand.method->accept(model);
  const double rho = hand.figure("final_rho");
  const auto penalty = [&](std::vector<float> weights) {
    double sum = 0;
    for (std::size_t e = 0; e < 4; ++e)
      sum += std::pow(double{weights[e]} - double{hand.quantised()[e]} + double{hand.dual()[e]}, 2);
    return rho / 2 * sum;
  };
  for (std::size_t e = 0; e < 4; ++e) {
    std::vector<float> more = hand.weights, less = hand.weights;
    more[e] += 0.01f;
    less[e] -= 0.01f;
    CHECK((penalty(more) - penalty(less)) / (double{more[e]} - double{less[e]}) ==
          Approx(hand.mean[e]).margin(1e-5));
  }
}

TEST_CASE("projections: on the table, idempotent, of no larger error with more iterations",
          "[admm]") {
  const std::vector<float> values = drawn(64, 1);
  for (const char* table : {"binary", "ternary", "pm012", "pm0124"})
    for (const char* tie : {"model", "layer", "node"}) {
      CAPTURE(table, tie);
      const std::vector<float> once = projected(table, tie, values);
      CHECK(projected(table, tie, once) == once);
      std::vector<float> tripled = values;
      for (float& value : tripled) value *= 4;  // a power of two: to the bit
      std::vector<float> expected = once;
      for (float& value : expected) value *= 4;
      CHECK(projected(table, tie, tripled) == expected);
      double before = INFINITY;
      for (const int iterations : {1, 2, 3, 5, 20}) {
        const double error = error_of(values, projected(table, tie, values, iterations));
        CHECK(error <= before * (1 + 1e-12));
        before = error;
      }
    }
  CHECK(error_of(values, projected("ternary", "node", values)) <
        error_of(values, projected("ternary", "layer", values)));
}

TEST_CASE("the file, decoded, is the quantised model to the bit, and as long as the formula",
          "[admm]") {
  const char* const table = GENERATE("binary", "ternary", "pm012", "pm0124");
  const char* const tie = GENERATE("model", "layer", "node");
  CAPTURE(table, tie);
  LockstepRun run(text_scenario({{"table", table}, {"tie", tie}}, 6));
  run.steps(6);
  // The reference: the same as the trainer's own, through the method's hook.
  const compressors::ModelFile file = file_of(run);
  CHECK(file.seed == 1);
  CHECK(file.scenario == 0xab);
  const int bits = std::string(table) == "binary" ? 1 : std::string(table) == "ternary" ? 2 : 3;
  std::size_t size = 24 + 4;
  std::vector<float> matrices;
  for (const compressors::StoredTensor& tensor : file.tensors) {
    const std::size_t n = tensor.elements();
    size += 1 + tensor.name.size() + 1 + 4 * tensor.shape.size() + 8 + tensor.payload.size();
    const std::vector<float> values = values_of(tensor);
    if (tensor.shape.size() == 1) {
      CHECK(tensor.codec == "none");
      CHECK(tensor.payload.size() == 4 * n);
      size += 1 + 4;
      continue;
    }
    CHECK(tensor.codec == "lowbit");
    size += 1 + 6;
    const std::size_t groups =
        std::string(tie) == "node" ? static_cast<std::size_t>(tensor.shape[0]) : 1;
    CHECK(tensor.payload.size() == 12 + 4 * groups + (static_cast<std::size_t>(bits) * n + 7) / 8);
    // What is on the table already is its own projection.
    matrices.insert(matrices.end(), values.begin(), values.end());
  }
  CHECK(run.trainer->model_file().size() == size);
  CHECK(run.figure("model_file_bytes") == static_cast<double>(size));
  CHECK(run.figure("fp32_model_bytes") == 4.0 * static_cast<double>(run.trainer->parameters()));
  // G, as it is remembered and saved with the run: the checkpoint holds these very floats.
  std::stringstream checkpoint;
  run.trainer->save(checkpoint);
  const std::string saved = checkpoint.str();
  for (const compressors::StoredTensor& tensor : file.tensors) {
    if (tensor.shape.size() == 1) continue;
    const std::vector<float> values = values_of(tensor);
    CHECK(saved.find(std::string(reinterpret_cast<const char*>(values.data()),
                                 4 * values.size())) != std::string::npos);
  }
}

TEST_CASE("evaluations are of the file that is read back, not of the weights", "[admm]") {
  LockstepRun run(text_scenario({}, 10));
  run.steps(10);
  const scenarios::Evaluation made = run.trainer->evaluate();
  const std::vector<std::byte> bytes = run.trainer->model_file();
  const std::vector<float> weights = run.weights();
  // Another trainer of the scenario, which has learnt nothing.
  const scenarios::Evaluation back =
      make_trainer(text_scenario({}, 10), {.threads = 2})->evaluate_file(bytes, "m");
  CHECK(back.loss == made.loss);
  CHECK(back.accuracy == made.accuracy);
  CHECK(run.weights() == weights);
  // The weights themselves, which method none scores, are another model.
  LockstepRun plain(text_scenario({}, 10, "none"));
  plain.steps(10);
  CHECK(plain.trainer->evaluate_file(plain.trainer->model_file(), "m").loss ==
        plain.trainer->evaluate().loss);
  CHECK(plain.trainer->evaluate().loss != made.loss);
}

TEST_CASE("a file of another model, or a damaged one, is refused by name", "[admm]") {
  LockstepRun run(text_scenario({}, 2));
  std::vector<std::byte> bytes = run.steps(2).trainer->model_file();
  scenarios::Scenario other = text_scenario({}, 2);
  other.workload.hidden = std::vector<std::int64_t>{16};
  CHECK_THROWS_WITH(make_trainer(other, {})->evaluate_file(bytes, "a.grwm"),
                    Catch::Contains("cannot evaluate model file a.grwm: it has "
                                    "lstm.weight_ih of 48x8 where this model has "
                                    "lstm.weight_ih of 64x8; name the scenario"));
  CHECK_THROWS_WITH(make_trainer(digits_scenario("mlp"), {})->evaluate_file(bytes, "a.grwm"),
                    Catch::Contains("it has 7 tensors, and this model has 6"));
  bytes[40] ^= std::byte{1};
  CHECK_THROWS_WITH(run.trainer->evaluate_file(bytes, "a.grwm"),
                    Catch::Contains("cannot read model file a.grwm") &&
                        Catch::Contains("damaged") && Catch::Contains("export the model again"));
}

TEST_CASE("running statistics are kept with a model", "[admm]") {
  scenarios::Scenario scenario = digits_scenario("mlp", "admm");
  scenario.workload.normalisation = "batch";
  scenario.workload.steps = 20;
  LockstepRun run(scenario);
  run.steps(20);
  const scenarios::Evaluation made = run.trainer->evaluate();
  CHECK(make_trainer(scenario, {})->evaluate_file(run.trainer->model_file(), "m").loss ==
        made.loss);
  CHECK(file_of(run).tensors.back().name == "statistics");
}

TEST_CASE("without penalty or table training is plain, to the bit", "[admm]") {
  LockstepRun plain(text_scenario({}, 12, "none"));
  const std::vector<float> weights = plain.steps(12).weights();
  const std::uint64_t hash = plain.trainer->learning_hash();
  const scenarios::Evaluation score = plain.trainer->evaluate();
  LockstepRun after(text_scenario({{"rho", "0"}, {"clip", "0"}}));
  CHECK(after.steps(12).weights() == weights);
  CHECK(after.trainer->learning_hash() == hash);
  CHECK(after.trainer->evaluate().loss != score.loss);  // quantised after training
  LockstepRun fp32(text_scenario({{"table", "fp32"}, {"clip", "0"}}));
  CHECK(fp32.steps(12).weights() == weights);
  CHECK(fp32.trainer->learning_hash() == hash);
  CHECK(fp32.trainer->evaluate().loss == score.loss);
  CHECK_FALSE(fp32.figure("model_file_bytes").has_value());
  // Negative control: the penalty changes what is learnt.
  CHECK(LockstepRun(text_scenario({{"clip", "0"}})).steps(12).weights() != weights);
}

TEST_CASE("passes that see quantised weights have gradients that change the real ones", "[admm]") {
  const LayerRules rules =
      make_layer_rules({{"straight-through", {{"table", 0}, {"tie", 1}, {"iterations", 5}}}});
  const Layer layer{LayerKind::kLinear, 0, true};
  at::Tensor w = at::tensor({0.5f, -1.5f}).reshape({1, 2}).requires_grad_(true);
  const at::Tensor b = at::tensor({2.0f}), x = at::tensor({3.0f, 5.0f}).reshape({1, 2});
  const auto compute = [](const at::Tensor& in, std::span<const at::Tensor> seen) {
    return at::linear(in, seen[0], seen[1]);
  };
  const std::vector<at::Tensor> weights = {w, b};
  // proj(w) = (1, -1): 3 - 5 + 2; its gradient x goes to w.
  const at::Tensor y = rules[0]->forward(layer, x, weights, compute);
  CHECK(y.item<float>() == 0);
  y.sum().backward();
  CHECK(w.grad()[0][0].item<float>() == 3);
  CHECK(w.grad()[0][1].item<float>() == 5);
  Layer evaluated = layer;
  evaluated.training = false;
  CHECK(rules[0]->forward(evaluated, x, weights, compute).item<float>() == 3 * 0.5f - 5 * 1.5f + 2);
  // In a run: the model is proj(W) at the end.
  LockstepRun run(text_scenario({{"straight_through", "true"}, {"table", "binary"}}, 10));
  run.steps(10);
  CHECK(run.figure("final_rho") == 0);
  CHECK(run.weights() != LockstepRun(text_scenario({{"rho", "0"}}, 10)).steps(10).weights());
  CHECK_THROWS_WITH(admm({{"straight_through", "true"}, {"tie", "model"}}),
                    Catch::Contains("its own weights alone"));
  CHECK_THROWS_WITH(admm({{"straight_through", "true"}, {"table", "fp32"}}),
                    Catch::Contains("nothing is quantised"));
}

TEST_CASE("the same on any number of threads and from a checkpoint", "[admm]") {
  const Options options = GENERATE(Options{}, Options{{"tie", "node"}, {"every", "0.5"}},
                                   Options{{"straight_through", "true"}});
  const scenarios::Scenario scenario = text_scenario(options, 24);
  LockstepRun whole(scenario);
  whole.steps(24);
  for (const int threads : {2, 4}) {
    LockstepRun run(scenario, threads);
    CHECK(run.steps(24).trainer->learning_hash() == whole.trainer->learning_hash());
    CHECK((run.trainer->model_file() == whole.trainer->model_file()));
  }
  LockstepRun first(scenario), second(scenario);
  first.steps(13);
  std::stringstream checkpoint;
  first.trainer->save(checkpoint);
  second.trainer->load(checkpoint);
  second.steps(11);
  CHECK(second.trainer->learning_hash() == whole.trainer->learning_hash());
  CHECK((second.trainer->model_file() == whole.trainer->model_file()));
  CHECK(second.figure("primal_residual") == whole.figure("primal_residual"));
  CHECK(second.trainer->evaluate().loss == whole.trainer->evaluate().loss);
}

}  // namespace gradwire::trainers
