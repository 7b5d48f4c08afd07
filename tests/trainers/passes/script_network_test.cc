#include <torch/script.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/file_descriptor.h"
#include "tests/trainers/support.h"
#include "trainers/data/generated.h"
#include "trainers/passes/replica.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Catch::Contains;

/// A module of tensors by name and a forward function.
torch::jit::Module script(const std::vector<std::pair<std::string, std::vector<std::int64_t>>>& of,
                          const std::string& forward) {
  torch::jit::Module module("Own");
  for (const auto& [name, shape] : of)
    module.register_parameter(name, (torch::ones(shape) * 0.01).set_requires_grad(true), false);
  module.define(forward);
  return module;
}

const std::string kLinear = R"JIT(
  def forward(self, x):
      return torch.linear(torch.flatten(x, 1), self.weight, self.bias)
)JIT";

ModelChoice saved(const TemporaryFolder& folder, const torch::jit::Module& module) {
  module.save(folder.file("own.pt"));
  ModelChoice choice("torchscript");
  choice.file = folder.file("own.pt");
  return choice;
}

/// What a pass over the first `count` samples gives, the weights being 0.01, 0.02, ... 0.07, 0.01.
struct Passed {
  double loss = 0;
  std::vector<float> gradients, statistics;
};

Passed pass(const ModelChoice& choice, const DataSet& data, std::size_t count,
            const PassOptions& options) {
  const auto model = make_model(choice, data, "cpu");
  const Layout layout(model->parameters(), Bytes(1));
  std::vector<float> weights(static_cast<std::size_t>(layout.elements()));
  for (std::size_t e = 0; e < weights.size(); ++e)
    weights[e] = 0.01f * static_cast<float>(e % 7 + 1);
  std::vector<float> statistics = model->initial_statistics();
  const auto replica = model->make_replica(layout, weights, statistics);
  const auto gradients = replica->make_gradients();
  Batch batch;
  gather(data, std::span(data.train).first(count), batch);
  Passed passed;
  passed.loss = replica->train_pass(batch, options, *gradients);
  for (const auto tensor : gradients->tensors())
    passed.gradients.insert(passed.gradients.end(), tensor.begin(), tensor.end());
  passed.statistics = statistics;
  return passed;
}

TEST_CASE("a TorchScript file trains as the same model that is built in") {
  const TemporaryFolder folder;
  const DataSet digits = load_digits(1);
  const auto own = pass(saved(folder, script({{"weight", {10, 64}}, {"bias", {10}}}, kLinear)),
                        digits, 16, {.record_statistics = true});
  const auto built_in = pass("logistic", digits, 16, {.record_statistics = true});
  CHECK(own.loss == built_in.loss);
  CHECK(own.gradients == built_in.gradients);
}

TEST_CASE("a TorchScript file is neither cut into segments nor given layer rules") {
  const TemporaryFolder folder;
  const DataSet digits = load_digits(1);
  const ModelChoice linear = saved(folder, script({{"weight", {10, 64}}, {"bias", {10}}}, kLinear));
  CHECK_THROWS_WITH(pass(linear, digits, 16, {.checkpoint_segments = 1}),
                    Contains("layers of a saved model"));
  CHECK_THROWS_WITH(pass(linear, digits, 16, {.layer_rules = {{"any"}}}),
                    Contains("layers of a saved model"));
}

TEST_CASE("training starts from the weights of the file") {
  const TemporaryFolder folder;
  const auto model =
      make_model(saved(folder, script({{"weight", {10, 64}}, {"bias", {10}}}, kLinear)),
                 load_digits(1), "cpu");
  const Layout layout(model->parameters(), Bytes(1));
  std::vector<float> weights(650);
  initialise(model->parameters(), layout, 7, weights);
  CHECK(weights == std::vector<float>(650, 0.01f));
}

