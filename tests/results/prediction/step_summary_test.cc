#include "results/prediction/step_summary.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "results/prediction/fit_file.h"
#include "results/prediction/solve.h"
#include "results/prediction/stored_summary.h"
#include "tests/results/prediction/step_cases.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

/// 0.1 s forward, 0.2 s backward, 0.01 s update, and everything that an exchange can cost.
StepSummary costly_step(ExchangeKind exchange) {
  StepSummary step = ring_step(8, 1e6);
  step.exchange = exchange;
  step.forward_s = 0.1;
  step.update_s = 0.01;
  step.buckets[0] = {.backward_s = 0.2,
                     .encode_s = 0.04,
                     .decode_s = 0.02,
                     .add_s = 0.01,
                     .message_bytes = 1e6,
                     .prelude_bytes = 1e4,
                     .scale_s = 0.03};
  return step;
}

}  // namespace

TEST_CASE("What one worker does alone has nothing of the exchange in it") {
  for (int kind = 0; kind <= static_cast<int>(ExchangeKind::kScatterReduce); ++kind) {
    StepSummary step = costly_step(static_cast<ExchangeKind>(kind));
    INFO(name_of(step.exchange));
    const StepFit fit = plain_fit();
    const double seconds = step_time(step, fit.constants).total_s;
    REQUIRE(seconds > 0.31);
    CHECK(efficiency(fit, step) * seconds == Approx(0.31).epsilon(1e-12));  // .1 + .2 + .01
    // An efficiency of .5 allows .62 s, however the messages are coded.
    CHECK(allowed_seconds(fit, step, parse_target("efficiency>=0.5"), 1) == Approx(0.62));
  }
}

TEST_CASE("A slower codec and slower compute are what they say") {
  const StepSummary step = costly_step(ExchangeKind::kRingAllReduce);
  const StepSummary coded = with_coding(step, 10), slow = with_compute(step, 2);
  CHECK(coded.buckets[0].encode_s == Approx(0.4));
  CHECK(coded.buckets[0].scale_s == Approx(0.3));
  CHECK(coded.buckets[0].decode_s == Approx(0.2));
  CHECK(coded.buckets[0].add_s == Approx(0.1));
  CHECK(coded.forward_s == step.forward_s);
  CHECK(coded.buckets[0].backward_s == step.buckets[0].backward_s);
  CHECK(slow.forward_s == Approx(0.2));
  CHECK(slow.buckets[0].backward_s == Approx(0.4));
  CHECK(slow.update_s == Approx(0.02));
  CHECK(slow.buckets[0].encode_s == step.buckets[0].encode_s);
}

TEST_CASE("What was assumed widens the band by its own range, and nothing else does") {
  // A fit that is sure: no draws apart, hardly any scatter. Ring of 8: 14 hops of 125 kB at
  // 125 MB/s and 100 us: 15.4 ms. Step: .1 s of compute + .0154 s.
  StepFit fit = plain_fit();
  fit.draws.clear();
  fit.most_workers = 8;
  StepSummary step = ring_step(8, 1e6);
  step.forward_s = 0.1;
  const StepPrediction sure = predict_step(fit, step);
  CHECK(sure.time.total_s == Approx(0.1154));
  CHECK(sure.high_s / sure.low_s < 1.001);
  CHECK(sure.low_s == sure.model_low_s);
  // Compute of half to twice as much: .0654 to .2154 s.
  step.assumed.compute = {0.5, 2};
  const StepPrediction assumed = predict_step(fit, step);
  CHECK(assumed.time.total_s == sure.time.total_s);
  CHECK(assumed.low_s == Approx(0.0654).epsilon(1e-3));
  CHECK(assumed.high_s == Approx(0.2154).epsilon(1e-3));
  CHECK(assumed.model_high_s == sure.high_s);
  // Costs of a codec that nobody has: no wider. Of one that takes 10 ms, to ten times that:
  // .1254 s, and with .1 s more .2254: squares of logarithms add up.
  step.assumed.coding = {1, 10};
  CHECK(predict_step(fit, step).high_s == assumed.high_s);
  step.buckets[0].encode_s = 0.01;
  const StepPrediction both = predict_step(fit, step);
  CHECK(std::log(both.high_s / 0.1254) ==
        Approx(std::hypot(std::log(0.2254 / 0.1254), std::log(0.2154 / 0.1254))).epsilon(1e-3));
  // A bound that is never undercut adds nothing below.
  CHECK(std::log(0.1254 / both.low_s) == Approx(std::log(0.1254 / 0.0754)).epsilon(1e-3));
}

