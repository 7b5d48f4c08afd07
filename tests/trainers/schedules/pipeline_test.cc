#include <cmath>
#include <sstream>

#include "scenarios/data_sets.h"
#include "sim/executors.h"
#include "tests/trainers/schedules/pipeline_fixture.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using namespace pipelines;

TEST_CASE("a model in stages learns as the whole one, bit for bit", "[pipeline]") {
  for (const int stages : {1, 2, 3, 4}) {
    for (const int micro_batches : {1, 3}) {
      CAPTURE(stages, micro_batches);
      const scenarios::Scenario scenario = scenario_of(stages, micro_batches);
      check_equal(run(scenario), run_whole(scenario));
    }
  }
  // Negative control: another number of micro-batches adds up in another order.
  CHECK(run(scenario_of(2, 3)).weights != run_whole(scenario_of(2, 4)).weights);
}

TEST_CASE("every model can be cut between any two of its parts", "[pipeline]") {
  for (const scenarios::ModelInfo& info : scenarios::model_catalogue()) {
    if (info.stages < 2) continue;
    CAPTURE(info.name);
    scenarios::Scenario scenario = scenario_of(std::min(info.stages, 4));
    scenario.workload.model = info.name;
    scenario.workload.hidden.reset();
    scenario.workload.batch_per_worker = 8;
    scenario.workload.steps = 2;
    if (info.takes.front() == scenarios::SampleKind::kText) {
      scenario.workload.data_set = "markov";
      scenario.workload.data_options = {{"tokens", "2000"}, {"held_out_tokens", "640"}};
    }
    check_equal(run(scenario), run_whole(scenario));
  }
}

TEST_CASE("GPipe and 1F1B learn the same, and take their own order on the timeline", "[pipeline]") {
  const Outcome gpipe = run(scenario_of(4, 4, "gpipe")), both = run(scenario_of(4, 4, "1f1b"));
  check_equal(gpipe, both);
  CHECK(gpipe.hash == both.hash);
}

TEST_CASE("cuts are as asked", "[pipeline]") {
  scenarios::Scenario scenario = scenario_of(2);
  scenario.schedule.cut = {1, 3};
  const auto trainer = prepared(scenario);
  CHECK(pipeline_of(*trainer).cut().ends == std::vector<std::size_t>{1, 4});
  check_equal(run(scenario), run_whole(scenario));
  // 64 x 32 + 32 weights in front; 32 x 24 + 24 and 24 x 16 + 16 and 16 x 10 + 10 behind.
  CHECK(figure(trainer->figures(), "memory_parameters_bytes") == 4 * 2080);
  scenario.schedule.cut = {4, 0};
  CHECK_THROWS_WITH(make_trainer(scenario, {}), Catch::Contains("stage 1 would have no layer"));
  scenario.schedule.cut = {2, 3};
  CHECK_THROWS_WITH(make_trainer(scenario, {}), Catch::Contains("the stages have 5 parts"));
  scenario = scenario_of(5);
  CHECK_THROWS_WITH(make_trainer(scenario, {}), Catch::Contains("mlp has 4 parts"));
}

TEST_CASE("replicas of a pipeline learn as so many workers, with any codec", "[pipeline]") {
  for (const char* method : {"none", "int8", "topk", "terngrad", "dgc"}) {
    CAPTURE(method);
    scenarios::Scenario scenario = scenario_of(6, 2);
    scenario.schedule.stages = 3;
    scenario.method.name = method;
    if (method == std::string("dgc"))  // matrices and vectors are sets of their own
      scenario.method.options = {{"ratio", "0.1"}, {"warmup_epochs", "0"}};
    scenario.method.error_feedback = method == std::string("topk") || method == std::string("dgc");
    // No bucket has tensors of two stages: the whole model's are a tensor each, too.
    scenario.exchange.bucket = Bytes(1);
    check_equal(run(scenario), run_whole(scenario, 2));
    const std::uint64_t hash = run(scenario).hash;
    CHECK(run(scenario, {.threads = 2}).hash == hash);
    CHECK(run(scenario, {.threads = 4}).hash == hash);
  }
}

TEST_CASE("activations and gradients cross as fp32, one message a micro-batch", "[pipeline]") {
  const Outcome outcome = run(scenario_of(3, 4));
  // Parts of 1, 1 and 2 layers: boundaries of 32 and 24 floats a sample, 16 samples.
  CHECK(outcome.activation_bytes[0] == 16 * 4 * (32 + 24));
  CHECK(outcome.gradient_bytes[0] == 16 * 4 * (32 + 24));
  CHECK(outcome.payloads[0] == Bytes(2 * 16 * 4 * (32 + 24)));
}

TEST_CASE("activations are those of the stage that keeps most", "[pipeline]") {
  // Micro-batches of 8 samples. Stage 0 keeps what it sends, 32 floats a sample; stage 1 what it
  // received, its tanh, and what it sends, 32 + 32 + 24; stage 2 24 received, tanhs of 24 and 16,
  // and for the loss the 10 logarithms of shares, the sum of the targets' weights, and itself.
  const std::int64_t middle = 8 * 4 * (32 + 32 + 24), last = 8 * 4 * (24 + 24 + 16 + 10) + 8;
  REQUIRE(middle > last);
  const auto kept = [](int micro_batches, const std::string& order) {
    scenarios::Scenario scenario = scenario_of(3, micro_batches, order);
    scenario.workload.batch_per_worker = 8 * micro_batches;
    return figure(prepared(scenario)->figures(), "memory_activations_bytes");
  };
  CHECK(kept(1, "gpipe") == static_cast<double>(middle));
  CHECK(kept(5, "gpipe") == static_cast<double>(5 * middle));
  // Stage 1 of three keeps two micro-batches, stage 0 three, of 32 floats.
  CHECK(kept(5, "1f1b") == static_cast<double>(2 * middle));
}

