// LibTorch has a CHECK of its own, and so comes before Catch2.
#include <ATen/ops/ones_like.h>

#include "trainers/passes/layer_rules.h"

#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "tests/trainers/methods/lockstep_run.h"
#include "trainers/methods/catalogue.h"
#include "trainers/methods/comet.h"
#include "trainers/methods/comet_packing.h"
#include "trainers/passes/replica.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// COMET: what is packed and how exactly, gradients against LibTorch's, the model of their error,
/// who chooses bounds when, what LibTorch's allocator counts.
namespace gradwire::trainers {
namespace {

using methods::CometMemory;
using Options = std::map<std::string, std::string>;
using Memory = std::array<float, CometMemory::kFloats>;

std::vector<float> values_of(const at::Tensor& values) {
  const at::Tensor flat = values.detach().contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

/// Normal numbers by counter, those below `threshold` set to 0 (as after a ReLU).
at::Tensor drawn(std::vector<std::int64_t> shape, std::uint32_t number, float threshold = -1e9f) {
  at::Tensor values = at::zeros(shape);
  float* const to = values.data_ptr<float>();
  const RandomStream stream{.seed = 11, .worker = number};
  for (std::int64_t e = 0; e < values.numel(); ++e) {
    float sum = -6;  // of twelve uniforms: nearly normal
    for (int i = 0; i < 12; ++i) sum += uniform(stream, static_cast<std::uint64_t>(12 * e + i));
    to[e] = sum < threshold ? 0 : sum;
  }
  return values;
}

LayerRules rules_of(std::map<std::string, double> changed = {}) {
  std::map<std::string, double> options = {
      {"predictor", 0}, {"radius", 512}, {"masks", 1}, {"batch", 0}};
  for (const auto& [name, value] : changed) options[name] = value;
  return make_layer_rules({{"comet", options}});
}

/// A convolution of 3x3, with its gradients after a backward pass from a loss map.
struct Convolution {
  at::Tensor x, w, b, loss_map;
  std::int64_t stride = 1, padding = 1;

  Convolution(std::int64_t in, std::int64_t out, std::int64_t side, float threshold,
              std::uint32_t number)
      : x(drawn({16, in, side, side}, number, threshold)),
        w(drawn({out, in, 3, 3}, number + 1)),
        b(drawn({out}, number + 2)),
        loss_map(drawn({16, out, side, side}, number + 3) * 1e-3) {}

  struct Gradients {
    at::Tensor y, dx, dw, db;
  };
  Gradients with(const LayerRules& rules, std::span<float> memory, bool watch = false) const {
    at::Tensor input = x.clone().requires_grad_(true);
    const std::vector<at::Tensor> weights = {w.clone().requires_grad_(true),
                                             b.clone().requires_grad_(true)};
    const LayerFunction compute = [&](const at::Tensor& in, std::span<const at::Tensor> own) {
      return at::conv2d(in, own[0], own[1], {stride, stride}, {padding, padding});
    };
    Layer layer{LayerKind::kConvolution, 2, true};
    layer.memory = memory;
    layer.watch = watch;
    const at::Tensor y =
        rules.empty() ? compute(input, weights) : rules[0]->forward(layer, input, weights, compute);
    const at::Tensor map = stride == 1 ? loss_map : at::ones_like(y);
    (y * map).sum().backward();
    return {y, input.grad(), weights[0].grad(), weights[1].grad()};
  }
};

double root_mean_square(const at::Tensor& values) {
  return std::sqrt(values.square().mean().item<double>());
}

scenarios::Scenario scenario_with(const Options& options, int steps = 12,
                                  const char* method = "comet", const char* model = "cnn") {
  scenarios::Scenario scenario = digits_scenario(model, method);
  scenario.method.options = options;
  scenario.workload.steps = steps;
  return scenario;
}

std::vector<float> unpacked(const compressors::Codec& codec, std::span<const float> values,
                            std::int64_t columns) {
  const auto blocks = methods::pack_blocks(codec, values, columns);
  const std::vector<std::byte> kept(blocks.begin(), blocks.end());
  std::vector<float> back(values.size(), -1);
  methods::unpack_blocks(codec, kept, columns, back);
  return back;
}

TEST_CASE("a bit for each element of a ReLU, 2 for each window", "[comet]") {
  const std::vector<float> y = {0, 1, 2, 0, 0, 3, -0.0f, std::nanf(""), 0, 5};
  std::vector<std::byte> bits(2);
  methods::pack_passed(y, bits);
  // NaN lets gradients pass.
  CHECK((bits == std::vector{std::byte{0b10100110}, std::byte{0b10}}));
  std::vector<float> passed(10);
  methods::unpack_passed(bits, passed);
  CHECK(passed == std::vector<float>{0, 1, 1, 0, 0, 1, 0, 1, 0, 1});
  // Windows of a plane of 2 x 5, whose last column is in none: rows 0 to 4 and 5 to 9.
  const std::vector<std::int64_t> indices = {6, 2, 0, 8};  // two planes
  std::vector<std::byte> places(1);
  methods::pack_places({2, 5}, indices, places);
  CHECK((places == std::vector{std::byte{0b11'00'00'11}}));
  std::vector<std::int64_t> back(4);
  methods::unpack_places({2, 5}, places, back);
  CHECK(back == indices);
}

TEST_CASE("the bound always holds, and zeros stay zeros", "[comet]") {
  const std::vector<float> special = {0.0f,    -0.0f,
                                      1e30f,   -1e30f,
                                      3e38f,   std::numeric_limits<float>::denorm_min(),
                                      -1e-40f, 0.1f,
                                      -0.1f,   0.05f,
                                      0.0999f, 12345.678f,
                                      1.0f,    std::numeric_limits<float>::max()};
  std::vector<float> sparse = values_of(drawn({300, 700}, 1, 0.3f));  // more than a block's 262,144
  sparse.resize(300 * 1000);
  const std::vector<std::pair<std::vector<float>, std::int64_t>> tensors = {
      {special, 7}, {std::vector<float>(99, 0.75f), 9}, {{}, 4}, {{0.2f}, 1}, {sparse, 100}};
  for (const char* predictor : {"none", "1d", "2d", "auto"})
    for (const char* bound : {"0.1", "0.003", "1e-20", "1e20"}) {
      CAPTURE(predictor, bound);
      const auto codec = compressors::make_codec(
          "sz", {{"bound", bound}, {"mode", "absolute"}, {"predictor", predictor}});
      const double eb = static_cast<float>(std::stod(bound));
      for (const auto& [values, columns] : tensors) {
        const std::vector<float> back = unpacked(*codec, values, columns);
        for (std::size_t e = 0; e < values.size(); ++e) {
          const double ulp =
              std::nextafter(std::fabs(back[e]), std::numeric_limits<float>::infinity()) -
              std::fabs(static_cast<double>(back[e]));
          const double error =
              std::fabs(static_cast<double>(back[e]) - static_cast<double>(values[e]));
          REQUIRE(error <= eb * (1 + 1e-6) + (std::isfinite(ulp) ? ulp : 0));
          if (values[e] == 0) REQUIRE(back[e] == 0);
        }
      }
    }
}

TEST_CASE("the gradient of weights alone sees the error", "[comet]") {
  for (const std::int64_t stride : {1, 2})
    for (const double predictor : {0, 1, 2, 3}) {
      Convolution layer(3, 5, 9, 0.0f, 20);
      layer.stride = stride;
      layer.padding = stride == 1 ? 1 : 0;
      Memory memory{0.05f};
      const auto plain = layer.with({}, {}),
                 packed = layer.with(rules_of({{"predictor", predictor}}), memory);
      CHECK(at::equal(packed.y, plain.y));
      CHECK(at::equal(packed.dx, plain.dx));
      CHECK(at::equal(packed.db, plain.db));
      CHECK_FALSE(at::equal(packed.dw, plain.dw));
      // It is that of x', to the bit.
      Convolution of_kept = layer;
      const auto codec = compressors::make_codec("sz", {{"bound", "0.05"}, {"mode", "absolute"}});
      const std::vector<float> kept = unpacked(*codec, values_of(layer.x), 9);
      of_kept.x = at::tensor(kept).reshape(layer.x.sizes());
      CHECK(at::equal(packed.dw, of_kept.with({}, {}).dw));
      memory[CometMemory::kBound] = 0;  // the exact path
      CHECK(at::equal(layer.with(rules_of(), memory).dw, plain.dw));
    }
}

TEST_CASE("the weight gradient's error has the deviation of the model", "[comet]") {
  struct Shape {
    std::int64_t in, out, side;
  };
  const LayerRules rules = rules_of();
  for (const Shape& shape : {Shape{4, 8, 16}, {16, 16, 12}, {8, 32, 8}})
    for (const float threshold : {-1e9f, 0.0f, 0.8f}) {  // shares of about 1, 1/2 and 1/5
      const Convolution layer(shape.in, shape.out, shape.side, threshold, 40);
      const auto plain = layer.with({}, {});
      double before = 0;
      for (const float bound : {0.2f, 0.1f, 0.05f}) {
        CAPTURE(shape.in, threshold, bound);
        Memory memory{bound};
        const at::Tensor error = layer.with(rules, memory, /*watch=*/true).dw - plain.dw;
        const double sigma = methods::gradient_deviation(bound, memory[CometMemory::kShare],
                                                         memory[CometMemory::kLossSquares]);
        const double measured = root_mean_square(error);
        CHECK(measured / sigma > 0.85);
        CHECK(measured / sigma < 1.15);
        const double within = error.abs().le(sigma).to(at::kFloat).mean().item<double>();
        CHECK(std::fabs(within - 0.68) < 0.07);
        CHECK(memory[CometMemory::kError] <= bound * 1.000001f);
        CHECK(memory[CometMemory::kStored] < 4 * memory[CometMemory::kElements] / 2);
        if (before > 0) CHECK(measured / before == Approx(0.5).epsilon(0.15));
        before = measured;
      }
    }
}

TEST_CASE("the model needs zeros that stay: negative control", "[comet]") {
  // An error on all elements, as of a codec that turns zeros into small numbers.
  const Convolution layer(8, 16, 12, 0.8f, 60);
  Memory memory{0.1f};
  const auto plain = layer.with(rules_of(), memory, true);
  Convolution noisy = layer;
  at::Tensor noise = at::zeros(layer.x.sizes());
  for (std::int64_t e = 0; e < noise.numel(); ++e)
    noise.data_ptr<float>()[e] =
        0.1f * (2 * uniform({.seed = 5}, static_cast<std::uint64_t>(e)) - 1);
  noisy.x = layer.x + noise;
  const double measured = root_mean_square(noisy.with({}, {}).dw - layer.with({}, {}).dw);
  const double sigma = methods::gradient_deviation(0.1, memory[CometMemory::kShare],
                                                   memory[CometMemory::kLossSquares]);
  CHECK(measured / sigma > 1.5);  // sqrt(1 / R), R being about 0.21
}

TEST_CASE("ReLU and pooling go back as LibTorch's, to the bit", "[comet]") {
  const LayerRules rules = rules_of();
  const auto gradient = [&](const LayerKind kind, const at::Tensor& x, bool ruled,
                            const LayerFunction& compute) {
    at::Tensor input = x.clone().requires_grad_(true);
    const at::Tensor inner = input * 1.0;  // a result of its own, as a layer before has
    const Layer layer{kind, 0, true};
    const at::Tensor y = ruled ? rules[0]->forward(layer, inner, {}, compute) : compute(inner, {});
    (y * drawn(y.sizes().vec(), 80)).sum().backward();
    return input.grad();
  };
  const LayerFunction relu = [](const at::Tensor& x, auto) { return at::relu(x); };
  const LayerFunction pool = [](const at::Tensor& x, auto) { return at::max_pool2d(x, {2, 2}); };
  const LayerFunction mean = [](const at::Tensor& x, auto) { return at::mean(x, {2, 3}); };
  for (const auto& [rows, columns] : {std::pair{8, 8}, {7, 9}, {2, 3}, {5, 2}}) {
    at::Tensor x = drawn({3, 2, rows, columns}, 70, 0.5f);  // ties, at 0
    CAPTURE(rows, columns);
    CHECK(at::equal(gradient(LayerKind::kActivation, x, true, relu),
                    gradient(LayerKind::kActivation, x, false, relu)));
    CHECK(at::equal(gradient(LayerKind::kPooling, x, true, pool),
                    gradient(LayerKind::kPooling, x, false, pool)));
    CHECK(at::equal(gradient(LayerKind::kPooling, x, true, mean),
                    gradient(LayerKind::kPooling, x, false, mean)));
  }
}

/// Bytes that a pass over 32 glyph-sized images keeps, as LibTorch's allocator counts them.
std::int64_t kept_bytes(const char* model, const std::map<std::string, double>* options,
                        std::span<float> memory = {}) {
  DataSet data = load_digits(1);
  const auto made = make_model(model, data, "cpu");
  const Layout layout(made->parameters(), Bytes(25'000'000));
  std::vector<float> weights(static_cast<std::size_t>(layout.elements()));
  std::vector<float> statistics = made->initial_statistics();
  initialise(made->parameters(), layout, 1, weights);
  const auto replica = made->make_replica(layout, weights, statistics);
  Batch batch;
  gather(data, std::span(data.train).first(32), batch);
  PassOptions pass;
  if (options) pass.layer_rules = {{"comet", *options}};
  pass.layer_memory = memory;
  return *replica->activation_bytes(batch, pass);
}

TEST_CASE("what a pass keeps is counted, and is an eighth or less", "[comet]") {
  std::map<std::string, double> options = {
      {"predictor", 0}, {"radius", 512}, {"masks", 1}, {"batch", 0}};
  const std::int64_t plain = kept_bytes("cnn", nullptr);
  // 16, 32 and 32 maps of 8x8 pixels, a sample: results of ReLU 4 (1,024 + 512 + 512), pooled
  // 4 (256 + 128), indices 8 (256 + 128); then log-probabilities and a loss.
  CHECK(plain == 32 * (4 * (1024 + 512 + 512) + 12 * (256 + 128) + 4 * 10) + 8);
  std::vector<float> exact(8 * CometMemory::kFloats);
  // Bounds of 0: a bit, 2 bits, and the inputs of two convolutions and of the dense layer.
  CHECK(kept_bytes("cnn", &options, exact) ==
        32 * ((1024 + 512 + 512) / 8 + (256 + 128) / 4 + 4 * (256 + 512 + 128) + 4 * 10) + 8);
  const std::int64_t packed = kept_bytes("cnn", &options);  // with bounds of 1 % of the range
  CHECK(packed * 8 < plain);
  // Negative control: results of ReLU stay, and indices.
  options["masks"] = 0;
  CHECK(kept_bytes("cnn", &options) > 32 * (4 * (1024 + 512 + 512) + 8 * (256 + 128)));
}

TEST_CASE("bounds follow momentum, loss map and share", "[comet]") {
  // sigma = eb sqrt(R S / 3): R = 0.5, S = 6e-4, eb = 0.1 -> 0.1 sqrt(1e-4) = 1e-3.
  CHECK(methods::gradient_deviation(0.1, 0.5, 6e-4) == Approx(1e-3));
  CHECK(methods::error_bound(0.01, 0.1, 0.5, 6e-4) == Approx(0.1));
  CHECK(methods::error_bound(0.01, 0.1, 0, 6e-4) == 0);  // nothing to compress, or no loss map
  CHECK(methods::error_bound(0.01, 0.1, 0.5, 0) == 0);
  CHECK(methods::error_bound(0, 0.1, 0.5, 6e-4) == 0);
}

/// Steps of a method at which bounds are chosen, while momenta are what `momentum` says.
std::vector<std::int64_t> refreshes(const Options& options, int steps,
                                    const std::function<double(std::int64_t)>& momentum) {
  const methods::MethodRow& row = *methods::find_method("comet");
  const auto method = row.make({.options = OptionValues(row.options, options), .workers = 2});
  const std::vector<std::int64_t> matrix = {3, 4}, kernels = {5, 4, 3, 3};
  const std::vector<methods::TensorInfo> tensors = {{"dense", matrix}, {"conv", kernels}};
  std::vector<float> remembered(method->remembers(tensors));
  methods::SharedModel model{.tensors = tensors, .remembered = remembered};
  std::int64_t step = 0;
  model.mean_momentum = [&](std::size_t) { return momentum(step); };
  method->start(model);
  std::vector<std::int64_t> found;
  for (; step < steps; ++step) {
    model.moment.step = step;
    for (int worker = 0; worker < 2; ++worker) {
      const auto layer = method->layer_memory(remembered, worker).subspan(CometMemory::kFloats);
      layer[CometMemory::kShare] = 0.5f;
      layer[CometMemory::kLossSquares] = worker == 0 ? 6e-4f : 24e-4f;
    }
    if (method->watches_layers(model.moment, remembered)) found.push_back(step);
    method->finish(model);
  }
  // Worker 1's loss map is twice as large, so its bound is half of worker 0's.
  const auto bound = [&](int worker) {
    return method->layer_memory(remembered, worker)[CometMemory::kFloats];
  };
  CHECK(bound(0) == Approx(0.01 * momentum(found.back()) / std::sqrt(1e-4)));
  CHECK(bound(1) == Approx(bound(0) / 2));
  return found;
}

TEST_CASE("bounds are chosen seldom where they stay, often where they move", "[comet]") {
  using Steps = std::vector<std::int64_t>;
  const auto steady = [](std::int64_t) { return 0.1; };
  CHECK(refreshes({{"adaptive", "false"}, {"interval", "10"}}, 35, steady) == Steps{0, 10, 20, 30});
  CHECK(refreshes({{"interval", "8"}}, 35, steady) == Steps{0, 1, 3, 7, 15, 23, 31});
  CHECK(refreshes({{"interval", "1"}}, 4, steady) == Steps{0, 1, 2, 3});
  // From step 8 on momenta fall to a third from one step to the next: by 3^8, 3^4, 3^2, then 3.
  const auto moving = [](double factor) {
    return [factor](std::int64_t step) {
      return step < 8 ? 0.1 : 0.1 * std::pow(factor, static_cast<double>(step - 7));
    };
  };
  CHECK(refreshes({{"interval", "64"}}, 24, moving(1.0 / 3)) == Steps{0, 1, 3, 7, 15, 19, 21, 22});
  // By 1.2^8 = 4.3, then by 1.2^4; by 1.1^8 = 2.1.
  CHECK(refreshes({{"interval", "64"}}, 30, moving(1.2)) == Steps{0, 1, 3, 7, 15, 19, 27});
  CHECK(refreshes({{"interval", "64"}}, 30, moving(1.1)) == Steps{0, 1, 3, 7, 15});
}

TEST_CASE("a target of 0 is the plain parent, to the bit", "[comet]") {
  for (const char* model : {"cnn", "lenet5", "resnet20"}) {
    CAPTURE(model);
    const int steps = std::string(model) == "resnet20" ? 2 : 12;
    const auto weights = [&](const Options& options, const char* method) {
      return LockstepRun(scenario_with(options, steps, method, model)).steps(steps).weights();
    };
    const std::vector<float> plain = weights({}, "none");
    CHECK(weights({{"target", "0"}}, "comet") == plain);
    CHECK(weights({{"target", "0"}, {"batch", "true"}}, "comet") == plain);
    CHECK(weights({}, "comet") != plain);
  }
}

TEST_CASE("the first step is exact, later ones are not", "[comet]") {
  const auto weights = [](const char* method, int steps) {
    return LockstepRun(scenario_with({}, 3, method)).steps(steps).weights();
  };
  CHECK(weights("comet", 1) == weights("none", 1));
  CHECK(weights("comet", 2) != weights("none", 2));
}

TEST_CASE("a run's figures say what is kept, and how wrong gradients are", "[comet]") {
  LockstepRun run(scenario_with({{"batch", "true"}}, 60)), plain(scenario_with({}, 60, "none"));
  run.steps(60);
  plain.steps(60);
  for (const char* number : {"_1", "_2", "_3"}) {
    CAPTURE(number);
    const auto of_layer = [&](const std::string& name) {
      return run.figure(name + number).value();
    };
    // Bounds that are large beside the values make smaller errors than the model has.
    CHECK(of_layer("gradient_error_over_sigma") > 0.5);
    CHECK(of_layer("gradient_error_over_sigma") < 1.15);
    CHECK(of_layer("saved_bits_per_element") < 16);
  }
  CHECK(*run.figure("largest_error_over_bound") <= 1.000001);
  CHECK(*run.figure("largest_error_over_bound") > 0.5);
  // A batch of 16: 64 pixels, 16 maps of 4x4, 32 of 4x4.
  CHECK(run.figure("conv_inputs_bytes") == 4 * 16 * (64 + 256 + 512));
  CHECK(*run.figure("conv_inputs_saved_bytes") < 4 * 16 * (64 + 256 + 512) / 2);
  CHECK(*run.figure("memory_activations_bytes") * 4 < *plain.figure("memory_activations_bytes"));
  // Without the batch's, of two layers; figures leave no trace.
  const std::uint64_t hash = run.trainer->learning_hash();
  run.figure("bound_refreshes");
  CHECK(run.trainer->learning_hash() == hash);
  LockstepRun two(scenario_with({}, 4));
  CHECK_FALSE(two.steps(4).figure("error_bound_3").has_value());
}

TEST_CASE("runs are the same on any number of threads and from a checkpoint", "[comet]") {
  const scenarios::Scenario scenario = scenario_with({{"interval", "16"}}, 40);
  LockstepRun whole(scenario);
  whole.steps(1);
  const double start = whole.plan.loss;
  whole.steps(39);
  CHECK(whole.plan.loss < 0.8 * start);
  for (const int threads : {2, 4})
    CHECK(LockstepRun(scenario, threads).steps(40).trainer->learning_hash() ==
          whole.trainer->learning_hash());
  LockstepRun first(scenario), second(scenario);
  first.steps(21);  // between two choices of bounds
  std::stringstream checkpoint;
  first.trainer->save(checkpoint);
  second.trainer->load(checkpoint);
  second.steps(19);
  CHECK(second.trainer->learning_hash() == whole.trainer->learning_hash());
  CHECK(second.figure("error_bound_1") == whole.figure("error_bound_1"));
}

TEST_CASE("activation checkpointing and ZeRO go with it", "[comet]") {
  scenarios::Scenario scenario = scenario_with({}, 12);
  const std::vector<float> weights = LockstepRun(scenario).steps(12).weights();
  scenario.workload.checkpoint_activations = 2;
  CHECK(LockstepRun(scenario).steps(12).weights() == weights);
  scenario.workload.checkpoint_activations = 0;
  scenario.exchange.zero = 2;
  CHECK(LockstepRun(scenario).steps(12).weights() == weights);
}

}  // namespace
}  // namespace gradwire::trainers
