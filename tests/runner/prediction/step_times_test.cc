#include "runner/prediction/step_times.h"

#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "results/prediction/step_fit.h"
#include "results/prediction/step_model.h"
#include "runner/prediction/prediction.h"
#include "runner/run_loop.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

/// A collective of 1 MB on a star of 1 Gbps, 50 us a link, `loss` a packet and link.
scenarios::Scenario collective(const std::string& kind, int workers, double loss = 0) {
  const std::string text =
      R"({"schema_version": 1, "name": "c", "workload": {"collective": ")" + kind +
      R"(", "bytes": "1MB", "repetitions": 3}, "cluster": {"workers": )" + std::to_string(workers) +
      R"(}, "network": {"topology": "star", "link": {"bandwidth": "1Gbps", "delay": "50us", "loss": )" +
      std::to_string(loss) + R"(}}, "executor": "flow", "seeds": [1]})";
  return scenarios::read_scenario_text(text, scenarios::share_folder() + "/c.json").runs.at(0);
}

scenarios::Scenario training(const std::string& codec, int workers,
                             const std::string& exchange = "ring") {
  const std::string text =
      R"({"schema_version": 1, "name": "t", "workload": {"profile": "alexnet", "batch_per_worker": 4,
          "steps": 2}, "method": {"name": ")" +
      codec + R"("}, "cluster": {"workers": )" + std::to_string(workers) +
      R"(, "device": "reference-cpu"}, "network": {"topology": "star"}, "exchange": {"collective": ")" +
      exchange + R"("}, "executor": "flow", "seeds": [1]})";
  return scenarios::read_scenario_text(text, scenarios::share_folder() + "/t.json").runs.at(0);
}

}  // namespace

TEST_CASE("Summaries say what one worker's message is, however it travels") {
  for (const char* kind : {"ring-all-reduce", "ring-all-gather", "direct-all-gather",
                           "tree-all-reduce", "parameter-server", "two-level-all-reduce"}) {
    INFO(kind);
    const auto step = runner::time_steps(collective(kind, 4)).summary;
    REQUIRE(step);
    CHECK(step->message_bytes() == Approx(1e6).epsilon(0.001));
    CHECK(step->workers == 4);
    CHECK(step->bandwidth == Approx(125e6));
    // Two links of 50 us, and 1,538 bytes stored and forwarded once: 12.3 us.
    CHECK(step->delay_s == Approx(100e-6 + 1538 / 125e6).epsilon(0.01));
    CHECK(step->loss == 0);
  }
}

TEST_CASE("Steps are those of a run: workers go on alone") {
  // Under loss a worker's next step does not wait for another's delay, so that 12 steps do not end
  // when 12 do that begin together, each alone in its simulation's first step.
  auto scenario = collective("ring-all-gather", 8, 0.01);
  scenario.workload.steps = scenario.workload.repetitions = 12;
  const auto all = runner::time_steps(scenario);
  REQUIRE(all.ends.size() == 12);
  CHECK(std::ranges::is_sorted(all.ends));
  const auto store = Store::in_memory();
  runner::RunObserver quiet;
  RunId run = 0;
  runner::run_scenario(scenario, {}, *store, quiet, {}, run);
  CHECK(all.ends.back() == Approx(store->run(run)->simulated_s).epsilon(1e-12));
  scenario.workload.steps = scenario.workload.repetitions = 1;
  double together = 0;
  for (scenario.seed = 1; scenario.seed <= 12; ++scenario.seed)
    together += runner::time_steps(scenario).ends.back();
  CHECK(all.ends.back() != Approx(together).epsilon(1e-3));
}

TEST_CASE("Steps take as long where what is symmetric is simulated once") {
  // 250,000 elements are 80 chunks of 3,125; gradients of layers are chunks that differ by one.
  std::vector<scenarios::Scenario> all = {collective("ring-all-reduce", 80),
                                          collective("ring-all-gather", 80),
                                          collective("two-level-all-reduce", 128)};
  for (const char* codec : {"none", "fp16", "topk"}) all.push_back(training(codec, 32));
  for (scenarios::Scenario& scenario : all) {
    CAPTURE(scenario.json.dump());
    CHECK(scenario.network.fold);
    const runner::StepTimes folded = runner::time_steps(scenario);
    scenario.network.fold = false;
    const runner::StepTimes whole = runner::time_steps(scenario);
    CHECK(folded.transfers == whole.transfers);
    CHECK(folded.packets == whole.packets);
    REQUIRE(folded.ends.size() == whole.ends.size());
    for (std::size_t step = 0; step < whole.ends.size(); ++step)
      CHECK(folded.ends[step] == Approx(whole.ends[step]).epsilon(1e-9));
  }
}

