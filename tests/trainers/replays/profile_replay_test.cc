#include "trainers/replays/profile_replay.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "scenarios/methods.h"
#include "scenarios/profiles/profile.h"
#include "sim/executors.h"
#include "tests/trainers/support.h"
#include "trainers/replays/drawn_sizes.h"
#include "trainers/routes/exchange.h"

namespace gradwire::trainers {
namespace {

constexpr int kWorkers = 4;

/// Three layers of 1000, 250 and 3001 elements; 1 ms, 2 ms and 3 ms of backward pass a sample.
const char* const kTable = R"({
  "schema_version": 1, "kind": "workload", "name": "three", "source": "assumed", "note": "A test.",
  "update_s": 0.001,
  "layers": [
    { "name": "a", "elements": 1000, "forward_s_per_sample": 0.001, "backward_s_per_sample": 0.001 },
    { "name": "b", "elements": 250, "forward_s_per_sample": 0.001, "backward_s_per_sample": 0.002 },
    { "name": "c", "elements": 3001, "forward_s_per_sample": 0.001, "backward_s_per_sample": 0.003 }
  ] })";

struct Fixture {
  TemporaryFolder folder;
  scenarios::Scenario scenario;

  explicit Fixture(const std::string& method = "none") {
    std::ofstream(folder.file("three.json")) << kTable;
    scenario.name = "three";
    scenario.file = folder.file("scenario.json");
    scenario.workload.kind = scenarios::WorkloadKind::kProfile;
    scenario.workload.profile = folder.file("three.json");
    scenario.workload.batch_per_worker = 2;
    scenario.workload.steps = 3;
    scenario.method.name = method;
    scenario.cluster.workers = kWorkers;
    scenario.cluster.device = "reference-cpu";
    scenario.exchange.bucket = Bytes(6000);  // c alone (12,004 B), then a and b together (5,000 B)
  }

  scenarios::StepPlan first_step() const {
    const auto replay = make_profile_replay(scenario);
    replay->prepare();
    scenarios::StepPlan plan;
    REQUIRE(replay->next(plan));
    return plan;
  }

  /// When the last of the steps ends on the flow engine, on links of 100 Mbps.
  double seconds_to_end() const {
    const auto replay = make_profile_replay(scenario);
    replay->prepare();
    sim::LinkSpec link;
    link.rate = BitsPerSecond(100e6);
    const bool server = scenario.exchange.collective == "parameter-server";
    const auto executor = sim::make_executor(
        "flow", sim::Cluster::star(kWorkers, link, server ? scenario.exchange.shards : 0), {});
    double end = 0;
    for (scenarios::StepPlan plan; replay->next(plan); plan = {}) {
      const sim::GraphId graph = executor->submit({.graph = plan.graph,
                                                   .bytes = plan.bytes,
                                                   .seconds = plan.seconds,
                                                   .not_before = Seconds(0),
                                                   .after = plan.after});
      replay->on_submitted(plan, graph);
      std::vector<sim::Event> events;
      while (executor->advance(sim::kForever, events)) {
      }
      end = executor->timeline(graph).end.value();
    }
    return end;
  }
};

std::int64_t payload(const Fixture& fixture) {
  return fixture.first_step().payload.count();
}

