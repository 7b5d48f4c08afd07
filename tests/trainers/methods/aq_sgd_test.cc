#include <cmath>

#include "tests/trainers/schedules/pipeline_fixture.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using namespace pipelines;
using Options = std::map<std::string, std::string>;

/// 160 samples, of which each batch of 16 is a tenth: an epoch is 10 steps.
scenarios::Scenario scenario_with(Options options, int workers = 2) {
  scenarios::Scenario scenario = on_clusters(aq_sgd(scenario_of(workers), std::move(options)));
  scenario.workload.steps = 40;
  return scenario;
}

TEST_CASE("aq-sgd: 32 bits both ways are the plain pipeline, bit for bit", "[aq-sgd]") {
  const scenarios::Scenario scenario =
      scenario_with({{"forward_bits", "32"}, {"backward_bits", "32"}}, 4);
  scenarios::Scenario plain = scenario;
  plain.method = {};
  const Outcome all_bits = run(scenario), parent = run(plain);
  check_equal(all_bits, parent);
  CHECK(all_bits.hash == parent.hash);
  // Negative controls: fewer bits either way are something else.
  CHECK(run(scenario_with({{"forward_bits", "8"}, {"backward_bits", "32"}}, 4)).hash !=
        parent.hash);
  CHECK(run(scenario_with({{"forward_bits", "32"}, {"backward_bits", "8"}}, 4)).hash !=
        parent.hash);
}

TEST_CASE("aq-sgd: one stage is the plain parent, bit for bit", "[aq-sgd]") {
  const scenarios::Scenario scenario = scenario_with({{"forward_bits", "1"}}, 1);
  scenarios::Scenario plain = scenario;
  plain.method = {};
  check_equal(run(scenario), run_whole(plain));
}

TEST_CASE("aq-sgd: both ends of each boundary have the same buffers after every step", "[aq-sgd]") {
  for (const char* rounding : {"nearest", "stochastic"}) {
    for (const int stages : {2, 4}) {  // two replicas of two stages, one of four
      scenarios::Scenario scenario = scenario_with({{"forward_bits", "2"}, {"rounding", rounding}});
      scenario.cluster.workers = 4;
      scenario.schedule.stages = stages;
      const auto trainer = prepared(scenario, {.threads = 2});
      const auto& channels = pipeline_of(*trainer).channels();
      std::uint64_t before = 0;
      for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) {
        for (const auto& channel : channels)
          CHECK(channel->sender_hash() == channel->receiver_hash());
        CHECK(channels[0]->sender_hash() != before);  // and they change
        before = channels[0]->sender_hash();
      }
      // Evaluations leave them alone.
      trainer->evaluate();
      CHECK(channels[0]->sender_hash() == before);
      // 160 samples of 24 floats, two stages; parted among the replicas.
      if (stages == 2) CHECK(figure(trainer->figures(), "buffer_bytes") == 160 * 24 * 4 / 2);
      // Of four stages the third one is at the ends of 24 and of 16 floats.
      if (stages == 4) CHECK(figure(trainer->figures(), "buffer_bytes") == 160 * (32 + 24) * 4);
    }
  }
}

TEST_CASE("aq-sgd: the first epoch goes as fp32, later ones in few bits", "[aq-sgd]") {
  const Outcome outcome = run(scenario_with({{"forward_bits", "2"}, {"backward_bits", "4"}}));
  for (std::size_t step = 0; step < 40; ++step) {
    CAPTURE(step);
    // 2 micro-batches of 8 samples: codes of 24 values and a scale of 2 bytes for each sample.
    CHECK(outcome.activation_bytes[step] == (step < 10 ? 16 * 24 * 4 : 16 * (24 * 2 / 8 + 2)));
    CHECK(outcome.gradient_bytes[step] == 16 * (24 * 4 / 8 + 2));
  }
  // Without buffers all is encoded at once.
  const Outcome direct = run(scenario_with({{"forward_bits", "2"}, {"messages", "direct"}}));
  CHECK(direct.activation_bytes[0] == 16 * (24 * 2 / 8 + 2));
  CHECK(figure(direct.figures, "buffer_error_last") >
        2 * figure(outcome.figures, "buffer_error_last"));
}

