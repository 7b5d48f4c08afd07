#include <catch2/catch.hpp>
#include <cmath>

#include "base/file_descriptor.h"
#include "tests/skip.h"
#include "tests/trainers/support.h"
#include "trainers/data/generated.h"
#include "trainers/passes/replica.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

DataSet images(int channels, int side, std::size_t samples) {
  DataSet data;
  data.name = "made up";
  data.classes = 10;
  data.channels = channels;
  data.height = data.width = side;
  data.pixels.resize(samples * data.features());
  for (std::size_t i = 0; i < data.pixels.size(); ++i) {
    data.pixels[i] = static_cast<std::uint8_t>(philox_word({3, 0, 0, 0}, i));
  }
  for (std::size_t i = 0; i < samples; ++i)
    data.labels.push_back(static_cast<std::uint8_t>(i % 10));
  split_by_seed(data, samples, samples / 4, 1);
  normalise(data);
  return data;
}

std::int64_t parameters_of(const std::string& model, const DataSet& data) {
  const auto made = make_model(model, data, "cpu");
  return Layout(made->parameters(), Bytes(1)).elements();
}

/// Halves images four times.
ModelChoice small_cnn() {
  ModelChoice choice("cnn");
  choice.hidden = {4, 4, 4, 4, 4, 4, 4};
  return choice;
}

TEST_CASE("models have the parameters of their definitions") {
  const DataSet mnist = images(1, 28, 40), digits = images(1, 8, 40), cifar = images(3, 32, 40);
  CHECK(parameters_of("logistic", digits) == 64 * 10 + 10);
  CHECK(parameters_of("mlp", digits) == 50826);  // 64-256-128-10
  // Caffe's LeNet: 520 + 25,050 + 400,500 + 5,010.
  CHECK(parameters_of("lenet5", mnist) == 431080);
  // 3x3 kernels: 200 + 9,050 + 100,500 + 5,010.
  CHECK(parameters_of("lenet5", digits) == 114760);
  // 160 + 4,640 + 9,248, and 1,290 for 32 maps of 2x2, since two of three are pooled.
  CHECK(parameters_of("cnn", digits) == 15338);
  CHECK_THROWS_WITH(make_model(small_cnn(), digits, "cpu"), Catch::Contains("too small"));
  // Convolutions 432 + 6 * 2,304 + (4,608 + 5 * 9,216) + (18,432 + 5 * 36,864) = 267,696;
  // normalisations 2 * (7 * 16 + 6 * 32 + 6 * 64) = 1,376; last layer 650.
  CHECK(parameters_of("resnet20", cifar) == 267696 + 1376 + 650);
  // 50 tokens and 32 places of 128; blocks of 512 + 49,536 + 16,512 + 66,048 + 65,664; the last
  // norm and 50 results.
  CHECK(parameters_of("transformer", make_markov(640, 32, 1)) ==
        82 * 128 + 4 * 198272 + 256 + 50 * 129);
  CHECK_THROWS_AS(make_model("lenet6", mnist, "cpu"), TrainerError);
  CHECK_THROWS_WITH(make_model("char-lstm", mnist, "cpu"), Catch::Contains("data set of text"));
}

/// The gradient along itself, by central differences of the loss: |g|^2.
void check_gradient(const ModelChoice& choice, const DataSet& data, double tolerance) {
  const auto model = make_model(choice, data, "cpu");
  const Layout layout(model->parameters(), Bytes(25'000'000));
  std::vector<float> weights(static_cast<std::size_t>(layout.elements()));
  std::vector<float> statistics = model->initial_statistics();
  initialise(model->parameters(), layout, 1, weights);
  const auto replica = model->make_replica(layout, weights, statistics);
  Batch batch;
  gather(data, std::span(data.train).first(8), batch);
  const auto gradients = replica->make_gradients(), scrap = replica->make_gradients();
  replica->train_pass(batch, {}, *gradients);
  double square = 0;
  std::vector<float> flat;
  for (const auto tensor : gradients->tensors()) {
    for (const float g : tensor) square += double{g} * g, flat.push_back(g);
  }
  REQUIRE(flat.size() == weights.size());
  const std::vector<float> start = weights;
  const auto loss_at = [&](double step) {
    for (std::size_t e = 0; e < flat.size(); ++e) {
      weights[e] = static_cast<float>(start[e] + step * flat[e]);
    }
    return replica->train_pass(batch, {}, *scrap);
  };
  const double h = 1e-2 / std::sqrt(square);
  const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
  INFO(choice.name << ": slope " << slope << ", |g|^2 " << square);
  CHECK(slope == Approx(square).epsilon(tolerance));
}

