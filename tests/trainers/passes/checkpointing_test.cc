#include <ATen/record_function.h>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>

#include "scenarios/data_sets.h"
#include "tests/trainers/support.h"
#include "trainers/data/generated.h"
#include "trainers/passes/replica.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/trainer_error.h"

/// Activation checkpointing: the same gradients to the bit, less memory, more time.
namespace gradwire::trainers {
namespace {

DataSet data_for(const std::string& model) {
  return model == "char-lstm" || model == "transformer" ? make_markov(640, 32, 1) : load_digits(1);
}

/// A model with weights of its own.
struct Made {
  explicit Made(const ModelChoice& choice)
      : data(data_for(choice.name)),
        model(make_model(choice, data, "cpu")),
        layout(model->parameters(), Bytes(25'000'000)),
        weights(static_cast<std::size_t>(layout.elements())),
        statistics(model->initial_statistics()) {
    initialise(model->parameters(), layout, 1, weights);
    replica = model->make_replica(layout, weights, statistics);
    gather(data, std::span(data.train).first(16), batch);
  }

  DataSet data;
  std::unique_ptr<Model> model;
  Layout layout;
  std::vector<float> weights, statistics;
  std::unique_ptr<Replica> replica;
  Batch batch;
};

/// Loss, gradients and running statistics after two passes.
std::vector<float> traces_of(const ModelChoice& choice, int segments) {
  Made made(choice);
  const auto gradients = made.replica->make_gradients();
  std::vector<float> all;
  for (int pass = 0; pass < 2; ++pass) {
    all.push_back(static_cast<float>(made.replica->train_pass(
        made.batch, {.record_statistics = true, .checkpoint_segments = segments}, *gradients)));
    for (const auto tensor : gradients->tensors())
      all.insert(all.end(), tensor.begin(), tensor.end());
  }
  all.insert(all.end(), made.statistics.begin(), made.statistics.end());
  return all;
}

bool bit_equal(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), 4 * a.size()) == 0;
}

std::int64_t kept(const Made& made, int segments) {
  return made.replica->activation_bytes(made.batch, {.checkpoint_segments = segments}).value();
}

TEST_CASE("gradients and statistics do not depend on the number of segments", "[checkpointing]") {
  for (const scenarios::ModelInfo& info : scenarios::model_catalogue()) {
    if (info.stages == 0) continue;  // torchscript
    const std::vector<float> plain = traces_of(info.name, 0);
    // All segments of resnet20 would take long.
    for (int segments = 1; segments <= info.stages; segments += info.stages > 4 ? 5 : 1) {
      INFO(info.name << " in " << segments << " segments");
      CHECK(bit_equal(traces_of(info.name, segments), plain));
    }
    // The catalogue counts the parts that the network has.
    CHECK_NOTHROW(traces_of(info.name, info.stages));
    CHECK_THROWS_AS(traces_of(info.name, info.stages + 1), TrainerError);
  }
}

TEST_CASE("a loss scale multiplies the gradients alone", "[checkpointing]") {
  Made made("mlp");
  const auto plain = made.replica->make_gradients(), scaled = made.replica->make_gradients();
  const double loss = made.replica->train_pass(made.batch, {}, *plain);
  for (const int segments : {0, 2}) {
    CHECK(made.replica->train_pass(
              made.batch, {.loss_scale = 1024, .checkpoint_segments = segments}, *scaled) == loss);
    for (std::size_t t = 0; t < plain->tensors().size(); ++t)
      for (std::size_t e = 0; e < plain->tensors()[t].size(); ++e)
        REQUIRE(scaled->tensors()[t][e] == 1024 * plain->tensors()[t][e]);  // a power of two
  }
}

TEST_CASE("what checkpointing keeps, by hand", "[checkpointing]") {
  // B = 16 samples; hidden layers of 48, 40, 32 and 24, then 10 classes: five parts. The loss keeps
  // the logarithms of the shares, the sum of the weights and itself.
  ModelChoice choice("mlp");
  choice.hidden = {48, 40, 32, 24};
  const Made made(choice);
  const std::int64_t B = 16, loss = 10 * B + 1 + 1;
  CHECK(kept(made, 0) == 4 * (B * (48 + 40 + 32 + 24) + loss));
  // Two segments, of layers 1-2 and 3-5, with 40 numbers a sample between them. Computed again, the
  // first keeps 48 + 40, the second 32 + 24 + 10.
  CHECK(kept(made, 2) == 4 * (B * 40 + loss + B * (48 + 40)));
  // Five segments of one layer: all that lies between them, and the largest one's result.
  CHECK(kept(made, 5) == 4 * (B * (48 + 40 + 32 + 24) + loss + B * 48));
  // One segment keeps nothing and computes all of it again.
  CHECK(kept(made, 1) == 4 * (loss + B * (48 + 40 + 32 + 24 + 10)));
  // Counting has left no trace.
  CHECK(kept(made, 2) == 4 * (B * 40 + loss + B * (48 + 40)));
}

