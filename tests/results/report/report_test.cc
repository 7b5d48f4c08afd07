#include "results/report/report.h"

#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "results/report/data.h"
#include "results/runs/collective_choice.h"
#include "results/runs/gradient_loss.h"
#include "tests/results/html_check.h"
#include "tests/results/synthetic_runs.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Catch::Contains;

namespace {

struct Runs {
  explicit Runs(const std::vector<std::pair<std::string, double>>& links, int seeds = 3)
      : store(Store::open(folder.file("a.db"), Store::Mode::kReadWrite)) {
    for (const auto& [name, bps] : links)
      for (const SyntheticMethod& method : synthetic_methods())
        for (int seed = 1; seed <= seeds; ++seed)
          ids.push_back(
              add_synthetic_run(*store, method, name, bps, static_cast<std::uint64_t>(seed)));
  }
  TemporaryFolder folder;
  std::unique_ptr<Store> store;
  std::vector<RunId> ids;
};

}  // namespace

TEST_CASE("the checks find what they look for", "[report]") {
  CHECK(external_reference("<p>fine</p>") == "");
  CHECK(external_reference("<img src=\"x.png\">") != "");
  CHECK(external_reference("<style>@import x</style>") != "");
  CHECK(html_problem("<html><style>a>b{}</style><p>x</html>") != "");
}

TEST_CASE("a report answers the questions and stands alone", "[report]") {
  const Runs runs({{"100Mbps", 1e8}});
  const std::string path = runs.folder.file("report.html");
  write_report(*runs.store, runs.ids, path);
  const std::string html = gradwire::read_file(path);
  CHECK(external_reference(html) == "");
  CHECK(html_problem(html) == "");
  for (const char* part :
       {"How long does a step take?", "Does compression still learn?",
        "Which method reaches 90 % first?", "How many bytes does it save?",
        "Accuracy against simulated time", "Accuracy against bytes on the wire",
        "Training loss against simulated time", "Where a step&#39;s time goes", "Bytes on the wire",
        "What was asked", "What this rests on", "Where the figures come from",
        "prefers-color-scheme:dark", "@media print", "0.1.0 (42bb129)", "AMD EPYC 7B13",
        "slow-links.json", "learning measured, time simulated (flow)", "scenario_hash=5eed"})
    CHECK_THAT(html, Contains(part));
  CHECK(count(html, "<svg xmlns") == 6);
  CHECK(count(html, "<tr><td>topk 1% ef</td>") >= 1);
  CHECK_FALSE(has(html,
                  "nan"
                  " "));
}

TEST_CASE("the sentences follow from the figures", "[report]") {
  const Runs runs({{"100Mbps", 1e8}});
  const std::string html = report_html(*runs.store, runs.ids);
  // Uncompressed: 35 ms compute + about 3.6 MB / 8 * 8 bit / 100 Mbps = 36 ms + 3 ms - 21 ms hidden
  // = 18 ms exposed: 53 ms. TernGrad: 35 + 4 + 2 = 41 ms, the shortest; 53 / 41 = 1.3.
  CHECK_THAT(html, Contains("a step takes 53.0") &&
                       Contains("The shortest is terngrad with 41.0") &&
                       Contains("1.3 times as fast"));
  // 8 * 2 * 7/8 * 246,824 B * 1.04 * 120 steps = 431 MB; topk 2 % of it = 8.62 MB.
  CHECK_THAT(html, Contains("431 MB on the wire") && Contains("8.62 MB with topk 1% ef") &&
                       Contains("50 times less"));
}