TEST_CASE("Losses of a path's links add up") {
  const auto step = runner::time_steps(collective("ring-all-reduce", 4, 0.01)).summary;
  REQUIRE(step);
  CHECK(step->loss == Approx(1 - 0.99 * 0.99));
}

TEST_CASE("Workers that share a cell's air have no closed form") {
  const std::string path = scenarios::share_folder() + "/lte-cell.json";
  const auto scenario = scenarios::read_scenario_text(read_file(path), path).runs.at(0);
  CHECK_FALSE(runner::time_steps(scenario).summary);
  CHECK_THROWS_WITH(runner::summary_of(scenario, nullptr, {}),
                    Catch::Contains("air time") && Catch::Contains("--executor flow"));
}

TEST_CASE("The closed forms are tcp's") {
  using Protocol = sim::TransportSettings::Protocol;
  for (const Protocol protocol : {Protocol::kIdeal, Protocol::kUdpLossy}) {
    scenarios::Scenario scenario = collective("ring-all-reduce", 4, 0.01);
    scenario.network.transport.protocol = protocol;
    CHECK_FALSE(runner::time_steps(scenario).summary);
    CHECK_THROWS_WITH(runner::summary_of(scenario, nullptr, {}),
                      Catch::Contains("describe tcp") && Catch::Contains("--executor flow"));
  }
}

TEST_CASE("What the closed forms leave out is refused by its reason") {
  const auto reason = [](const std::string& network) {
    const std::string text = R"({"schema_version": 1, "name": "r", "workload": {"collective":
        "ring-all-reduce", "bytes": "10MB", "repetitions": 2}, "cluster": {"workers": 4},
        "executor": "flow", "seeds": [1], "network": {"topology": "star", )" +
                             network + "}}";
    const auto scenario =
        scenarios::read_scenario_text(text, scenarios::share_folder() + "/r.json").runs.at(0);
    try {
      runner::summary_of(scenario, nullptr, {});
    } catch (const Error& refused) {
      return std::string(refused.what());
    }
    return std::string();
  };
  const auto holds = [](const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
  };
  // 100 Mbps, 10 ms a link: 40 ms round, 500 kB under way; chunks of 2.5 MB.
  const std::string link = R"("link": {"bandwidth": "100Mbps", "delay": "10ms")";
  CHECK(reason(link + "}").empty());
  CHECK(holds(reason(link + R"(, "burst": {"enter": 0.001, "leave": 0.1}})"), "bursts"));
  CHECK(holds(reason(link + R"(, "jitter": "1ms"})"), "jitter"));
  CHECK(holds(reason(link + R"(, "half_duplex": true})"), "medium"));
  CHECK(holds(reason(link + R"(, "outages": [{"begin": "1s", "end": "2s"}]})"), "away at times"));
  CHECK(holds(reason(link + R"(}, "background": [{"from": "worker0", "to": "worker1",
                                                "bandwidth": "1Mbps"}])"),
              "others use its links"));
  CHECK(holds(reason(link + R"(}, "transport": {"congestion_control": "bbr"})"), "bbr"));
  CHECK(holds(reason(link + R"(, "queue": "400kB"})"), "queue"));
  CHECK(reason(link + R"(, "queue": "600kB"})").empty());
  CHECK(holds(reason(link + R"(}, "transport": {"buffer": "400kB"})"), "buffers"));
  CHECK(reason(link + R"(}, "transport": {"buffer": "600kB"})").empty());
  CHECK(holds(reason(link + R"(}, "transport": {"min_rto": "40ms"})"), "delayed"));
  CHECK(reason(link + R"(}, "transport": {"min_rto": "41ms"})").empty());
  const std::string lossy = link + R"(, "loss": 0.001}, "transport": )";
  CHECK(reason(lossy + R"({"congestion_control": "reno"})").empty());
  CHECK(holds(reason(lossy + R"({"calibration": "linux"})"), "Linux"));
}

