#include "trainers/passes/layer_rules.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <map>
#include <mutex>

#include "tests/trainers/support.h"
#include "trainers/data/generated.h"
#include "trainers/passes/network.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/trainer_error.h"

/// Rules around layers: what they see, what they change, who asks for them.
namespace gradwire::trainers {
namespace {

class Identity final : public LayerRule {
 public:
  at::Tensor forward(const Layer&, const at::Tensor& input, std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    return compute(input, weights);
  }
};

/// Dense layers see weights that are (1 + amount) times as large.
class Louder final : public LayerRule {
 public:
  explicit Louder(double amount) : factor_(1 + amount) {}
  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    if (layer.kind != LayerKind::kLinear) return compute(input, weights);
    std::vector<at::Tensor> changed(weights.begin(), weights.end());
    changed[0] = changed[0] * factor_;
    return compute(input, changed);
  }

 private:
  double factor_;
};

/// Counts the layers by kind, and by their first parameter.
std::map<std::pair<LayerKind, std::size_t>, int> seen;
class Counting final : public LayerRule {
 public:
  at::Tensor forward(const Layer& layer, const at::Tensor& input,
                     std::span<const at::Tensor> weights,
                     const LayerFunction& compute) const override {
    ++seen[{layer.kind, layer.first_parameter}];
    return compute(input, weights);
  }
};

const LayerRuleEntry kIdentity("identity",
                               [](const auto&) { return std::make_unique<Identity>(); });
const LayerRuleEntry kLouder("louder", [](const std::map<std::string, double>& options) {
  return std::make_unique<Louder>(options.at("amount"));
});
const LayerRuleEntry kCounting("counting",
                               [](const auto&) { return std::make_unique<Counting>(); });

int count_of(LayerKind kind) {
  int count = 0;
  for (const auto& [layer, times] : seen)
    if (layer.first == kind) count += times;
  return count;
}

/// One pass over 4 samples; the gradients, one after the other.
std::vector<float> gradients_with(const std::string& model, const PassOptions& options) {
  const bool text = model == "char-lstm" || model == "transformer";
  const DataSet data = text ? make_markov(640, 32, 1) : load_digits(1);
  const auto made = make_model(model, data, "cpu");
  const Layout layout(made->parameters(), Bytes(25'000'000));
  std::vector<float> weights(static_cast<std::size_t>(layout.elements()));
  std::vector<float> statistics = made->initial_statistics();
  initialise(made->parameters(), layout, 1, weights);
  const auto replica = made->make_replica(layout, weights, statistics);
  Batch batch;
  gather(data, std::span(data.train).first(4), batch);
  const auto gradients = replica->make_gradients();
  replica->train_pass(batch, options, *gradients);
  std::vector<float> all;
  for (const auto tensor : gradients->tensors())
    all.insert(all.end(), tensor.begin(), tensor.end());
  return all;
}

TEST_CASE("a rule sees every layer once a pass", "[layer-rules]") {
  seen.clear();
  gradients_with("resnet20", {.layer_rules = {{"counting"}}});
  CHECK(count_of(LayerKind::kConvolution) == 19);
  CHECK(count_of(LayerKind::kNormalisation) == 19);
  CHECK(count_of(LayerKind::kActivation) == 19);
  CHECK(count_of(LayerKind::kLinear) == 1);
  CHECK(count_of(LayerKind::kPooling) == 1);
  // Weights are known by their number: 19 units of a kernel, a scale and a shift.
  CHECK(seen.count({LayerKind::kConvolution, 3 * 18}) == 1);
  CHECK(seen.count({LayerKind::kNormalisation, 3 * 18 + 1}) == 1);
  CHECK(seen.count({LayerKind::kLinear, 3 * 19}) == 1);

  seen.clear();
  gradients_with("char-lstm", {.layer_rules = {{"counting"}}});
  CHECK(count_of(LayerKind::kEmbedding) == 1);
  CHECK(count_of(LayerKind::kRecurrent) == 1);
  CHECK(count_of(LayerKind::kLinear) == 1);

  seen.clear();
  gradients_with("transformer", {.layer_rules = {{"counting"}}});
  CHECK(count_of(LayerKind::kEmbedding) == 1);
  CHECK(count_of(LayerKind::kAttention) == 4);
  CHECK(count_of(LayerKind::kLayerNorm) == 2 * 4 + 1);
  CHECK(count_of(LayerKind::kLinear) == 4 * 4 + 1);

  // With checkpointing twice: once forward, once while going back.
  seen.clear();
  gradients_with("lenet5", {.checkpoint_segments = 2, .layer_rules = {{"counting"}}});
  CHECK(count_of(LayerKind::kConvolution) == 2 * 2);
  CHECK(count_of(LayerKind::kLinear) == 2 * 2);
}

TEST_CASE("the identity changes nothing, another rule does", "[layer-rules]") {
  for (const std::string model : {"mlp", "lenet5", "cnn", "resnet20", "char-lstm", "transformer"}) {
    INFO(model);
    const std::vector<float> plain = gradients_with(model, {});
    CHECK(gradients_with(model, {.layer_rules = {{"identity"}}}) == plain);
    CHECK(gradients_with(model, {.layer_rules = {{"identity"}, {"louder", {{"amount", 0}}}}}) ==
          plain);
    const PassOptions louder{.layer_rules = {{"louder", {{"amount", 0.01}}}}};
    const std::vector<float> changed = gradients_with(model, louder);
    CHECK(changed != plain);
    // Rules and checkpointing go together.
    PassOptions cut = louder;
    cut.checkpoint_segments = 2;
    CHECK(gradients_with(model, cut) == changed);
  }
}

TEST_CASE("rules that are not known, or known already, are refused", "[layer-rules]") {
  CHECK_THROWS_WITH(gradients_with("mlp", {.layer_rules = {{"quieter"}}}),
                    Catch::Contains("quieter"));
  CHECK_THROWS_AS(LayerRuleEntry("identity", {}), TrainerError);
}

// Read once, where the first method is looked up.
const bool kMethodsNamed = setenv("GRADWIRE_METHODS", GRADWIRE_LAYER_RULE_METHODS, 1) == 0;

std::uint64_t hash_with(const std::string& rule, double amount) {
  scenarios::Scenario scenario = digits_scenario("mlp", rule.empty() ? "none" : "with-layer-rule");
  if (!rule.empty()) scenario.method.options = {{"rule", rule}, {"amount", std::to_string(amount)}};
  scenario.workload.steps = 3;
  const auto trainer = make_trainer(scenario, {});
  trainer->use_profile(fixed_profile({50826}));
  scenarios::StepPlan plan;
  sim::GraphId graph = 0;
  while (trainer->next(plan)) trainer->on_submitted(plan, ++graph);
  return trainer->learning_hash();
}

TEST_CASE("a method asks for rules by name", "[layer-rules]") {
  REQUIRE(kMethodsNamed);
  const std::uint64_t plain = hash_with("", 0);
  CHECK(hash_with("identity", 0) == plain);
  CHECK(hash_with("louder", 0) == plain);
  CHECK(hash_with("louder", 0.01) != plain);
}

}  // namespace
}  // namespace gradwire::trainers