TEST_CASE("overlapping steps do not count exposed time twice", "[report]") {
  const BegunRun run(2);
  const auto& [folder, store, id] = run;
  // Two steps of 1 s that overlap by half: 1.5 s for two, 0.75 s a step; 0.25 s of it is compute,
  // so at most 0.75 - 0.25 = 0.5 s are exposed (67 %), not the 0.7 s that each step has stored.
  std::vector<StepRow> steps = {sample_step(0), sample_step(1)};
  for (StepRow& step : steps) {
    step.start_s = 0.5 * static_cast<double>(step.step);
    step.end_s = step.start_s + 1;
    step.compute_s = 0.25;
    step.codec_s = 0;
    step.exposed_s = 0.7;
  }
  store->append(id, steps, {});
  const std::vector<MetricRow> finals = {{-1, "step_time_s", 0.75, "s", Provenance::kSimulated}};
  store->finish_run(id, RunStatus::kFinished, "", "", "", finals);
  CHECK_THAT(report_html(*store, std::vector{id}), Contains("66.7 % is exposed communication"));
}

TEST_CASE("the headline's exposed share is the one that the parts of a step have", "[report]") {
  const BegunRun run(1);
  const auto& [folder, store, id] = run;
  // A step of 1 s: 0.3 s of compute, 0.4 s of codec of which 0.25 s hide behind it, 0.5 s exposed,
  // 0.05 s idle: .3 + .15 + .5 + .05 = 1. The share is .5 / 1 = 50 %; over the sum of the parts
  // that overlap it would be .5 / (.3 + .4 + .5) = 42 %.
  StepRow step = sample_step(0);
  step.start_s = 0;
  step.end_s = 1;
  step.compute_s = 0.3;
  step.codec_s = 0.4;
  step.exposed_codec_s = 0.15;
  step.exposed_s = 0.5;
  store->append(id, std::vector{step}, {});
  const std::vector<MetricRow> finals = {{-1, "step_time_s", 1, "s", Provenance::kSimulated}};
  store->finish_run(id, RunStatus::kFinished, "", "", "", finals);
  const ReportData data = load_report(*store, std::vector{id});
  const StepSplit& split = data.groups[0].split;
  CHECK(split.exposed_codec_s == Approx(0.15));
  CHECK(split.idle_s == Approx(0.05));
  CHECK(split.compute_s + split.exposed_codec_s + split.exposed_s + split.idle_s == Approx(1));
  CHECK_THAT(report_html(*store, std::vector{id}), Contains("50.0 % is exposed communication"));
}

TEST_CASE("forty-eight runs on four links become sections", "[report]") {
  const Runs runs({{"1Gbps", 1e9}, {"10Gbps", 1e10}, {"10Mbps", 1e7}, {"100Mbps", 1e8}});
  REQUIRE(runs.ids.size() == 48);
  const std::string html = report_html(*runs.store, runs.ids);
  CHECK(html_problem(html) == "");
  CHECK(external_reference(html) == "");
  // In order of the bandwidth, not of the runs or of the alphabet.
  const auto at = [&](const std::string& link) { return html.find("<h2>bandwidth " + link + "<"); };
  CHECK(at("10Mbps") < at("100Mbps"));
  CHECK(at("100Mbps") < at("1Gbps"));
  CHECK(at("1Gbps") < at("10Gbps"));
  CHECK(at("10Gbps") != std::string::npos);
  CHECK(count(html, "<svg xmlns") == 2 + 4 * 6);
  CHECK_THAT(html, Contains("Step time against bandwidth"));
  CHECK(html.size() < 1'000'000);
}

