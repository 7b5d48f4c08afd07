#include "trainers/timing/model_profile.h"

#include <torch/script.h>

#include <catch2/catch.hpp>
#include <fstream>

#include "base/file_descriptor.h"
#include "scenarios/profiles/profile_json.h"
#include "tests/trainers/support.h"
#include "trainers/replays/profile_replay.h"
#include "trainers/timing/codec_costs.h"
#include "trainers/timing/profiled_model.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using Catch::Contains;
using Layer = scenarios::WorkloadProfile::Layer;

/// A convolution, a pool, a linear layer whose weight is transposed by hand, and a parameter that
/// nothing takes.
std::string save_small_model(const TemporaryFolder& folder) {
  torch::jit::Module module("Small");
  const auto add = [&](const char* name, std::vector<std::int64_t> shape) {
    module.register_parameter(name, (torch::randn(shape) * 0.1).set_requires_grad(true),
                              /*is_buffer=*/false);
  };
  add("weight", {8, 3, 3, 3});
  add("bias", {8});
  add("matrix", {10, 512});
  add("idle", {7});
  module.define(R"JIT(
    def forward(self, x):
        y = torch.relu(torch.conv2d(x, self.weight, self.bias, [1, 1], [1, 1]))
        y = torch.flatten(torch.max_pool2d(y, [2, 2]), 1)
        return torch.mm(y, torch.t(self.matrix))
  )JIT");
  module.save(folder.file("small.pt"));
  return folder.file("small.pt");
}

ModelProfileRequest small_request(const TemporaryFolder& folder) {
  ModelProfileRequest request;
  request.model = save_small_model(folder);
  request.input = "3x16x16";
  request.batch = 4;
  return request;
}

const Layer& layer_of_kind(const scenarios::WorkloadProfile& table, const std::string& kind) {
  for (const Layer& layer : table.layers)
    if (layer.kind == kind) return layer;
  FAIL("no layer of kind " << kind);
  return table.layers.front();
}

TEST_CASE("a TorchScript file's operations are counted from one pass") {
  const TemporaryFolder folder;
  ModelProfileRequest request = small_request(folder);
  request.measure = false;
  const ModelProfileResult result = profile_model(request, {});
  const Layer& convolution = layer_of_kind(result.table, "conv2d");
  // Each of 8 x 16 x 16 results meets 3 x 3 x 3 weights.
  CHECK(convolution.flops == 2 * 8 * 16 * 16 * 27);
  CHECK(convolution.elements == 8 * 27 + 8);
  CHECK(convolution.inputs == 3 * 16 * 16);
  CHECK(convolution.activations == 8 * 16 * 16);
  REQUIRE(convolution.tensors.size() == 2);
  CHECK(convolution.tensors[0].shape == std::vector<std::int64_t>{8, 3, 3, 3});
  // The transposed view of the matrix belongs to the product: 512 x 10 weights.
  const Layer& product = layer_of_kind(result.table, "mm");
  CHECK(product.flops == 2 * 512 * 10);
  CHECK(product.elements == 5120);
  CHECK(product.tensors[0].shape == std::vector<std::int64_t>{10, 512});
  CHECK(layer_of_kind(result.table, "relu").elements == 0);
  CHECK(result.table.elements() == 8 * 27 + 8 + 5120);
  CHECK(result.unused == std::vector<std::string>{"idle"});
  CHECK(result.repetitions == 0);
  CHECK_FALSE(result.table.layers[0].has_times);
}

TEST_CASE("a TorchScript file's times become a profile that runs") {
  const TemporaryFolder folder;
  int calls = 0;
  ModelProfileResult result =
      profile_model(small_request(folder), [&](int done, int total) { calls += done < total; });
  CHECK(result.repetitions >= 5);
  CHECK(calls == result.repetitions);
  double forward = 0, backward = 0;
  for (const Layer& layer : result.table.layers) {
    CHECK(layer.has_times);
    forward += 4 * layer.forward_per_sample.value();
    backward += 4 * layer.backward_per_sample.value();
  }
  // Rows sum to the pass, but for medians of parts not being parts of the median.
  CHECK(forward == Approx(result.forward.value()).epsilon(0.5));
  CHECK(backward == Approx(result.backward.value()).epsilon(0.5));
  // Both convolutions of the backward pass are charged to the layer that made them.
  const Layer& convolution = layer_of_kind(result.table, "conv2d");
  CHECK(convolution.backward_per_sample > Seconds(0));
  CHECK(result.table.update.value() > Seconds(0));

  result.table.origin = {"small", "measured", "A test.", ""};
  write_file(folder.file("small.json"), scenarios::profile_text(result.table));
  scenarios::Scenario scenario = digits_scenario();
  scenario.workload.kind = scenarios::WorkloadKind::kProfile;
  scenario.workload.profile = folder.file("small.json");
  const auto replay = make_profile_replay(scenario);
  CHECK(replay->parameters() == 5344);
  CHECK(replay->prepare().forward.value() ==
        Approx(16 * forward / 4).epsilon(1e-4));  // batches of 16
}