/// "hidden1.weight 64 64; ...": the model's parameters with their shapes.
std::string names_of(const ModelChoice& choice, const DataSet& data) {
  std::string text;
  const auto model = make_model(choice, data, "cpu");
  for (const Parameter& parameter : model->parameters()) {
    text += parameter.name;
    for (const std::int64_t side : parameter.shape) text += " " + std::to_string(side);
    text += "; ";
  }
  return text;
}

TEST_CASE("widths, biases and embeddings are as asked") {
  DataSet digits = images(1, 8, 40);
  ModelChoice choice("mlp");
  choice.hidden = {64};
  CHECK(names_of(choice, digits) ==
        "hidden1.weight 64 64; hidden1.bias 64; output.weight 10 64; output.bias 10; ");
  choice.bias = false;
  CHECK(names_of(choice, digits) == "hidden1.weight 64 64; output.weight 10 64; ");
  choice.hidden.emplace();
  choice.bias = true;
  CHECK(names_of(choice, digits) == names_of("logistic", digits));
  // Two classes: one output of logistic regression, two of an mlp.
  digits.classes = 2;
  for (std::uint8_t& label : digits.labels) label %= 2;
  CHECK(names_of("logistic", digits) == "output.weight 1 64; output.bias 1; ");
  CHECK(names_of(choice, digits) == "output.weight 2 64; output.bias 2; ");
  check_gradient("logistic", digits, 0.01);
  choice.hidden = {32, 16};
  choice.activation = "tanh";
  choice.bias = false;
  check_gradient(choice, digits, 0.01);
  const DataSet tokens = make_markov(640, 32, 1);
  ModelChoice lstm("char-lstm");
  lstm.embedding = 8;
  lstm.hidden = {16};
  CHECK(names_of(lstm, tokens) ==
        "embedding.weight 50 8; lstm.weight_ih 64 8; lstm.weight_hh 64 16; lstm.bias_ih 64; "
        "lstm.bias_hh 64; output.weight 50 16; output.bias 50; ");
  check_gradient(lstm, tokens, 0.02);
  ModelChoice transformer("transformer");
  transformer.embedding = 8;
  transformer.heads = 2;
  transformer.hidden = {16};
  CHECK(names_of(transformer, tokens) ==
        "token.weight 50 8; place.weight 32 8; block1.norm1.scale 8; block1.norm1.shift 8; "
        "block1.qkv.weight 24 8; block1.qkv.bias 24; block1.project.weight 8 8; "
        "block1.project.bias 8; block1.norm2.scale 8; block1.norm2.shift 8; "
        "block1.first.weight 16 8; block1.first.bias 16; block1.second.weight 8 16; "
        "block1.second.bias 8; norm.scale 8; norm.shift 8; output.weight 50 8; output.bias 50; ");
  check_gradient(transformer, tokens, 0.02);
  check_gradient("transformer", tokens, 0.02);
  transformer.heads = 3;
  CHECK_THROWS_WITH(make_model(transformer, tokens, "cpu"),
                    Catch::Contains("3 heads cannot share a width of 8"));
}

TEST_CASE("gradients are the slopes of the loss, in the layout's order") {
  const DataSet digits = images(1, 8, 40);
  check_gradient("logistic", digits, 0.01);
  check_gradient("mlp", digits, 0.01);
  check_gradient("lenet5", digits, 0.02);
  check_gradient("cnn", images(1, 8, 40), 0.02);
  check_gradient("resnet20", images(3, 16, 40), 0.05);
}

TEST_CASE("a dense network normalises its products by batches") {
  const DataSet digits = images(1, 8, 40);
  ModelChoice choice("mlp");
  choice.hidden = {12};
  choice.normalised = true;
  CHECK(names_of(choice, digits) ==
        "hidden1.weight 12 64; hidden1.bias 12; hidden1.scale 12; hidden1.shift 12; "
        "output.weight 10 12; output.bias 10; output.scale 10; output.shift 10; ");
  CHECK(make_model(choice, digits, "cpu")->initial_statistics().size() == 2 * (12 + 10));
  check_gradient(choice, digits, 0.05);
  // Without biases: a batch's mean is taken off anyway.
  choice.bias = false;
  check_gradient(choice, digits, 0.05);
}