TEST_CASE("workloads are no alternatives: contents, and a report of each", "[report]") {
  const Runs runs({{"100Mbps", 1e8}}, 1);
  std::vector<RunId> mixed = runs.ids;
  for (const RunId id : runs.ids) {
    RunHeader other = runs.store->run(id)->header;
    other.uid.clear();
    other.scenario_name = "wide-area";
    other.model = "resnet<20>";
    other.data_set = "cifar";
    const RunId copy = runs.store->begin_run(other, 1);
    StepRow step;
    step.end_s = 1;
    runs.store->append(copy, std::vector{step}, {});
    runs.store->finish_run(copy, RunStatus::kFinished, "", "aabb", "ccdd", {});
    mixed.push_back(copy);
  }
  const std::string html = report_html(*runs.store, mixed);
  CHECK(external_reference(html) == "");
  CHECK(html_problem(html) == "");
  CHECK_THAT(html, Contains("<a href=\"#workload-1\">slow-links: lenet5 on digits</a>: 4 runs"));
  CHECK_THAT(html, Contains("<a href=\"#workload-2\">wide-area: resnet&lt;20&gt; on cifar</a>"));
  CHECK(count(html, "<h1>") == 1);
  CHECK(count(html, "<h3>In short</h3>") == 2);
  // The control: one workload has no contents, and its headings are where they were.
  const std::string one = report_html(*runs.store, runs.ids);
  CHECK_FALSE(has(one, "The answers"));
  CHECK(count(one, "<h2>In short</h2>") == 1);
}

TEST_CASE("transports are compared in one figure, and losses are sections", "[report]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  std::vector<RunId> ids;
  for (const char* loss : {"0.01", "0.05"})
    for (const char* method : {"none", "terngrad"})
      for (const char* protocol : {"tcp", "udp-lossy"}) {
        RunHeader header = sample_header();
        header.method = method;
        header.scenario_json = std::string(R"({"method":{"name":")") + method +
                               R"("},"network":{"link":{"loss":)" + loss +
                               R"(},"transport":{"protocol":")" + protocol + "\"}}}";
        header.scenario_hash = header.scenario_json;
        ids.push_back(store->begin_run(header, 1));
        const std::vector<MetricRow> finals = {{-1, "step_time_s", 1, "s", Provenance::kSimulated}};
        store->finish_run(ids.back(), RunStatus::kFinished, "", "", "", finals);
      }
  const ReportData data = load_report(*store, ids);
  CHECK(data.section_pointers == std::vector<std::string>{"/network/link/loss"});
  REQUIRE(data.sections.size() == 2);
  std::vector<std::string> names;
  for (const std::size_t i : data.sections[1].groups) names.push_back(data.groups[i].name);
  CHECK(names == std::vector<std::string>{"none, tcp", "none, udp-lossy", "terngrad, tcp",
                                          "terngrad, udp-lossy"});
}

TEST_CASE("what is not known is not claimed", "[report]") {
  SECTION("one seed has no spread") {
    const Runs runs({{"100Mbps", 1e8}}, 1);
    const std::string html = report_html(*runs.store, runs.ids);
    CHECK_THAT(html, Contains("too few seeds to tell from chance") && Contains("(one seed)"));
    CHECK_FALSE(has(html, "these seeds cannot tell"));
  }
  SECTION("unfinished runs are left out and counted") {
    const Runs runs({{"100Mbps", 1e8}}, 1);
    std::vector<RunId> ids = runs.ids;
    RunHeader header = runs.store->run(ids[0])->header;
    header.uid.clear();
    header.seed = 9;
    ids.push_back(runs.store->begin_run(header, 1));
    const std::string html = report_html(*runs.store, ids);
    CHECK_THAT(html, Contains("1 unfinished runs left out"));
    CHECK_THAT(html, Contains("running, 0 of 1 steps"));
    CHECK_THROWS_WITH(report_html(*runs.store, std::vector{ids.back()}),
                      Contains("none of them is finished"));
  }
  SECTION("a run that does not exist") {
    const Runs runs({{"100Mbps", 1e8}}, 1);
    CHECK_THROWS_WITH(report_html(*runs.store, std::vector<RunId>{999}), Contains("no such run"));
  }
  SECTION("runs without training or steps") {
    const TemporaryFolder folder;
    const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
    auto header = sample_header();
    header.method = "<none> & \"none\"";
    const RunId id = store->begin_run(header, 1);
    const std::vector<MetricRow> finals = {{-1, "step_time_s", 0.5, "s", Provenance::kEmulated}};
    store->finish_run(id, RunStatus::kFinished, "", "", "", finals);
    const std::string html = report_html(*store, std::vector{id});
    CHECK(html_problem(html) == "");
    CHECK_THAT(html, Contains("time: emulated") && Contains("&lt;none&gt; &amp;"));
    CHECK_FALSE(has(html, "Does compression still learn?"));
  }
}