sim::Timeline run_step(const scenarios::StepPlan& plan, int hosts, double rate) {
  const auto executor = sim::make_executor(
      "flow", sim::Cluster::star(hosts, {.rate = BitsPerSecond(rate), .delay = Seconds(1e-6)}), {});
  const sim::GraphId graph = executor->submit(scenarios::submission_of(plan));
  return sim::run_to_end(*executor, graph);
}

TEST_CASE("the step's graph has the pipeline's time and bubble", "[pipeline]") {
  // Four stages of 1 ms forwards in all, by their shares of 4 ms backwards, 1 ms each: 1.25 ms a
  // micro-batch and stage; (m + 3) of them and a quarter of the update's 0.1 ms by elements.
  for (const char* order : {"gpipe", "1f1b"}) {
    scenarios::Scenario scenario = scenario_of(4, 8, order);
    scenario.exchange.bucket = Bytes(1'000'000);
    const auto trainer = prepared(scenario);
    scenarios::StepPlan plan;
    REQUIRE(trainer->next(plan));
    const sim::Timeline timeline = run_step(plan, 4, 1e13);
    CHECK(timeline.end.value() == Approx(11 * 1.25e-3).epsilon(0.02));
    const auto figures = trainer->on_step_ended(plan, {timeline, timeline.end, {}});
    CHECK(figure(figures, "pipeline_bubble") == Approx(3.0 / 11).margin(0.02));
    CHECK(figure(trainer->figures(), "pipeline_bubble") == figure(figures, "pipeline_bubble"));
    CHECK(figure(figures, "kept_activations") == (scenario.schedule.order == "gpipe" ? 8 : 4));
    // A slow worker holds up all.
    scenario.cluster.slowdown = {1, 1, 3, 1};
    const auto slow = prepared(scenario);
    scenarios::StepPlan held_up;
    REQUIRE(slow->next(held_up));
    CHECK(run_step(held_up, 4, 1e13).end.value() == Approx((3 + 8 * 3) * 1.25e-3).epsilon(0.03));
    CHECK(slow->learning_hash() == trainer->learning_hash());
  }
}

TEST_CASE("replicas meet in the exchange of their stages, and nowhere else", "[pipeline]") {
  scenarios::Scenario scenario = scenario_of(4, 2);
  scenario.schedule.stages = 2;
  scenario.exchange.bucket = Bytes(1'000'000);
  const auto trainer = prepared(scenario);
  scenarios::StepPlan plan;
  REQUIRE(trainer->next(plan));
  const sim::GraphTemplate& graph = *plan.graph;
  std::vector<std::vector<std::int32_t>> members;
  for (const sim::CollectiveSpec& spec : graph.collectives) members.push_back(spec.members);
  CHECK(members == std::vector<std::vector<std::int32_t>>{{1, 3}, {0, 2}});  // the last stage first
  const Bytes exchanged(4 * trainer->parameters() * 2);  // 2 (R - 1) of the model, R = 2
  const Bytes crossed(2 * 2 * 16 * 4 * 24);              // both ways, two replicas, 24 floats
  CHECK(plan.payload == exchanged + crossed);
  CHECK(plan.encoded_values == crossed + Bytes(4 * trainer->parameters() * 2));
  const sim::Timeline timeline = run_step(plan, 4, 1e9);
  double moved = 0;
  for (const sim::OpRecord& op : timeline.ops) moved += static_cast<double>(op.payload.count());
  CHECK(moved == static_cast<double>(plan.payload.count()));
}

TEST_CASE("pipelines go on from a checkpoint with the same hash", "[pipeline]") {
  const scenarios::Scenario plain = scenario_of(4, 2);
  const scenarios::Scenario remembering = on_clusters(
      aq_sgd(scenario_of(4, 2), {{"forward_bits", "2"}, {"rounding", "stochastic"}}), 64);
  for (const scenarios::Scenario& scenario : {plain, remembering}) {
    const Outcome whole = run(scenario);
    for (const int steps : {0, 1, 7}) {
      auto trainer = prepared(scenario);
      scenarios::StepPlan plan;
      for (int i = 0; i < steps; ++i) REQUIRE(trainer->next(plan));
      std::stringstream saved;
      trainer->save(saved);
      trainer = prepared(scenario, {.threads = 2, .memory = Bytes(3000), .states_folder = "/tmp"});
      trainer->load(saved);
      const Outcome rest = finish(*trainer);
      CHECK(rest.hash == whole.hash);
      CHECK(figure(rest.figures, "epoch_loss") == figure(whole.figures, "epoch_loss"));
    }
  }
  std::stringstream saved;
  prepared(plain)->save(saved);
  const std::string text = saved.str();
  const auto load = [&](scenarios::Scenario scenario) {
    std::stringstream from(text);
    prepared(scenario)->load(from);
  };
  CHECK_NOTHROW(load(plain));
  scenarios::Scenario other = scenario_of(2, 2);
  CHECK_THROWS_WITH(load(other), Catch::Contains("another number of stages"));
  other = plain;
  other.seed = 2;
  CHECK_THROWS_WITH(load(other), Catch::Contains("another seed or model"));
}

}  // namespace
}  // namespace gradwire::trainers
