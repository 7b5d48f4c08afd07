#include "gui/whatif/what_if.h"

#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "gui/whatif/what_if_base.h"
#include "gui/whatif/what_if_panel.h"
#include "results/prediction/stored_summary.h"
#include "runner/prediction/advice.h"
#include "tests/gui/whatif/bases.h"

using namespace gradwire::gui;
using namespace gradwire;
using Catch::Contains;

namespace {

double seconds_of(const WhatIfAnswer& answer) {
  INFO(answer.problem.toStdString());
  REQUIRE(answer.with);
  return answer.with->seconds();
}

}  // namespace

TEST_CASE("the what-if answer is what advise says of the changed scenario", "[unit]") {
  WhatIf what_if(base_of(vgg("10Gbps")));
  const WhatIfAnswer answer =
      what_if.answer({{Knob::kBandwidth, "25Gbps"}, {Knob::kWorkers, "32"}});
  const scenarios::Scenario changed = vgg("25Gbps", 32);
  runner::AdviceChoices choices;
  choices.methods = {R"({"name":"topk","ratio":0.01})", R"({"name":"none"})"};
  choices.collectives = {"ring", "tree", "halving-doubling", "direct", "scatter-reduce"};
  choices.buckets = {changed.exchange.bucket};
  choices.simulate_exchanges = false;
  std::vector<std::string> left_out;
  const auto candidates = runner::advice_candidates(changed, choices, 32, left_out);
  double topk = 1e9, dense = 1e9;
  for (const results::Candidate& each : candidates) {
    const double seconds = results::predict_step(results::usual_fit(), each.step).time.total_s;
    (each.baseline == results::Baseline::kFp32 ? dense : topk) =
        std::min(each.baseline == results::Baseline::kFp32 ? dense : topk, seconds);
  }
  CHECK(seconds_of(answer) == Approx(topk).epsilon(1e-9));
  REQUIRE(answer.dense);
  CHECK(answer.dense->seconds() == Approx(dense).epsilon(1e-9));
}

TEST_CASE("the verdict changes with the link, where the crossover says", "[unit]") {
  WhatIf what_if(base_of(vgg("10Gbps")));
  const WhatIfAnswer slow = what_if.answer({{Knob::kBandwidth, "1Gbps"}});
  const WhatIfAnswer fast = what_if.answer({{Knob::kBandwidth, "400Gbps"}});
  CHECK(verdict_word(slow) == "Compress");
  CHECK(verdict_word(fast) == "Do not compress");
  CHECK(seconds_of(slow) > seconds_of(fast));
  REQUIRE(slow.crossover);
  REQUIRE(slow.crossover->rate);
  const double rate = *slow.crossover->rate * 8;
  CHECK(rate > 1e9);
  CHECK(rate < 4e11);
  // Just below it compression wins against fp32 and fp16, just above it no longer does.
  const auto pays = [&](double bps) {
    const WhatIfAnswer answer =
        what_if.answer({{Knob::kBandwidth, text_of(Knob::kBandwidth, bps)}});
    double best = 1e9;
    for (const auto& each : answer.advice->ranked) {
      if (each.candidate.baseline != results::Baseline::kNone) {
        best = std::min(best, each.seconds());
      }
    }
    return seconds_of(answer) * (1 + results::kTie) < best;
  };
  CHECK(pays(rate * 0.95));
  CHECK_FALSE(pays(rate * 1.05));
}

TEST_CASE("each knob moves the answer the way that it must", "[unit]") {
  WhatIf what_if(base_of(vgg("10Gbps")));
  const double before = seconds_of(what_if.answer({}));
  CHECK(seconds_of(what_if.answer({{Knob::kDelay, "20ms"}})) > before);
  CHECK(seconds_of(what_if.answer({{Knob::kLoss, "0.01"}})) > before);
  CHECK(seconds_of(what_if.answer({{Knob::kRatio, "0.1"}})) > before);
  CHECK(seconds_of(what_if.answer({{Knob::kOverlap, "false"}})) >= before);
  CHECK(seconds_of(what_if.answer({{Knob::kWorkers, "64"}})) > before);
  // Back again: nothing of the other questions stays.
  CHECK(seconds_of(what_if.answer({})) == before);
}