TEST_CASE("a tied weight counts once, tokens are drawn, results may be tuples") {
  const TemporaryFolder folder;
  torch::jit::Module module("Tied");
  module.register_parameter("words", torch::randn({50, 6}).set_requires_grad(true), false);
  module.define(R"JIT(
    def forward(self, tokens, scale):
        y = torch.embedding(self.words, tokens) * scale
        return (torch.matmul(y, torch.t(self.words)), tokens)
  )JIT");
  module.save(folder.file("tied.pt"));
  ModelProfileRequest request;
  request.model = folder.file("tied.pt");
  request.input = "5:50,5x6";
  request.batch = 2;
  request.measure = false;
  const ModelProfileResult result = profile_model(request, {});
  CHECK(result.table.elements() == 300);
  CHECK(layer_of_kind(result.table, "embedding").elements == 300);
  CHECK(layer_of_kind(result.table, "matmul").flops == 2 * 5 * 6 * 50);
}

TEST_CASE("a model by name has the parameters and products of its network") {
  ModelProfileRequest request;
  request.model = "mlp";
  request.data_set = "digits";
  request.batch = 8;
  request.measure = false;
  const ModelProfileResult result = profile_model(request, {});
  // 64 - 256 - 128 - 10.
  CHECK(result.table.elements() == 64 * 256 + 256 + 256 * 128 + 128 + 1280 + 10);
  double flops = 0;
  for (const Layer& layer : result.table.layers)
    if (layer.kind == "linear") flops += static_cast<double>(layer.flops);
  CHECK(flops == 2.0 * (64 * 256 + 256 * 128 + 1280));
}

TEST_CASE("a recurrence multiplies by all of its weights at every step") {
  const TemporaryFolder folder;
  std::string text;
  while (text.size() < 20'000) text += "the quick brown fox jumps over the lazy dog. ";
  write_file(folder.file("text.txt"), text);
  ModelProfileRequest request;
  request.model = "char-lstm";
  request.data_set = "text";
  request.data_path = folder.file("text.txt");
  request.batch = 2;
  request.measure = false;
  const ModelProfileResult result = profile_model(request, {});
  const Layer& lstm = layer_of_kind(result.table, "lstm");
  const std::int64_t steps = lstm.activations / 128;  // and the last states
  const std::int64_t per_step = 2 * (512 * 32 + 512 * 128);
  CHECK(lstm.flops % per_step == 0);
  CHECK(lstm.flops / per_step == steps - 2);
  CHECK(lstm.elements == 512 * 32 + 512 * 128 + 1024);
}

TEST_CASE("what is no model is refused with what to do") {
  const TemporaryFolder folder;
  ModelProfileRequest request = small_request(folder);
  const auto message = [&] {
    try {
      profile_model(request, {});
    } catch (const TrainerError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  request.input = "";
  CHECK_THAT(message(), Contains("does not say its input's shape") && Contains("--input"));
  request.input = "3x16";
  CHECK_THAT(message(), Contains("cannot run a pass") && Contains("check --input"));
  request.input = "3y16";
  CHECK_THAT(message(), Contains("\"3y16\" is no extent"));
  request.input = "3x16x16";
  request.model = folder.file("absent.pt");
  CHECK_THAT(message(), Contains("there is no such file"));
  write_file(folder.file("text.pt"), "not a model");
  request.model = folder.file("text.pt");
  CHECK_THAT(message(), Contains("torch.jit.script"));
  torch::jit::Module empty("Empty");
  empty.define("def forward(self, x):\n    return x * 2\n");
  empty.save(folder.file("empty.pt"));
  request.model = folder.file("empty.pt");
  CHECK_THAT(message(), Contains("no trainable parameters"));
}

TEST_CASE("inputs are read from their shapes") {
  const std::vector<InputSpec> specs = parse_inputs("3x224x224,128:30522,7");
  REQUIRE(specs.size() == 3);
  CHECK(specs[0].shape == std::vector<std::int64_t>{3, 224, 224});
  CHECK(specs[1].tokens == 30522);
  CHECK(specs[2].shape == std::vector<std::int64_t>{7});
  for (const char* bad : {"", "x", "3x", "-1", "3:4:5", "3x0", "1e3"})
    CHECK_THROWS_AS(parse_inputs(bad), TrainerError);
}

TEST_CASE("codec costs are lines through measured times") {
  const auto costs = measure_codec_costs({}, {"fp16", "topk"});
  REQUIRE(costs.size() == 2);
  for (const auto& [name, codec] : costs) {
    INFO(name);
    CHECK(codec.encode.per_element > Seconds(0));
    CHECK(codec.encode.fixed >= Seconds(0));
    CHECK(codec.encode.time(1'000'000) < Seconds(1));
  }
}

}  // namespace
}  // namespace gradwire::trainers