TEST_CASE("bytes of a step are those of the hand formula") {
  Fixture none("none"), fp16("fp16"), terngrad("terngrad"), topk("topk");
  // Ring all-reduce of 4,251 elements: 2 (N - 1) E 4 = 6 x 4,251 x 4.
  CHECK(payload(none) == 6 * 4251 * 4);
  // Half of it: no chunk of binary16 needs padding.
  CHECK(payload(fp16) == 6 * 4251 * 2);
  // Each layer: u32 length, u32 k, k pairs of 8 B; k = ceil(n / 100) = 10, 3 and 31. Every message
  // crosses N - 1 links, N messages.
  CHECK(payload(topk) == 4 * 3 * ((8 + 80) + (8 + 24) + (8 + 248)));
  // Scales: 3 layers x 4 B x N (N - 1) = 144. A sum of j ternaries has 2 j + 1 values: 2 bits for
  // one worker, 3 for two and three, 4 for four. Bucket c in chunks of 750, 750, 750, 751:
  // 2 bits: 3 x 188 + 188 = 752; 3 bits: 4 x 282 = 1,128; 4 bits: 3 x 375 + 376 = 1,501.
  // Bucket b, a: chunks of 312, 313, 312, 313: 2 bits: 78 + 79 + 78 + 79 = 314;
  // 3 bits: 117 + 118 + 117 + 118 = 470; 4 bits: 156 + 157 + 156 + 157 = 626.
  // Hops: one of 2 bits, two of 3 bits, three of 4 bits.
  CHECK(payload(terngrad) == 144 + (752 + 2 * 1128 + 3 * 1501) + (314 + 2 * 470 + 3 * 626));
  CHECK(topk.first_step().dense_payload == Bytes(6 * 4251 * 4));
}

TEST_CASE("bytes through a parameter server are those of the hand formula") {
  Fixture none("none"), terngrad("terngrad");
  none.scenario.exchange.collective = terngrad.scenario.exchange.collective = "parameter-server";
  CHECK(payload(none) == 2 * 4 * 4251 * 4);
  // Scales up and down: 2 x 4 x 3 x 4 B. Terms up in 2 bits: 751 B and 313 B; sums of four down in
  // 4 bits: 1,501 B and 625 B.
  CHECK(payload(terngrad) == 96 + 4 * (751 + 313 + 1501 + 625));
}

/// One real step on drawn gradients.
scenarios::StepPlan encoded_step(const scenarios::Scenario& scenario, const Layout& layout) {
  StateStore states;
  const auto exchange = make_exchange(exchange_settings(scenario), layout, states);
  scenarios::ComputeProfile times;
  for (const BucketSlot& bucket : layout.buckets()) {
    times.buckets.emplace_back().elements = bucket.count;
  }
  const auto plan = make_step_template(scenario, layout, *exchange, times);
  std::vector<std::vector<std::vector<float>>> values(kWorkers);
  std::vector<std::vector<std::span<const float>>> spans(kWorkers);
  for (std::uint32_t w = 0; w < kWorkers; ++w) {
    for (const TensorSlot& slot : layout.tensors()) {
      auto& drawn = values[w].emplace_back(static_cast<std::size_t>(slot.count));
      const RandomStream stream{9, 0, w, static_cast<std::uint32_t>(slot.parameter)};
      for (std::size_t e = 0; e < drawn.size(); ++e) drawn[e] = uniform(stream, e) - 0.5f;
    }
    spans[w].assign(values[w].begin(), values[w].end());
  }
  scenarios::StepPlan step;
  StepTraffic traffic(*plan, step.bytes);
  for (int w = 0; exchange->shares_scales() && w < kWorkers; ++w) {
    exchange->propose(w, spans[static_cast<std::size_t>(w)]);
  }
  if (exchange->shares_scales()) exchange->agree(traffic);
  for (int w = 0; w < kWorkers; ++w) exchange->encode(w, spans[static_cast<std::size_t>(w)], 0);
  std::vector<float> mean(static_cast<std::size_t>(layout.elements()));
  exchange->combine(traffic, mean);
  step.payload = traffic.payload();
  return step;
}

TEST_CASE("the formula's sizes are those that the encoders write") {
  const std::vector<Parameter> parameters{{"a", {1000}}, {"b", {250}}, {"c", {3001}}};
  for (const char* method : {"none", "fp16", "terngrad", "topk"}) {
    for (const char* collective : {"ring", "tree", "halving-doubling", "two-level", "direct",
                                   "scatter-reduce", "in-network", "parameter-server"}) {
      for (const bool feedback : {false, true}) {
        Fixture fixture(method);
        fixture.scenario.exchange.collective = collective;
        fixture.scenario.exchange.group = 3;
        fixture.scenario.exchange.shards = feedback ? 3 : 1;
        const auto policy = exchange_settings(fixture.scenario).codec->policy();
        if (!scenarios::exchange_conflict(policy, collective).empty()) continue;
        fixture.scenario.method.error_feedback = feedback && fixture.scenario.method.name != "none";
        const auto codec = exchange_settings(fixture.scenario).codec;
        const bool server = std::string(collective) == "parameter-server";
        if (server && codec->policy() == compressors::AggregatePolicy::kGather) continue;
        CAPTURE(method, collective, feedback);
        const Layout layout(parameters, fixture.scenario.exchange.bucket);
        const scenarios::StepPlan real = encoded_step(fixture.scenario, layout);
        const scenarios::StepPlan replayed = fixture.first_step();
        CHECK(replayed.bytes == real.bytes);
        CHECK(replayed.payload == real.payload);
      }
    }
  }
}