TEST_CASE("aq-sgd: what is learned depends on neither threads nor memory", "[aq-sgd]") {
  scenarios::Scenario scenario = scenario_with({{"rounding", "stochastic"}, {"gradients", "int8"}});
  scenario.cluster.workers = 4;
  scenario.schedule.stages = 2;
  const std::uint64_t hash = run(scenario).hash;
  for (const int threads : {2, 4}) CHECK(run(scenario, {.threads = threads}).hash == hash);
  CHECK(run(scenario, {.threads = 2, .memory = Bytes(2000), .states_folder = "/tmp"}).hash == hash);
  scenario.seed = 2;
  CHECK(run(scenario).hash != hash);
}

TEST_CASE("aq-sgd: codecs of boundaries are drawn where they are, and scaled by what they encode",
          "[aq-sgd]") {
  const scenarios::Scenario scenario = scenario_with({});
  const auto trainer = make_trainer(scenario, {});
  const auto& layout = pipeline_of(*trainer).layout();
  std::vector<std::int64_t> elements;
  for (const BucketSlot& bucket : layout.buckets()) elements.push_back(bucket.count);
  scenarios::ComputeProfile profile = fixed_profile(elements);
  for (const double time : {3e-3, 5e-3}) {  // activations, gradients
    scenarios::ComputeProfile::Bucket bucket;
    bucket.encode = Seconds(time);
    bucket.decode = Seconds(time / 2);
    profile.buckets.push_back(bucket);
  }
  trainer->use_profile(profile);
  const auto coding = [&](const scenarios::StepPlan& plan, sim::OpKind kind, int worker) {
    double sum = 0;
    for (sim::OpIndex op = 0; op < plan.graph->size(); ++op)
      if (plan.graph->kind[op] == kind && plan.graph->worker[op] == worker)
        sum += plan.seconds[op].value();
    return sum;
  };
  scenarios::StepPlan plan;
  for (int step = 0; step < 11; ++step) {
    plan = {};
    REQUIRE(trainer->next(plan));
    // 2 micro-batches; in the first epoch activations are not encoded.
    CHECK(coding(plan, sim::OpKind::kEncode, 0) == Approx(step < 10 ? 0 : 2 * 3e-3));
    CHECK(coding(plan, sim::OpKind::kDecode, 1) == Approx(step < 10 ? 0 : 2 * 1.5e-3));
    CHECK(coding(plan, sim::OpKind::kEncode, 1) == Approx(2 * 5e-3));
    CHECK(coding(plan, sim::OpKind::kDecode, 0) == Approx(2 * 2.5e-3));
  }
}

TEST_CASE("aq-sgd: codecs are measured here, or taken from the device's profile", "[aq-sgd]") {
  scenarios::Scenario scenario = scenario_with({});
  const auto measured = make_trainer(scenario, {});
  const auto& profile = measured->prepare();
  const std::size_t own = pipeline_of(*measured).layout().buckets().size();
  REQUIRE(profile.buckets.size() == own + 2);
  CHECK(profile.buckets[own].encode > Seconds(0));
  CHECK(profile.buckets[own].elements == 8 * 24);
  CHECK(profile.buckets[own + 1].decode > Seconds(0));
  scenario.cluster.device = "reference-cpu";
  const auto replayed = make_trainer(scenario, {});
  CHECK(replayed->prepare().buckets[own].encode > Seconds(0));
  CHECK(finish(*measured).hash == finish(*replayed).hash);
}

TEST_CASE("aq-sgd: a sample that comes twice in a micro-batch is found before the run",
          "[aq-sgd]") {
  // 20 samples, batches of 16: the second one has 4 of the first epoch and 12 of the next.
  scenarios::Scenario scenario = on_clusters(aq_sgd(scenario_of(2, 1)), 20);
  CHECK_THROWS_WITH(make_trainer(scenario, {}),
                    Catch::Contains("comes twice in micro-batch 1 of step") &&
                        Catch::Contains("a batch that divides that number"));
  // Nothing is remembered, nothing refused.
  CHECK_NOTHROW(make_trainer(aq_sgd(scenario, {{"messages", "direct"}}), {}));
  scenario.workload.batch_per_worker = 10;
  CHECK_NOTHROW(make_trainer(scenario, {}));
}

}  // namespace
}  // namespace gradwire::trainers