TEST_CASE("n equal layers in sqrt(n) segments keep 2 sqrt(n) activations", "[checkpointing]") {
  // Chen et al., section 4: k segments keep k results between them and n / k inside one. Here the
  // last of the k is the result of the network, so k - 1.
  ModelChoice choice("mlp");
  choice.hidden = std::vector<std::int64_t>(15, 10);  // 16 layers of width 10
  const Made made(choice);
  const std::int64_t B = 16, one = 4 * 10 * B, loss = 4 * (10 * B + 2);
  CHECK(kept(made, 0) == 15 * one + loss);
  CHECK(kept(made, 4) == (3 + 4) * one + loss);
  CHECK(kept(made, 2) == (1 + 8) * one + loss);
  CHECK(kept(made, 8) == (7 + 2) * one + loss);
}

TEST_CASE("normalisations and convolutions keep less, too", "[checkpointing]") {
  const Made made("resnet20");
  const std::int64_t all = kept(made, 0), some = kept(made, 3);
  CHECK(some < 0.6 * all);
}

scenarios::Scenario scenario_with(int segments, const std::string& schedule = "lockstep") {
  scenarios::Scenario scenario = digits_scenario("lenet5", "topk");
  scenario.workload.steps = 4;
  scenario.workload.batch_per_worker = 8;
  scenario.workload.checkpoint_activations = segments;
  scenario.cluster.workers = 2;
  scenario.cluster.device = "reference-cpu";
  scenario.schedule.kind = schedule;
  return scenario;
}

std::uint64_t hash_of(const scenarios::Scenario& scenario, int threads) {
  const auto trainer = make_trainer(scenario, {.threads = threads});
  trainer->prepare();
  scenarios::StepPlan plan;
  sim::GraphId graph = 0;
  while (trainer->next(plan)) trainer->on_submitted(plan, ++graph);
  return trainer->learning_hash();
}

TEST_CASE("checkpointing leaves the learning hash as it is", "[checkpointing]") {
  const std::uint64_t plain = hash_of(scenario_with(0), 1);
  CHECK(hash_of(scenario_with(2), 1) == plain);
  CHECK(hash_of(scenario_with(4), 2) == plain);
  scenarios::Scenario local = scenario_with(0);
  local.schedule.local_steps = 3;
  const std::uint64_t of_local = hash_of(local, 1);
  local.workload.checkpoint_activations = 3;
  CHECK(hash_of(local, 2) == of_local);
  CHECK(of_local != plain);
}

TEST_CASE("with a device profile a step takes one forward pass more", "[checkpointing]") {
  const auto times_of = [](int segments) {
    const auto trainer = make_trainer(scenario_with(segments), {});
    return trainer->prepare();
  };
  const scenarios::ComputeProfile plain = times_of(0), again = times_of(2);
  CHECK(again.forward == plain.forward);
  CHECK(again.update == plain.update);
  Seconds before{0}, after{0};
  REQUIRE(again.buckets.size() == plain.buckets.size());
  for (std::size_t b = 0; b < plain.buckets.size(); ++b) {
    before += plain.buckets[b].backward;
    after += again.buckets[b].backward;
    CHECK(again.buckets[b].encode == plain.buckets[b].encode);
  }
  CHECK(after.value() == Approx((before + plain.forward).value()));
}

/// Convolutions that run while it lives, of all threads.
class CountedConvolutions {
 public:
  CountedConvolutions() {
    count = 0;
    handle_ = at::addGlobalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& function)
                                       -> std::unique_ptr<at::ObserverContext> {
          if (std::string_view(function.name()) == "aten::conv2d") ++count;
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~CountedConvolutions() { at::removeCallback(handle_); }
  CountedConvolutions(const CountedConvolutions&) = delete;
  CountedConvolutions& operator=(const CountedConvolutions&) = delete;

  static inline std::atomic<int> count = 0;

 private:
  at::CallbackHandle handle_;
};

TEST_CASE("measured passes run the network's segments again with checkpointing",
          "[checkpointing]") {
  const Made made("resnet20");
  const auto convolutions_of = [&](int segments) {
    const CountedConvolutions counted;
    const PassTimes times = made.replica->time_pass(made.batch, {.checkpoint_segments = segments});
    CHECK(times.forward.value() > 0);
    CHECK(times.backward.value() > 0);
    return counted.count.load();
  };
  // 1 + 3 stages x 3 blocks x 2; the shortcuts of the wider stages pad.
  const int plain = convolutions_of(0);
  CHECK(plain == 19);
  // Each of one segment's convolutions again; of eleven, all but those of the last segment, which
  // is the classifier.
  CHECK(convolutions_of(1) == 2 * plain);
  CHECK(convolutions_of(11) == 2 * plain);
}

}  // namespace
}  // namespace gradwire::trainers