TEST_CASE("compute times are the layer table's times the batch") {
  Fixture fixture;
  const auto replay = make_profile_replay(fixture.scenario);
  const scenarios::ComputeProfile& times = replay->prepare();
  CHECK(times.provenance == "profile");
  CHECK(times.forward.value() == Approx(2 * 0.003));
  REQUIRE(times.buckets.size() == 2);
  CHECK(times.buckets[0].backward.value() == Approx(2 * 0.003));            // c
  CHECK(times.buckets[1].backward.value() == Approx(2 * (0.001 + 0.002)));  // b and a
  CHECK(times.buckets[0].encode == Seconds(0));
  CHECK(replay->parameters() == 4251);
  CHECK(replay->learning_hash() == 0);
}

TEST_CASE("parts of a batch pass one after the other, and the last one's gradients are sent") {
  Fixture fixture;
  fixture.scenario.workload.batch_per_worker = 5;
  fixture.scenario.workload.micro_batches = 2;
  // A profile is of one part, the larger: 3 samples of 3 ms forward and 6 ms back.
  const auto times = [&] { return make_profile_replay(fixture.scenario)->prepare(); };
  CHECK(times().forward.value() == Approx(9e-3));
  CHECK(times().buckets[0].backward.value() == Approx(3 * 3e-3));
  CHECK(times().update.value() == Approx(1e-3));
  // The exchange is the whole batch's. Three steps pass both parts: 2 x 27 ms and 1 ms of update.
  CHECK(payload(fixture) == 6 * 4251 * 4);
  const double parts = fixture.seconds_to_end();
  CHECK(parts > 3 * 55e-3);
  CHECK(parts < 3 * 55e-3 + 0.02);
  // Computed again: 3 ms a sample more, behind whose end each layer's gradients are ready.
  fixture.scenario.workload.checkpoint_activations = 3;
  CHECK(times().forward.value() == Approx(9e-3));
  CHECK(times().buckets[0].backward.value() == Approx(3 * (3e-3 + 1e-3)));
  CHECK(fixture.seconds_to_end() - parts == Approx(3 * 2 * 3 * 3e-3).epsilon(0.05));
  CHECK(payload(fixture) == 6 * 4251 * 4);
}

TEST_CASE("codec times: of the device profile, or measured") {
  Fixture fixture("fp16");
  // reference-cpu, fp16: encode 5 us + 0.5 ns an element.
  CHECK(make_profile_replay(fixture.scenario)->prepare().buckets[0].encode.value() ==
        Approx(5e-6 + 3001 * 5e-10));
  fixture.scenario.cluster.device = "cpu";
  const auto measured = make_profile_replay(fixture.scenario);
  CHECK(measured->prepare().buckets[0].encode > Seconds(0));
  CHECK(measured->prepare().device.find("measured") != std::string::npos);
}

