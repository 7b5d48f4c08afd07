// LibTorch has a CHECK of its own, and so comes before Catch2.
#include "trainers/passes/layer_rules.h"

#include "tests/trainers/schedules/rounds_fixture.h"
#include "trainers/methods/catalogue.h"

/// ZeroFL: sparse passes by hand-computed gradients, what clients send, degenerate settings.
namespace gradwire::trainers {
namespace {

using namespace rounds;
using Options = std::map<std::string, std::string>;

std::unique_ptr<methods::Method> zerofl(const Options& options) {
  const methods::MethodRow* row = methods::find_method("zerofl");
  REQUIRE(row != nullptr);
  return row->make({.options = OptionValues(row->options, options)});
}

at::Tensor tensor(const std::vector<float>& values, std::vector<std::int64_t> shape) {
  return at::tensor(values).reshape(shape);
}

std::vector<float> values_of(const at::Tensor& values) {
  const at::Tensor flat = values.contiguous();
  return {flat.data_ptr<float>(), flat.data_ptr<float>() + flat.numel()};
}

at::Tensor linear(const at::Tensor& input, std::span<const at::Tensor> weights) {
  return at::linear(input, weights[0], weights[1]);
}

/// What the rule makes of a layer of 2 x 3 weights with an input of 2 samples.
struct Passed {
  at::Tensor x = tensor({1, -2, 0.5f, 0.25f, 3, -1}, {2, 3});
  at::Tensor w = tensor({0.1f, -0.5f, 0.3f, 0.2f, 0.4f, -0.05f}, {2, 3});
  at::Tensor b = tensor({1, -1}, {2});
  at::Tensor y;