TEST_CASE("Micro-batches but the last are computed before anything is sent") {
  auto scenario = training("none", 4);
  scenario.workload.micro_batches = 3;  // of 4 samples: 2, 1 and 1, all taken for 2
  const auto cut = runner::time_steps(scenario);
  scenario.workload.micro_batches = 1;
  scenario.workload.batch_per_worker = 2;
  const auto part = runner::time_steps(scenario);
  REQUIRE((part.summary && cut.summary));
  double backward = 0;
  for (const auto& bucket : part.summary->buckets) backward += bucket.backward_s;
  const double pass = part.summary->forward_s + backward;
  CHECK(cut.summary->forward_s == Approx(part.summary->forward_s + 2 * pass));
  CHECK(cut.summary->buckets.front().backward_s == part.summary->buckets.front().backward_s);
  // What is simulated takes as much longer as what is predicted.
  CHECK(cut.ends.front() - part.ends.front() == Approx(2 * pass).epsilon(0.05));
}

TEST_CASE("What has no closed form has no summary") {
  CHECK_FALSE(runner::time_steps(collective("all-to-all", 4)).summary);
}

TEST_CASE("A profile's compute, messages, and the scales that go before them") {
  const auto plain = runner::time_steps(training("none", 4)).summary;
  REQUIRE(plain);
  // 61,100,840 parameters of 4 B.
  CHECK(plain->message_bytes() == Approx(4.0 * 61'100'840).epsilon(0.001));
  CHECK(plain->buckets[0].prelude_bytes == 0);
  CHECK(plain->forward_s > 0);
  const auto ternary = runner::time_steps(training("terngrad", 4)).summary;
  REQUIRE(ternary);
  CHECK(ternary->message_bytes() < 0.15 * plain->message_bytes());
  CHECK(ternary->buckets[0].prelude_bytes > 0);
  CHECK(ternary->exchange == ExchangeKind::kRingAllReduce);
}

TEST_CASE("Buckets have messages of their own size") {
  // AlexNet's first bucket in backward order is the last layer, 1,000 outputs.
  const auto step = runner::time_steps(training("fp16", 4)).summary;
  REQUIRE(step);
  double sum = 0;
  for (const BucketSummary& bucket : step->buckets) sum += bucket.message_bytes;
  CHECK(sum == Approx(2.0 * 61'100'840).epsilon(0.001));
  const auto ranked = runner::time_steps(training("powersgd", 4)).summary;
  REQUIRE(ranked);
  // Rank 4 of a matrix of 4,096 x 4,096 sends 1/512 of it, of one of 9,216 x 4,096 a little less;
  // biases go whole. So shares differ from bucket to bucket, as they do not with fp16.
  double least = 1, most = 0;
  for (std::size_t b = 0; b < step->buckets.size(); ++b) {
    const double share = ranked->buckets[b].message_bytes / step->buckets[b].message_bytes;
    least = std::min(least, share);
    most = std::max(most, share);
  }
  CHECK(most > 2 * least);
}

TEST_CASE("Scatter-reduce has a closed form: chunks to their owners, sums round a ring") {
  const auto times = runner::time_steps(training("none", 4, "scatter-reduce"));
  REQUIRE(times.summary);
  CHECK(times.summary->exchange == ExchangeKind::kScatterReduce);
  CHECK(times.summary->message_bytes() == Approx(4.0 * 61'100'840).epsilon(0.001));
  CHECK(step_time(*times.summary, usual_constants()).total_s ==
        Approx(times.warm().at(0)).epsilon(0.02));
}

TEST_CASE("Fitted on 2, 4 and 8 workers, the model predicts 16 and 32 within 5 %") {
  for (const char* kind : {"ring-all-reduce", "ring-all-gather", "parameter-server"}) {
    std::vector<StepPoint> points;
    const auto simulated = [&](int workers) {
      scenarios::Scenario scenario = collective(kind, workers);
      scenario.network.detail = sim::Detail::kFluid;  // as in a sweep, of which 32 are too many
      const auto steps = runner::time_steps(scenario);
      return StepPoint{kind, *steps.summary, steps.warm().back()};
    };
    for (const int workers : {2, 4, 8}) points.push_back(simulated(workers));
    const StepFit fit = fit_steps(points);
    for (const int workers : {16, 32}) {
      INFO(kind << " " << workers);
      const StepPoint held_out = simulated(workers);
      const StepPrediction prediction = predict_step(fit, held_out.step);
      CHECK(prediction.time.total_s == Approx(held_out.seconds).epsilon(0.05));
      CHECK(prediction.low_s < held_out.seconds);
      CHECK(prediction.high_s > held_out.seconds);
    }
    // The negative control: constants of another network's shape do not predict it.
    StepFit wrong = fit;
    wrong.constants[0] *= 0.8;
    CHECK(predict_step(wrong, simulated(32).step).time.total_s !=
          Approx(simulated(32).seconds).epsilon(0.05));
  }
}