TEST_CASE("layers with counts take their times from the device, tensors are sent apart") {
  Fixture fixture("terngrad");
  fixture.scenario.workload.profile = "alexnet-grouped";
  fixture.scenario.workload.batch_per_worker = 128;
  fixture.scenario.cluster.device = "v100";
  fixture.scenario.exchange.bucket = Bytes(100'000'000);
  const auto replay = make_profile_replay(fixture.scenario);
  const scenarios::ComputeProfile& times = replay->prepare();
  CHECK(replay->parameters() == 60'965'224);
  // fc8 and fc7 (with biases) are 83.5 MB, fc6's bias joins them; its weight (151 MB) stands alone,
  // the convolutions (9.35 MB) come last.
  REQUIRE(times.buckets.size() == 3);
  CHECK(times.buckets[0].elements == 4'097'000 + 16'781'312 + 4096);
  CHECK(times.buckets[1].elements == 9216 * 4096);
  // fc6's gradients are ready together: its time holds up the first bucket, none is left for the
  // second. 128 x 9,216 x 4,096 x 2 FLOPs at 15.7 TFLOP/s, twice: 1.23 ms.
  CHECK(times.buckets[1].backward == Seconds(0));
  CHECK(times.buckets[0].backward.value() > 1.23e-3);
  // 1.456 GFLOP x 128 / 15.7 TFLOP/s = 12 ms at least; 3 x 3 convolutions take fewer operations.
  CHECK(times.forward.value() > 1.456e9 * 128 / 15.7e12 * 0.8);
  // 20 B x 60,965,224 / 900 GB/s = 1.3548 ms, 0.938 times that; a step's 10 ms, and 17.2 of
  // several.
  const auto kernels = *scenarios::load_device_profile("v100", "").kernels;
  CHECK(times.update.value() ==
        Approx(1.3548e-3 * kernels.update + kernels.step.value() + kernels.parallel.value())
            .epsilon(1e-3));
  CHECK(times.buckets[1].encode.value() ==
        Approx(10e-6 + 9216.0 * 4096 * 8.25 / 900e9).epsilon(1e-4));
  fixture.scenario.method.error_feedback = true;
  const auto feedback = make_profile_replay(fixture.scenario);
  CHECK(feedback->prepare().buckets[1].encode.value() ==
        Approx(15e-6 + 9216.0 * 4096 * 20.25 / 900e9).epsilon(1e-4));
  fixture.scenario.cluster.device = "cpu";
  CHECK_THROWS_AS(make_profile_replay(fixture.scenario), Error);
}

TEST_CASE("a step takes at least what compute and bandwidth ask for; overlap hides some of it") {
  Fixture apart;
  apart.scenario.exchange.overlap = false;
  Fixture overlapped;
  // Compute 6 + 12 + 1 ms. A worker sends 6/4 x 4,251 x 4 B = 25.5 kB in 2.04 ms at 100 Mbps.
  const double compute = 3 * 0.019, network = 3 * 6.0 / 4 * 4251 * 4 * 8 / 100e6;
  CHECK(apart.seconds_to_end() >= compute + network);
  CHECK(overlapped.seconds_to_end() >= compute);
  CHECK(overlapped.seconds_to_end() < apart.seconds_to_end());
}

TEST_CASE("a server that is spread over as many hosts as there are workers is that much faster") {
  Fixture fixture;
  fixture.scenario.exchange.collective = "parameter-server";
  fixture.scenario.exchange.overlap = false;
  const double one = fixture.seconds_to_end();
  fixture.scenario.exchange.shards = 4;
  const double four = fixture.seconds_to_end();
  CHECK(payload(fixture) == 2 * 4 * 4251 * 4);
  // Three steps. One server: 4 x 17 kB in and out of one link at 100 Mbps, 2 x 5.44 ms, of which
  // three quarters go where every shard has a link of its own.
  const double saved = 3 * 0.75 * 2 * 4 * 4251 * 4 * 8 / 100e6;
  CHECK(one - four > 0.8 * saved);
  CHECK(one - four < 1.2 * saved);
}

TEST_CASE("a straggler holds everyone") {
  Fixture even, uneven;
  uneven.scenario.cluster.slowdown = {1, 1, 3, 1};
  // Worker 2 computes 3 x 19 ms a step instead of 19 ms.
  CHECK(uneven.seconds_to_end() >= even.seconds_to_end() + 3 * 0.030);
}