TEST_CASE("the squared hinge loss is that of its formula") {
  // Weights 0: all results are those of the biases, (1.5, 0, -2, 0, ...). A sample of class c has
  // the sum of max(0, 1 - t y)^2: were none the class, (1 + 1.5)^2 + 0^2 + 8 = 14.25; class 0:
  // 0 in place of 6.25; class 2: 9 in place of 0; others: 1 in place of 1. A mean of 10 results.
  DataSet digits = images(1, 8, 40);
  for (std::uint8_t& label : digits.labels) label %= 3;
  ModelChoice choice("logistic");
  choice.loss = "squared-hinge";
  const auto model = make_model(choice, digits, "cpu");
  const Layout layout(model->parameters(), Bytes(25'000'000));
  std::vector<float> weights(static_cast<std::size_t>(layout.elements())), statistics;
  for (const TensorSlot& slot : layout.tensors())
    if (slot.shape.size() == 1) {
      weights[static_cast<std::size_t>(slot.first)] = 1.5f;
      weights[static_cast<std::size_t>(slot.first) + 2] = -2;
    }
  const auto replica = model->make_replica(layout, weights, statistics);
  Batch batch;
  gather(digits, std::span(digits.train).first(12), batch);
  double sum = 0;
  for (const std::int64_t label : batch.targets) sum += label == 0 ? 8 : label == 1 ? 14.25 : 23.25;
  CHECK(replica->evaluate(batch, {}).loss == Approx(sum / 10));
  check_gradient(choice, digits, 0.02);
}

TEST_CASE("models of text learn a repeating one") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 32 * 80) text += "the quick brown fox jumps. ";
  write_file(folder.file("text.txt"), text);
  scenarios::Scenario scenario = digits_scenario();
  scenario.file = folder.file("scenario.json");
  scenario.workload.data_set = "text";
  scenario.workload.data_path = "text.txt";  // relative to the scenario
  scenario.workload.optimizer = "adam";
  scenario.workload.learning_rate = 0.01;
  scenario.workload.batch_per_worker = 8;
  scenario.workload.steps = 30;
  scenario.cluster.workers = 2;
  for (const char* model : {"char-lstm", "transformer"}) {
    INFO(model);
    scenario.workload.model = model;
    if (scenario.workload.model == "transformer") scenario.workload.embedding = 32;
    const auto trainer = make_trainer(scenario, {});
    const double before = trainer->evaluate().accuracy;
    trainer->prepare();
    scenarios::StepPlan plan;
    while (trainer->next(plan)) {
    }
    CHECK(before < 0.3);
    CHECK(trainer->evaluate().accuracy > 0.8);
  }
}

TEST_CASE("batch normalisation keeps worker 0's running statistics, on any number of threads") {
  std::vector<std::vector<float>> kept;
  for (const int threads : {1, 2}) {
    const DataSet data = images(3, 16, 60);
    const auto model = make_model("resnet20", data, "cpu");
    const Layout layout(model->parameters(), Bytes(25'000'000));
    std::vector<float> weights(static_cast<std::size_t>(layout.elements()));
    std::vector<float> statistics = model->initial_statistics();
    initialise(model->parameters(), layout, 1, weights);
    WorkerPool pool(threads);
    std::vector<std::unique_ptr<Replica>> replicas;
    for (int t = 0; t < threads; ++t) {
      replicas.push_back(model->make_replica(layout, weights, statistics));
    }
    pool.run(4, [&](int worker, int thread) {
      Batch batch;
      gather(data, std::span(data.train).subspan(static_cast<std::size_t>(8 * worker), 8), batch);
      Replica& replica = *replicas[static_cast<std::size_t>(thread)];
      const auto gradients = replica.make_gradients();
      replica.train_pass(batch, {.record_statistics = worker == 0}, *gradients);
    });
    CHECK(statistics != model->initial_statistics());
    kept.push_back(statistics);
  }
  CHECK(kept[0] == kept[1]);
}

TEST_CASE("a GPU that is not there is a missing capability, with the reason", "[needs-no-gpu]") {
  const DataSet data = images(1, 8, 40);
  try {
    make_model("mlp", data, "cuda");
    testing::skip("a GPU is here: the refusal cannot be tried");
  } catch (const TrainerError& error) {
    CHECK(error.kind() == ErrorKind::kCapability);
    CHECK_THAT(error.what(), Catch::Contains("device cuda"));
  }
}

}  // namespace
}  // namespace gradwire::trainers