TEST_CASE("a training run's step is moved to another network", "[unit]") {
  WhatIf what_if(training_base());
  const WhatIfAnswer slow = what_if.answer({{Knob::kBandwidth, "10Mbps"}});
  const WhatIfAnswer fast = what_if.answer({{Knob::kBandwidth, "100Gbps"}});
  CHECK(verdict_word(slow) == "Compress");
  CHECK(verdict_word(fast) == "Do not compress");
  // An all-gather of 0.1 MB among 4 goes 3 hops: 2.4 Mbit at 10 Mbps, 0.24 s and headers.
  CHECK(seconds_of(slow) > 0.24);
  CHECK(seconds_of(slow) < 0.28);
  // fp32 was not run: 1 MB round a ring is 1.5 MB on a link, 1.2 s.
  REQUIRE(slow.dense);
  CHECK(slow.dense->seconds() > 1.2);
  CHECK(slow.dense->seconds() < 1.4);
  CHECK(slow.remarks.join(" ").contains("no run without compression"));
  // Twice the ratio, twice the bytes.
  const double more =
      seconds_of(what_if.answer({{Knob::kBandwidth, "10Mbps"}, {Knob::kRatio, "0.1"}}));
  CHECK(more > 1.9 * seconds_of(slow));
  // Among 8 an all-gather goes 7 hops, not 3.
  const double among_8 =
      seconds_of(what_if.answer({{Knob::kBandwidth, "10Mbps"}, {Knob::kWorkers, "8"}}));
  CHECK(among_8 / seconds_of(slow) > 2.1);
  CHECK(among_8 / seconds_of(slow) < 2.5);
  auto unknown = std::make_shared<WhatIfBase>(*training_base());
  unknown->stored.reset();
  CHECK(WhatIf(unknown).answer({}).problem.contains("select that run"));
  unknown->of_run = true;
  CHECK(WhatIf(unknown).answer({}).problem.contains("stored no summary"));
  // What an old version stored is a problem, never an end of the program.
  for (const char* json : {"", "[]", "{}", "{\"workload\":3}"}) {
    unknown->scenario_json = json;
    CHECK_FALSE(WhatIf(unknown).answer({}).problem.isEmpty());
  }
}

TEST_CASE("knobs keep exact values, and refuse what the table of fields refuses", "[unit]") {
  QString problem;
  CHECK(value_of(Knob::kBandwidth, "25 Gbps", problem) == 2.5e10);
  CHECK(value_of(Knob::kDelay, "50 µs", problem) == Approx(5e-5));
  CHECK(value_of(Knob::kBandwidth, "2Tbps", problem) == 2e12);  // beyond the slider
  CHECK(beyond_slider(Knob::kBandwidth, 2e12));
  CHECK(position_of(Knob::kBandwidth, 2e12) == kSliderSteps);
  CHECK_FALSE(value_of(Knob::kBandwidth, "12", problem));
  CHECK_FALSE(problem.isEmpty());
  CHECK_FALSE(value_of(Knob::kWorkers, "0", problem));
  CHECK_FALSE(value_of(Knob::kLoss, "1.5", problem));
  CHECK(problem.contains("allowed"));
  CHECK(value_at(Knob::kLoss, 0) == 0);
  for (const Knob knob : {Knob::kBandwidth, Knob::kDelay, Knob::kLoss, Knob::kWorkers}) {
    for (const int position : {40, 200, 399}) {
      const double value = value_at(knob, position);
      CHECK(std::abs(position_of(knob, value) - position) <= 4);
      CHECK(value_of(knob, text_of(knob, value), problem) == Approx(value));
    }
  }
}

TEST_CASE("what if becomes a scenario that says the same", "[unit]") {
  const WhatIfBasePtr base = base_of(vgg("10Gbps"));
  const Changes changes = {{Knob::kBandwidth, "2Tbps"}, {Knob::kWorkers, "24"}};
  const std::string text = changed_scenario(*base, changes).toStdString();
  const auto file = scenarios::read_scenario_text(text, "vgg.json");
  REQUIRE(file.runs.size() == 1);
  CHECK(file.runs[0].cluster.workers == 24);
  CHECK(file.name == "vgg-what-if");
  CHECK(file.runs[0].json["network"]["link"]["bandwidth"] == "2Tbps");
  CHECK(WhatIf(base_of(file.runs[0])).answer({}).with->seconds() ==
        Approx(WhatIf(base).answer(changes).with->seconds()));
}