  explicit Passed(const Layer& layer, double sparsity = 0.5) {
    for (at::Tensor* each : {&x, &w, &b}) each->requires_grad_(true);
    const LayerRules rules = make_layer_rules({{"swat", {{"sparsity", sparsity}}}});
    const std::vector<at::Tensor> weights = {w, b};
    y = rules[0]->forward(layer, x, weights, linear);
  }
};

const Layer kTrained{LayerKind::kLinear, 0, true};

/// Logistic regression has one layer, which is the last; a network of two.
scenarios::Scenario federated(const std::string& method, const Options& options = {}) {
  scenarios::Scenario scenario = in_rounds(4, 3, 3);
  scenario.workload.model = "mlp";
  scenario.workload.hidden = std::vector<std::int64_t>{12};
  scenario.method.name = method;
  scenario.method.options = options;
  return scenario;
}

}  // namespace

TEST_CASE("a sparse layer takes the largest weights forward and back, the largest inputs for them",
          "[zerofl]") {
  const Passed passed(kTrained);
  // ceil(0.5 * 6) = 3 of each: of w -0.5, 0.3, 0.4; of x -2, 3 and, of 1 and -1, the first.
  const at::Tensor sparse_w = tensor({0, -0.5f, 0.3f, 0, 0.4f, 0}, {2, 3});
  const at::Tensor sparse_x = tensor({1, -2, 0, 0, 3, 0}, {2, 3});
  CHECK(values_of(passed.y) == values_of(at::linear(passed.x, sparse_w, passed.b)));
  passed.y.sum().backward();
  const at::Tensor ones = tensor({1, 1, 1, 1}, {2, 2});
  CHECK(values_of(passed.x.grad()) == values_of(ones.mm(sparse_w)));
  CHECK(values_of(passed.w.grad()) == values_of(ones.t().mm(sparse_x)));  // dense
  CHECK((values_of(passed.b.grad()) == std::vector<float>{2, 2}));
  // Negative control: a dense layer has others.
  const Passed dense(kTrained, 0);
  dense.y.sum().backward();
  CHECK(values_of(dense.x.grad()) != values_of(passed.x.grad()));
  CHECK(values_of(dense.w.grad()) == values_of(ones.t().mm(dense.x)));
}

TEST_CASE("the last layer and layers that are not linear in their weights stay as they are",
          "[zerofl]") {
  Layer last = kTrained;
  last.last = true;
  const Passed passed(last);
  CHECK(values_of(passed.y) == values_of(at::linear(passed.x, passed.w, passed.b)));
  const Passed other({LayerKind::kNormalisation, 0, true});
  CHECK(values_of(other.y) == values_of(passed.y));
}

TEST_CASE("evaluations are sparse, too", "[zerofl]") {
  const Passed evaluated({LayerKind::kLinear, 0, false}), trained(kTrained);
  CHECK(values_of(evaluated.y) == values_of(trained.y));
}

TEST_CASE("zeroing weights that are left out changes nothing", "[zerofl]") {
  const Passed passed(kTrained);
  const LayerRules rules = make_layer_rules({{"swat", {{"sparsity", 0.5}}}});
  const std::vector<at::Tensor> weights = {tensor({0, -0.5f, 0.3f, 0, 0.4f, 0}, {2, 3}), passed.b};
  CHECK(values_of(rules[0]->forward(kTrained, passed.x, weights, linear)) == values_of(passed.y));
}

TEST_CASE("changes at the largest weights: the others are left out", "[zerofl]") {
  // The worked example of the paper's three ways, kappa = 0.3 of 10: 2, 5 and 8 have the largest
  // trained weights; their changes are 0.6, -0.5 and 0.
  const std::vector<float> sent = {.5f, -.4f, .3f, 0, .2f, -.1f, .05f, .6f, -.7f, .01f};
  const std::vector<float> trained = {.55f, -.35f, .9f, .02f, .2f, -.6f, .05f, .58f, -.7f, 0};
  std::vector<float> upload(10), all(10);
  for (std::size_t e = 0; e < 10; ++e) upload[e] = all[e] = trained[e] - sent[e];
  const auto method = zerofl({{"sparsity", "0.8"}, {"upload", "diff-on-weights"}});
  method->mask_upload(0, trained, upload);
  for (std::size_t e = 0; e < 10; ++e)
    CHECK(upload[e] == (e == 2 || e == 5 || e == 8 ? all[e] : 0.0f));
  // The last layer and vectors go whole, and so does all that the other ways send.
  std::vector<float> whole = all;
  method->mask_upload(1, trained, whole);
  CHECK(whole == all);
  zerofl({{"sparsity", "0.8"}, {"upload", "weights-diff"}})->mask_upload(0, trained, whole);
  CHECK(whole == all);
  const std::int64_t matrix[] = {4, 4}, vector[] = {4};
  CHECK(method->set_of({"fc1.weight", matrix}) == 0);
  CHECK(method->set_of({"fc2.weight", matrix, true}) == 1);
  CHECK(method->set_of({"fc1.bias", vector}) == 1);
}

TEST_CASE("sp = 0 is federated averaging, r = sp is that of sparse layers, bit for bit",
          "[zerofl]") {
  const Outcome plain = run(federated("none"));
  for (const char* upload : {"weights", "diff-on-weights", "weights-diff"}) {
    INFO(upload);
    CHECK(run(federated("zerofl", {{"sparsity", "0"}, {"upload", upload}})).hash == plain.hash);
  }
  const Outcome sparse = run(federated("zerofl", {{"sparsity", "0.9"}, {"mask_ratio", "0.9"}}));
  CHECK(sparse.hash != plain.hash);
  for (const char* upload : {"diff-on-weights", "weights-diff"}) {
    INFO(upload);
    const Options options = {{"sparsity", "0.9"}, {"mask_ratio", "0.9"}, {"upload", upload}};
    CHECK(run(federated("zerofl", options)).hash == sparse.hash);
  }
}

TEST_CASE("bytes of an upload: a share of the first matrix, the rest whole", "[zerofl]") {
  // 64 x 12 weights, of which ceil(0.2 * 768) = 154 are sent, 8 B each and 8 B before them; 12 +
  // 120
  // + 10 values whole; four lengths.
  const Outcome outcome = run(federated("zerofl"));
  for (const scenarios::StepReport& row : outcome.rows)
    CHECK(figure(row, "upload_bytes") == 4 * (8 + 154 * 8 + 4 * (12 + 120 + 10) + 4 * 4));
  CHECK(figure(outcome.rows[0], "download_bytes") == 4 * 4 * (768 + 12 + 120 + 10));
}

TEST_CASE("what is left of the model: largest weights alone, or all", "[zerofl]") {
  const auto zeros = [](const Outcome& outcome) {
    return std::count(outcome.weights.begin(), outcome.weights.end(), 0.0f);
  };
  // kappa = 0.2 of 768 weights, four clients: between 154 and 616 of them are not 0.
  const auto of_weights = zeros(run(federated("zerofl")));
  CHECK(of_weights >= 768 - 616);
  CHECK(of_weights <= 768 - 154);
  // Changes leave unsent coordinates as they were.
  for (const char* upload : {"diff-on-weights", "weights-diff"}) {
    scenarios::Scenario scenario = federated("zerofl", {{"upload", upload}});
    scenario.workload.steps = 1;
    const std::vector<float> before = weights_of(*prepared(scenario));
    const std::vector<float> after = run(scenario).weights;
    int same = 0;
    for (std::size_t e = 0; e < before.size(); ++e) same += before[e] == after[e] ? 1 : 0;
    INFO(upload);
    CHECK(same >= 768 - 616);
    CHECK(same <= 768 - 154 + 142);
  }
}

TEST_CASE("zerofl does not depend on threads", "[zerofl]") {
  for (const char* upload : {"weights", "diff-on-weights", "weights-diff"}) {
    const scenarios::Scenario scenario = federated("zerofl", {{"upload", upload}});
    CHECK(run(scenario, 2).hash == run(scenario).hash);
  }
}

}  // namespace gradwire::trainers