TEST_CASE("messages without a size of their own take what drawn values take, near real steps") {
  const std::vector<Parameter> parameters{{"a", {1000}}, {"b", {250}}, {"c", {3001}}};
  for (const char* method : {"dgc", "topk"}) {
    Fixture fixture(method);
    CAPTURE(method);
    // As many bits as the gaps take.
    if (std::string(method) == "topk") fixture.scenario.method.options["indices"] = "golomb";
    const Layout layout(parameters, fixture.scenario.exchange.bucket);
    const auto real = static_cast<double>(encoded_step(fixture.scenario, layout).payload.count());
    const auto drawn = static_cast<double>(payload(fixture));
    CHECK(drawn == Approx(real).epsilon(0.1));
    const auto replay = make_profile_replay(fixture.scenario);
    CHECK_THAT(replay->prepare().device, Catch::Matchers::Contains("sized by drawn values"));
  }
  // 0.1 % of 9,216 x 4,096 weights: 37,749 of them, 8 B each, found by a sampled threshold.
  Fixture large("dgc");
  large.scenario.workload.profile = "alexnet-grouped";
  large.scenario.cluster.device = "v100";
  // Three messages cross from each of four workers; 60,965,224 x 0.1 % x 8 B = 488 kB a message.
  CHECK(static_cast<double>(payload(large)) == Approx(12 * 488e3).epsilon(0.35));
}

TEST_CASE("drawn sizes scale with what is left out of a large tensor") {
  const auto codec = compressors::make_codec("topk", {{"indices", "golomb"}});
  const auto drawn = with_drawn_sizes(codec);
  const std::vector<std::int64_t> shape{4096, 256}, four_times{16384, 256};
  const std::size_t one = drawn->max_encoded_size({std::size_t{1} << 20, "w", shape});
  CHECK(one > 0);
  CHECK(one < codec->max_encoded_size({std::size_t{1} << 20, "w", shape}));
  CHECK(drawn->max_encoded_size({std::size_t{1} << 22, "w", four_times}) == 4 * one);
  CHECK(has_fixed_size(*compressors::make_codec("fp16")));
  CHECK_FALSE(has_fixed_size(*codec));
}

TEST_CASE("a rule goes by the whole tensor's size, however the exchange cuts it") {
  // Scattered to four workers, every part of c (3,001 elements) is smaller than 1,000; c is not.
  const auto with_rule = [](const compressors::TensorRule& rule) {
    Fixture fixture("compressed");
    fixture.scenario.method.plan = {.codec = {"topk", {{"indices", "golomb"}}},
                                    .rules = {{rule, {"none", {}}}}};
    fixture.scenario.exchange.collective = "scatter-reduce";
    return payload(fixture);
  };
  const std::int64_t by_size = with_rule({.elements_below = 1000});
  CHECK(by_size == with_rule({.names = "b"}));
  CHECK(by_size != with_rule({.names = "c"}));  // negative control
}

TEST_CASE("feedback and clipping leave fp16's and terngrad's sums as they are") {
  for (const char* codec : {"fp16", "terngrad"}) {
    for (const char* collective : {"ring", "tree", "parameter-server"}) {
      CAPTURE(codec, collective);
      Fixture plain(codec), decorated("compressed");
      plain.scenario.exchange.collective = decorated.scenario.exchange.collective = collective;
      decorated.scenario.method.plan = {
          .codec = {codec, {}},
          .error_feedback = true,
          .clipping = compressors::Clipping{compressors::ClipBy::kNorm, 1.0}};
      CHECK(payload(decorated) == payload(plain));
    }
  }
}

TEST_CASE("what no formula can size is refused") {
  for (const char* method : {"topk", "dgc"}) {
    Fixture fixture(method);
    fixture.scenario.exchange.collective = "parameter-server";
    fixture.scenario.method.error_feedback = true;
    CHECK_THROWS_WITH(make_profile_replay(fixture.scenario),
                      Catch::Matchers::Contains("depends on which elements"));
  }
  Fixture gpu;
  gpu.scenario.cluster.device = "cuda";
  CHECK_THROWS_WITH(make_profile_replay(gpu.scenario), Catch::Matchers::Contains("device cuda"));
}

}  // namespace
}  // namespace gradwire::trainers
