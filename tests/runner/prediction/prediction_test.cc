#include "runner/prediction/prediction.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "compressors/codec.h"
#include "results/prediction/solve.h"
#include "runner/prediction/step_times.h"
#include "runner/record/step_summary.h"
#include "scenarios/methods.h"
#include "scenarios/profiles/layer_times.h"
#include "scenarios/profiles/profile.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

scenarios::Scenario alexnet(const std::string& method, int workers, const std::string& collective,
                            const std::string& device = "reference-cpu") {
  return scenarios::read_scenario_text(
             R"({"schema_version": 1, "name": "a", "workload": {"profile": "alexnet",
                 "batch_per_worker": 32, "steps": 3}, "network": {"topology": "star",
                 "link": {"bandwidth": "1Gbps", "delay": "50us"}}, "executor": "flow", "seeds": [1],
                 "cluster": {"workers": )" +
                 std::to_string(workers) + R"(, "device": ")" + device +
                 R"("}, "method": {"name": ")" + method + R"("}, "exchange": {"collective": ")" +
                 collective + R"("}})",
             scenarios::share_folder() + "/a.json")
      .runs.at(0);
}

/// Every codec that a scenario can compress gradients by and the device has times of.
std::vector<std::string> methods_of(const std::string& device) {
  const auto profile = scenarios::load_device_profile(device, "");
  std::vector<std::string> methods;
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    if (scenarios::why_no_gradient_codec(codec).empty() && profile.codecs.contains(codec.name))
      methods.push_back(codec.name);
  return methods;
}

double seconds(const StepSummary& step) {
  return step_time(step, usual_constants()).total_s;
}

}  // namespace

TEST_CASE("Step time times efficiency is one number for all methods") {
  // AlexNet's own times: 29.4 ms a batch of 32 and worker.
  const double lone = seconds(alone(runner::summary_of(alexnet("none", 8, "ring"), nullptr, {})));
  CHECK(lone == Approx(0.0294).epsilon(0.01));
  int asked = 0;
  for (const std::string& method : methods_of("reference-cpu")) {
    for (const char* collective : {"ring", "tree", "parameter-server"}) {
      INFO(method << " by " << collective);
      const auto codec = scenarios::make_method_codec(alexnet(method, 2, "ring").method);
      if (!scenarios::exchange_conflict(codec->policy(), collective).empty()) continue;
      const bool sized = codec->policy() == compressors::AggregatePolicy::kSum;
      if (std::string_view(collective) == "parameter-server" && !sized) continue;
      const auto step = runner::summary_of(alexnet(method, 8, collective), nullptr, {});
      CHECK(efficiency(usual_fit(), step) * seconds(step) == Approx(lone).epsilon(1e-9));
      ++asked;
    }
  }
  CHECK(asked > 20);
}

TEST_CASE("TernGrad's scales are no part of what a worker does alone") {
  // AlexNet on 8 workers: 29.4 of some 350 ms, and flow says the same of the step.
  const auto scenario = alexnet("terngrad", 8, "ring");
  const auto step = runner::summary_of(scenario, nullptr, {});
  REQUIRE(step.buckets[0].scale_s > 0);
  const double share = efficiency(usual_fit(), step);
  CHECK(share == Approx(0.0294 / seconds(step)).epsilon(0.01));
  CHECK(share == Approx(0.0294 / runner::time_steps(scenario).warm().back()).epsilon(0.03));
}

TEST_CASE("One worker has a step, too: what flow says") {
  for (const auto& [method, collective] : {std::pair("none", "ring"),
                                           {"terngrad", "ring"},
                                           {"topk", "ring"},
                                           {"none", "tree"},
                                           {"fp16", "parameter-server"}}) {
    INFO(method << " by " << collective);
    const auto scenario = alexnet(method, 1, collective);
    const auto step = runner::summary_of(scenario, nullptr, {});
    CHECK(step.workers == 1);
    CHECK(seconds(step) == Approx(runner::time_steps(scenario).warm().back()).epsilon(0.02));
  }
  const auto dense = runner::summary_of(alexnet("none", 1, "ring"), nullptr, {});
  CHECK(efficiency(usual_fit(), dense) == Approx(1));
}

TEST_CASE("What a device profile assumes is in the step, and what is measured is not") {
  const auto gpu = runner::summary_of(alexnet("topk", 4, "ring", "v100"), nullptr, {});
  CHECK(gpu.assumed.coding == PlausibleRange{1, 100});       // the GPU's own, of its file
  CHECK(gpu.assumed.compute == scenarios::kAssumedCompute);  // AlexNet's table has its own times
  const auto plain = runner::summary_of(alexnet("none", 4, "ring", "v100"), nullptr, {});
  CHECK(plain.assumed.coding.certain());  // no codec
  // Codecs of device cpu are timed here.
  CHECK(
      runner::summary_of(alexnet("fp16", 4, "ring", "cpu"), nullptr, {}).assumed.coding.certain());
  auto counted = alexnet("topk", 4, "ring", "v100");
  counted.workload.profile = "resnet50";
  const auto v100 = scenarios::load_device_profile("v100", "");
  const auto compute = runner::summary_of(counted, nullptr, {}).assumed.compute;
  CHECK(compute == scenarios::range_of_times(scenarios::load_workload_profile("resnet50", ""), v100,
                                             "fp32", counted.workload.batch_per_worker));
  CHECK(compute.high >= v100.origin.compute.high);  // hosts differ, too
}

TEST_CASE("Links that are all alike have no spread, however their rate rounds") {
  // A mean of equal rates may differ from them in its last bit: that is no irregular network.
  for (int draw = 1; draw <= 200; ++draw) {
    auto scenario = alexnet("none", 2 + draw % 37, "ring");
    scenario.network.link.rate = BitsPerSecond(1e8 * std::sqrt(static_cast<double>(draw)) / 3);
    StepSummary step;
    step.workers = scenario.cluster.workers;
    runner::take_paths(scenarios::build_cluster(scenario), scenario.network.transport, step);
    INFO(draw);
    CHECK(step.rate_spread == 0);
    CHECK_FALSE(step.is_irregular());
  }
}