TEST_CASE("a loss by name is that of its definition") {
  // Weights 0: every result is 0. Cross-entropy: ln 10. Mean square against 1 for one class of ten:
  // 1 / 10. nll of a log-softmax is the cross-entropy.
  const TemporaryFolder folder;
  const DataSet digits = load_digits(1);
  const auto loss = [&](const std::string& name, const std::string& forward) {
    ModelChoice choice = saved(folder, script({{"weight", {10, 64}}, {"bias", {10}}}, forward));
    choice.loss = name;
    const auto model = make_model(choice, digits, "cpu");
    const Layout layout(model->parameters(), Bytes(1));
    std::vector<float> weights(650, 0.0f), statistics;
    Batch batch;
    gather(digits, std::span(digits.held_out).first(50), batch);
    return model->make_replica(layout, weights, statistics)->evaluate(batch, {}).loss / 50;
  };
  const std::string log_softmax = R"JIT(
    def forward(self, x):
        y = torch.linear(torch.flatten(x, 1), self.weight, self.bias)
        return torch.log_softmax(y, 1)
  )JIT";
  CHECK(loss("cross-entropy", kLinear) == Approx(std::log(10.0)));
  CHECK(loss("nll", log_softmax) == Approx(std::log(10.0)));
  CHECK(loss("mse", kLinear) == Approx(0.1));
}

TEST_CASE("running statistics are kept where a pass records them") {
  const TemporaryFolder folder;
  torch::jit::Module own("Own");
  own.register_parameter("weight", torch::ones({10, 64}).set_requires_grad(true), false);
  own.register_buffer("mean", torch::zeros({10}));
  own.register_buffer("variance", torch::ones({10}));
  own.register_buffer("batches", torch::zeros({}, torch::kLong));
  own.define(R"JIT(
      def forward(self, x):
          self.batches.add_(1)
          y = torch.linear(torch.flatten(x, 1), self.weight) * self.batches
          return torch.batch_norm(y, None, None, self.mean, self.variance, True, 0.5, 1e-5, False)
    )JIT");
  const DataSet digits = load_digits(1);
  const ModelChoice choice = saved(folder, own);
  const Passed kept = pass(choice, digits, 16, {.record_statistics = true}),
               other = pass(choice, digits, 16, {});
  REQUIRE(kept.statistics.size() == 20);
  CHECK(other.statistics == make_model(choice, digits, "cpu")->initial_statistics());
  CHECK(kept.statistics != other.statistics);
  CHECK(kept.gradients == other.gradients);
}

TEST_CASE("what cannot be trained is refused with its reason") {
  const TemporaryFolder folder;
  const DataSet digits = load_digits(1);
  const auto made = [&](const torch::jit::Module& module) {
    make_model(saved(folder, module), digits, "cpu");
  };
  CHECK_THROWS_WITH(made(script({{"weight", {9, 64}}, {"bias", {9}}}, kLinear)),
                    Contains("gives 2 x 9 values") && Contains("2 x 10"));
  CHECK_THROWS_WITH(made(script({{"weight", {10, 63}}, {"bias", {10}}}, kLinear)),
                    Contains("own.pt") && Contains("batch of the data set's samples"));
  CHECK_THROWS_WITH(made(script({{"weight", {10, 64}}, {"bias", {10}}, {"idle", {3}}}, kLinear)),
                    Contains("parameter idle has no part in the result"));
  CHECK_THROWS_WITH(made(script({{"weight", {10, 64}}, {"bias", {10}}}, R"JIT(
    def forward(self, x):
        y = torch.dropout(torch.flatten(x, 1), 0.5, True)
        return torch.linear(y, self.weight, self.bias)
  )JIT")),
                    Contains("draws random numbers"));
  CHECK_THROWS_WITH(made(script({}, R"JIT(
    def forward(self, x):
        return torch.flatten(x, 1)
  )JIT")),
                    Contains("no trainable parameters"));
  ModelChoice absent("torchscript");
  absent.file = folder.file("absent.pt");
  CHECK_THROWS_WITH(make_model(absent, digits, "cpu"), Contains("there is no such file"));
  write_file(folder.file("text.pt"), "no model");
  absent.file = folder.file("text.pt");
  CHECK_THROWS_AS(make_model(absent, digits, "cpu"), TrainerError);
}

TEST_CASE("tied weights stay one parameter") {
  const TemporaryFolder folder;
  torch::jit::Module module("Own");
  const at::Tensor shared = (torch::ones({10, 64}) * 0.01).set_requires_grad(true);
  module.register_parameter("first", shared, false);
  module.register_parameter("second", shared, false);
  module.define(R"JIT(
    def forward(self, x):
        y = torch.flatten(x, 1)
        return torch.linear(y, self.first) + torch.linear(y, self.second)
  )JIT");
  const auto model = make_model(saved(folder, module), load_digits(1), "cpu");
  REQUIRE(model->parameters().size() == 1);
  CHECK(model->parameters()[0].name == "first");
}

}  // namespace
}  // namespace gradwire::trainers