TEST_CASE("An efficiency knows that slower compute is slower alone, too") {
  // .1 s of compute, then 1.75e8 B / rate + 1.4 ms: .8 of it alone leaves 25 ms of exchange. With
  // compute of .05 s only 12.5 ms are left, with .2 s 50 ms.
  StepFit fit = plain_fit();
  fit.draws.clear();
  fit.most_workers = 8;
  StepSummary step = training_step();
  const Target target = parse_target("efficiency>=0.8");
  const Solution sure = solve_step(fit, step, SolveFor::kBandwidth, target, 32);
  step.assumed.compute = {0.5, 2};
  const Solution assumed = solve_step(fit, step, SolveFor::kBandwidth, target, 32);
  const auto rate_for = [](double exchange_s) { return 1.75e8 / (exchange_s - 1.4e-3); };
  CHECK(*assumed.value == Approx(*sure.value));
  CHECK(*sure.value == Approx(rate_for(0.025)).epsilon(1e-6));
  CHECK(sure.high / sure.low < 1.01);
  CHECK(assumed.high > 1.5 * *sure.value);
  CHECK(assumed.low < *sure.value / 1.5);
}

TEST_CASE("What was assumed is stored with the summary, and said in words") {
  StepSummary step = costly_step(ExchangeKind::kRingAllReduce);
  const auto count = summary_metrics(step, RunOrigins{}).size();
  CHECK(in_words(step.assumed).empty());
  step.assumed = {{0.49, 1.3}, {1, 100}};
  const auto rows = summary_metrics(step, RunOrigins{});
  CHECK(rows.size() == count + 4);
  const auto read = stored_summary(rows);
  REQUIRE(read);
  CHECK(read->assumed.compute == PlausibleRange{0.49, 1.3});
  CHECK(read->assumed.coding == PlausibleRange{1, 100});
  CHECK(in_words(read->assumed) ==
        "compute 0.49 to 1.3 times what is assumed, codecs 1 to 100 times");
}

TEST_CASE("A fit says what it rests on, and an answer how far beyond it lies") {
  std::vector<StepPoint> points;
  for (const int n : {2, 4, 8})
    points.push_back({"ring", ring_step(n), step_time(ring_step(n), usual_constants()).total_s});
  points[0].provenance = Provenance::kMeasured;
  const StepFit fit = fit_steps(points);
  CHECK(data_of(fit.ground) == "1 measured, 2 simulated points of 2 to 8 workers");
  CHECK(against(fit.ground) == "measured steps, Gradwire's own simulator");
  CHECK(error_words(fit.ground) == "errors are against measured steps, Gradwire's own simulator");
  CHECK(beyond_data(fit.ground, ring_step(8)).empty());
  StepSummary far = ring_step(512);
  CHECK(beyond_data(fit.ground, far) == "workers 64 times the most");
  far.bandwidth *= 10;
  far.delay_s /= 4;
  far.loss = 0.01;
  CHECK(beyond_data(fit.ground, far) ==
        "workers 64 times the most, bandwidth 10 times the most, delay 1/4 of the least, "
        "loss above all of them (0)");
  // A fit's file keeps it; no fit has no data to be beyond.
  const StepFit read = fit_from_json(fit_as_json(fit), "f");
  CHECK(beyond_data(read.ground, far) == beyond_data(fit.ground, far));
  CHECK(data_of(read.ground) == data_of(fit.ground));
  CHECK(data_of(usual_fit().ground) == "no points: constants at their usual values");
  CHECK(beyond_data(usual_fit().ground, far).empty());
  CHECK(against(usual_fit().ground).empty());
  CHECK(error_words(usual_fit().ground).empty());
}
