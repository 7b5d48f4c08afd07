#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "scenarios/methods.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Every gradient codec of the catalogue trains the digits, round a ring and over a server.
namespace gradwire::trainers {
namespace {

struct Learnt {
  double first = 0, last = 0;  ///< training loss, mean of the first and of the last three steps
  double ratio = 0;            ///< dense bytes / bytes
  bool falls() const { return std::isfinite(last) && last < 0.9 * first; }
};

Learnt train(const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {1, true});
  std::vector<std::int64_t> elements;
  for (const BucketSlot& bucket : static_cast<SynchronousTrainer&>(*trainer).layout().buckets())
    elements.push_back(bucket.count);
  trainer->use_profile(fixed_profile(elements));
  std::vector<double> losses;
  double sent = 0, dense = 0;
  for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) {
    losses.push_back(plan.loss);
    sent += static_cast<double>(plan.payload.count());
    dense += static_cast<double>(plan.dense_payload.count());
  }
  const auto mean = [&](std::size_t from) {
    return (losses[from] + losses[from + 1] + losses[from + 2]) / 3;
  };
  return {mean(0), mean(losses.size() - 3), dense / sent};
}

scenarios::Scenario short_run(const scenarios::Method& method, bool server) {
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.workload.steps = 24;
  scenario.cluster.workers = 3;
  scenario.exchange.collective = server ? "parameter-server" : "ring";
  scenario.exchange.bucket = Bytes(70'000);  // several buckets
  scenario.method = method;
  return scenario;
}

scenarios::Method compressed(const compressors::CodecPlan& plan) {
  scenarios::Method method;
  method.name = "compressed";
  method.error_feedback = plan.error_feedback;
  method.plan = plan;
  return method;
}

/// Codecs that send 1 or 0.1 % of the elements by default send more here: few steps must do.
std::map<std::string, std::string> options_for_few_steps(const std::string& codec) {
  if (codec == "randomk" || codec == "dgc" || codec == "stc") return {{"ratio", "0.1"}};
  return {};
}

TEST_CASE("every gradient codec trains the digits") {
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue()) {
    if (!scenarios::why_no_gradient_codec(codec).empty()) continue;
    // Biased codecs need feedback to be sure to learn.
    const bool feedback = !codec.unbiased && codec.name != "none";
    for (const bool server : {false, true}) {
      const Learnt learnt = train(short_run({.name = codec.name,
                                             .error_feedback = feedback,
                                             .options = options_for_few_steps(codec.name),
                                             .plan = {}},
                                            server));
      INFO(codec.name << (server ? " server" : " ring") << ": loss " << learnt.first << " to "
                      << learnt.last << ", ratio " << learnt.ratio);
      CHECK(learnt.falls());
      // What a server sends back is dense where the sum is.
      CHECK(learnt.ratio > (codec.name == "none" ? 0.999 : server ? 0.9 : 1.2));
    }
  }
}

TEST_CASE("decorated codecs train the digits") {
  using namespace compressors;
  CodecPlan dgc{.codec = {"topk", {{"ratio", "0.01"}}},
                .error_feedback = true,
                .momentum_correction = MomentumPlan{.momentum = 0.9},
                .clipping = Clipping{ClipBy::kNorm, 5},
                .rules = {{{.dimensions_below = 2}, {}}}};
  CodecPlan filtered{
      .codec = {"terngrad", {}},
      .clipping = Clipping{ClipBy::kSigma, 3},
      .rules = {{{.names = "*.bias"}, {"fp16", {}}}, {{.elements_below = 1024}, {}}}};
  for (const CodecPlan& plan : {dgc, filtered}) {
    for (const bool server : {false, true}) {
      const Learnt learnt = train(short_run(compressed(plan), server));
      INFO(plan.codec.name << ": loss " << learnt.first << " to " << learnt.last);
      CHECK(learnt.falls());
    }
  }
}

TEST_CASE("negative control: a run that cannot learn does not pass for one that does") {
  scenarios::Scenario scenario = short_run({}, false);
  scenario.workload.learning_rate = 1e-7;
  CHECK_FALSE(train(scenario).falls());
}

TEST_CASE("momentum of workers takes the place of the optimiser's: it counts once") {
  // Everything sent and nothing masked, local momentum is the optimiser's, up to rounding.
  scenarios::Method method = compressed(
      {.codec = {"topk", {{"ratio", "1"}}},
       .error_feedback = true,
       .momentum_correction = compressors::MomentumPlan{.momentum = 0.9, .masking = false}});
  scenarios::Scenario dense = short_run({}, false), corrected = short_run(method, false);
  REQUIRE(dense.workload.momentum == 0.9);
  const Learnt expected = train(dense), found = train(corrected);
  CHECK(found.last == Approx(expected.last).epsilon(1e-3));
  // Negative control: without momentum it is another run.
  dense.workload.momentum = 0;
  CHECK(std::abs(train(dense).last - expected.last) > 0.05);
}

}  // namespace
}  // namespace gradwire::trainers