TEST_CASE("the panel answers under its sliders and never changes what was typed", "[gui]") {
  WhatIfPanel panel;
  panel.show();
  panel.set_base(base_of(vgg("1Gbps")));
  REQUIRE(QTest::qWaitFor([&] { return panel.verdict() == "Compress"; }, 3000));
  CHECK(panel.field(Knob::kBandwidth)->text() == "1 Gbps");
  CHECK(panel.details().contains("Without compression"));
  // The slider to its end: 400 Gbps, where compressing does not pay.
  panel.slider(Knob::kBandwidth)->setValue(kSliderSteps);
  CHECK(panel.field(Knob::kBandwidth)->text() == "400 Gbps");
  CHECK(QTest::qWaitFor([&] { return panel.verdict() == "Do not compress"; }, 3000));
  // An exact value beyond the slider stays.
  panel.field(Knob::kBandwidth)->setText("1.5 Mbps");
  CHECK(panel.slider(Knob::kBandwidth)->value() == 0);
  CHECK(QTest::qWaitFor([&] { return panel.verdict() == "Compress"; }, 3000));
  CHECK(panel.field(Knob::kBandwidth)->text() == "1.5 Mbps");
  // What cannot be read is explained, and no older answer stands beside it.
  panel.field(Knob::kBandwidth)->setText("fast");
  CHECK(QTest::qWaitFor([&] { return panel.problem().contains("Bandwidth"); }, 3000));
  CHECK(panel.verdict().isEmpty());
  panel.reset();
  CHECK(panel.field(Knob::kBandwidth)->text() == "1 Gbps");
  CHECK(QTest::qWaitFor([&] { return panel.problem().isEmpty(); }, 3000));
  panel.field(Knob::kWorkers)->setText("8");
  panel.set_base(base_of(vgg("1Gbps")));  // a refresh: what was turned stays
  CHECK(panel.field(Knob::kWorkers)->text() == "8");
  QSignalSpy wanted(&panel, &WhatIfPanel::scenario_wanted);
  panel.copy_to_scenario();
  REQUIRE(wanted.size() == 1);
  CHECK(wanted[0][0].toString().contains("\"workers\": 8"));
}

TEST_CASE("a run's base has the same training's runs by other methods", "[unit]") {
  const auto store = results::Store::in_memory();
  const auto add = [&](const char* method, const char* label, const char* rate, double bytes) {
    const nlohmann::ordered_json json = {
        {"workload", {{"model", "lenet5"}, {"batch_per_worker", 64}}},
        {"method", nlohmann::ordered_json::parse(method)},
        {"cluster", {{"workers", 4}}},
        {"network", {{"link", {{"bandwidth", rate}}}}}};
    results::RunHeader header;
    header.scenario_json = json.dump();
    header.scenario_hash = label + std::string(rate);
    header.method = label;
    header.model = "lenet5";
    header.workers = 4;
    const auto id = store->begin_run(header, 1);
    auto step = training_step(bytes, 0.0001);
    step.bandwidth = 1e8;
    store->finish_run(id, results::RunStatus::kFinished, "", "", "",
                      results::summary_metrics(step, results::RunOrigins{}));
    return id;
  };
  const auto run = add(R"({"name":"topk"})", "topk 1%", "1Gbps", 1e5);
  add(R"({"name":"none"})", "none", "10Gbps", 1e6);  // another network: the panel's own matter
  add(R"({"name":"none"})", "none", "1Gbps", 2e6);   // later: this one counts
  add(R"({"name":"qsgd"})", "qsgd", "1Gbps", 2e5);
  const auto runs = store->runs();
  const WhatIfBasePtr base = base_of_run(*store, runs, run, knowledge_of(runs));
  REQUIRE(base);
  REQUIRE(base->stored);
  CHECK(base->stored->message_bytes() == 1e5);
  REQUIRE(base->peers.size() == 2);
  CHECK(base->peers[0].method == "qsgd");
  CHECK(base->peers[1].method == "none");
  CHECK(base->peers[1].step.message_bytes() == 2e6);
  CHECK(base_of_run(*store, runs, 99, {}) == nullptr);
}