TEST_CASE("what udp-lossy lost is said in the report, as the mean over seeds") {
  const auto metrics = [](double missing) {
    return std::vector<MetricRow>{{-1, "missing_share", missing, "", Provenance::kSimulated},
                                  {-1, "gradient_error", 0.34, "", Provenance::kSimulated},
                                  {7, "weight_spread", 0.5, "", Provenance::kSimulated},
                                  {-1, "weight_spread", 0.009, "", Provenance::kSimulated},
                                  {-1, "final_accuracy", 0.9, "", Provenance::kMeasured}};
  };
  const auto words = [](const std::vector<MetricRow>& rows) {
    return in_words(gradient_loss_of(rows).value());
  };
  CHECK(words(metrics(0.0396)) ==
        "3.96 % of the gradients' bytes never arrived; a worker's mean gradient was 34 % off the "
        "complete one, and weights ended 0.9 % apart");
  CHECK(words(metrics(0)) == "no byte of the gradients was lost");
  const std::vector<MetricRow> all = metrics(0.1);
  CHECK_FALSE(gradient_loss_of(std::span(all).subspan(1)));
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  std::vector<RunId> ids;
  for (const double missing : {0.03, 0.05}) {
    RunHeader header = sample_header();
    header.seed = ids.size() + 1;
    ids.push_back(store->begin_run(header, 1));
    store->finish_run(ids.back(), RunStatus::kFinished, "", "", "", metrics(missing));
  }
  const std::string html = report_html(*store, ids);
  CHECK_THAT(html, Contains("What of the gradients was lost?") &&
                       Contains("4 % of the gradients") &&
                       Contains("Accuracy is that of worker 0"));
  const Runs others({{"100Mbps", 1e8}}, 1);
  CHECK_FALSE(has(report_html(*others.store, others.ids), "of the gradients was lost"));
}

TEST_CASE("a collective that was left open is named, with the times that decided") {
  const std::vector<MetricRow> metrics = {
      {-1, "auto_tree_s", 0.0201, "s", Provenance::kSimulated},
      {-1, "step_time_s", 1, "s", Provenance::kSimulated},
      {-1, choice_metric("ring"), 0.0123, "s", Provenance::kSimulated}};
  CHECK(choice_sentence(metrics) ==
        "collective auto took ring: a step's exchange alone takes 12.3 ms by ring, "
        "20.1 ms by tree (flow, links without loss, open windows).");
  CHECK(choice_sentence(std::span(metrics).subspan(1, 1)).empty());
}

TEST_CASE("a report says what a worker of each group holds", "[report]") {
  const BegunRun run(1);
  const auto& [folder, store, id] = run;
  store->append(id, std::vector{sample_step(0)}, {});
  const auto bytes = [](const char* name, double value) {
    return MetricRow{-1, name, value, "B", Provenance::kMeasured};
  };
  const std::vector<MetricRow> finals = {bytes("memory_parameters_bytes", 9'640),
                                         bytes("memory_optimizer_bytes", 19'280),
                                         bytes("peak_rss_bytes", 3e8)};
  store->finish_run(id, RunStatus::kFinished, "", "", "", finals);
  const std::string html = report_html(*store, std::vector{id});
  CHECK_THAT(html, Contains("<h2>Memory</h2>") && Contains("9.64 kB") && Contains("19.3 kB") &&
                       Contains("300 MB"));
  // Runs without such figures have no such table.
  const Runs without({{"100Mbps", 1e8}});
  CHECK_THAT(report_html(*without.store, without.ids), !Contains("<h2>Memory</h2>"));
}
