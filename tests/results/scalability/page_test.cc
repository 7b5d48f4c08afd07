#include "results/scalability/page.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "results/export/csv.h"
#include "results/scalability/competition.h"
#include "results/scalability/words.h"
#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

ScalabilityOptions options_of() {
  ScalabilityOptions options;
  options.command = "gradwire report --scalability scaling.json -o out";
  options.source = "the runs of scaling.json";
  return options;
}

}  // namespace

TEST_CASE("a scalability report stands alone, with all that was asked") {
  const ScaleStore runs(three_methods());
  const std::string out = runs.folder.file("out");
  write_scalability(scalability_of(*runs.store, runs.ids, options_of()), out);
  const std::string html = read_file(out + "/report.html");
  CHECK(external_reference(html) == "");
  CHECK(html_problem(html) == "");
  CHECK(html.size() < 1'000'000);
  for (const char* part : {"How far does lenet5 scale over links of 1 Gbps",
                           "In short",
                           "What to do",
                           "Throughput and efficiency",
                           "Where the time goes",
                           "What moves the answer most",
                           "On which links compressing pays",
                           "What it costs",
                           "No prices were given",
                           "How far the model can be trusted",
                           "Where the figures come from",
                           "The same report again",
                           "gradwire report --scalability scaling.json -o out",
                           "beyond the runs",
                           "90 % band",
                           "extrapolated",
                           "ideal",
                           "@media print",
                           "@page",
                           "simulated (flow)",
                           "profile"})
    CHECK_THAT(html, Contains(part));
  // Throughput, residuals, efficiency, three splits, sensitivity, crossover, validation.
  CHECK(count(html, "<svg xmlns") == 9);
  CHECK_FALSE(has(html,
                  "nan"
                  " "));
  CHECK_FALSE(has(html, "not a number"));
}

TEST_CASE("all forms of the report say the same") {
  const ScaleStore runs(three_methods());
  const std::string out = runs.folder.file("out");
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  write_scalability(all, out);
  const auto json = nlohmann::json::parse(read_file(out + "/report.json"));
  CHECK(json.at("schema_version") == 1);
  const CsvTable csv(read_file(out + "/report.csv"), "report.csv");
  // 2 to 128 workers by doublings: 7 rows for each of three series, and one where topk has 80 %
  // yet.
  REQUIRE(json.at("rows").size() == 22);
  CHECK(csv.rows() == 22);
  const auto& row = json.at("rows").at(3);  // none on 16 workers
  CHECK(row.at("workers") == 16);
  CHECK(row.at("provenance") == "simulated");
  const double seconds = row.at("step_time_s");
  CHECK(seconds == Approx(step_time(scale_step(16), usual_constants()).total_s));
  CHECK(row.at("samples_per_s").get<double>() == Approx(16 * 32 / seconds));
  CHECK(row.at("efficiency").get<double>() == Approx(0.05 / seconds));
  double parts = 0;
  for (const auto& [name, value] : row.at("predicted_parts").items()) parts += value.get<double>();
  CHECK(parts == Approx(seconds).epsilon(0.01));
  CHECK(csv.text(3, "workers") == "16");
  CHECK(csv.positive(3, "step_time_s") == seconds);
  const std::string markdown = read_file(out + "/report.md");
  for (const std::string& sentence : short_answer(all)) CHECK_THAT(markdown, Contains(sentence));
  CHECK_THAT(markdown, Contains("](figures/throughput.svg)"));
  const Document document = scalability_document(all);
  for (const NamedFigure* figure : figures_in(document))
    CHECK(xml_problem(read_file(out + "/figures/" + figure->name + ".svg")) == "");
}

TEST_CASE("the answer follows from the figures") {
  const ScaleStore runs(three_methods());
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  CHECK(all.options.at == 16);
  CHECK(all.options.model.up_to == 128);
  CHECK(all.comparable);
  const double none = all.answer(0, 16)->seconds, topk = all.answer(2, 16)->seconds;
  CHECK(all.data.series[all.best].name == "topk 1%");
  CHECK(none > 1.03 * topk);
  const auto answer = short_answer(all);
  REQUIRE(answer.size() == 3);
  CHECK_THAT(answer[0], Contains("16 workers with topk 1% (accuracy unknown) process") &&
                            Contains("(simulated)"));
  CHECK_THAT(recommendations(all)[0],
             Contains("Compress with topk 1%") &&
                 Contains(format_value(none / topk, Quantity::kPlain) + " times as fast"));
  CHECK_THAT(validation_words(all), Contains("misses 6 runs") &&
                                        Contains("band lie 6 of 6, up to") &&
                                        Contains("; errors are against Gradwire's own simulator."));
}

TEST_CASE("do not compress, where nothing is 3 % faster") {
  // 10 kB messages: nothing to save, and the codec costs 5 ms of 50.
  std::vector<ScaleRun> runs;
  for (const int n : {2, 4, 8}) {
    runs.push_back({.method = "none", .workers = n, .megabytes = 0.01});
    runs.push_back({.method = "topk 1%", .workers = n, .megabytes = 1e-4, .encode = 0.005});
  }
  const ScaleStore store(runs);
  const Scalability all = scalability_of(*store.store, store.ids, options_of());
  CHECK(all.best == 0);
  CHECK_THAT(recommendations(all)[0], Contains("Do not compress on 8 workers"));
}

TEST_CASE("where more workers do less, the answer says so") {
  // 64 / .1 = 640, 128 / .3 = 427, 256 / .9 = 284 samples/s.
  const ScaleStore runs({{.workers = 2, .seconds = 0.1},
                         {.workers = 4, .seconds = 0.3},
                         {.workers = 8, .seconds = 0.9}});
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  CHECK_THAT(short_answer(all)[1],
             Contains("up to 8 workers, throughput is highest on 2 (640 samples/s; simulated)"));
  CHECK_THAT(recommendations(all)[0], Contains("Run 2 workers rather than 8"));
  const ScaleStore good({{.workers = 2}, {.workers = 4}});
  const auto usual = scalability_of(*good.store, good.ids, options_of());
  for (const std::string& text : recommendations(usual))
    CHECK_FALSE(has(text, "throughput is highest"));
}

TEST_CASE("series under other conditions are not said to compete") {
  const ScaleStore runs({{.workers = 2},
                         {.workers = 4},
                         {.workers = 2, .bandwidth = "10Gbps"},
                         {.workers = 4, .bandwidth = "10Gbps"}});
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  CHECK_FALSE(all.comparable);
  std::string reason;
  CHECK_FALSE(competition_of(all, reason));
  CHECK_THAT(reason, Contains("differ in more than method"));
  const std::string html = document_html(scalability_document(all));
  CHECK_THAT(html, Contains("differ in more than method and exchange"));
  CHECK_FALSE(has(html, "ompress with"));
}

TEST_CASE("crossover: below its rate compression wins, above it loses") {
  const ScaleStore runs(three_methods());
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  std::string reason;
  const auto competition = competition_of(all, reason);
  REQUIRE(competition);
  const auto crossing = std::ranges::find(competition->crossings, 16, &Crossover::workers);
  REQUIRE(crossing != competition->crossings.end());
  REQUIRE(crossing->rate);
  const auto time = [&](double megabytes, double encode, double rate) {
    StepSummary step = scale_step(16, megabytes, encode);
    step.bandwidth = rate;
    return step_time(step, competition->fit.constants).total_s;
  };
  const auto wins = [&](double rate) {
    return 1.03 * time(0.1, 0.005, rate) < std::min(time(10, 0, rate), time(5, 0, rate));
  };
  CHECK(wins(0.95 * *crossing->rate));
  CHECK_FALSE(wins(1.05 * *crossing->rate));
}

TEST_CASE("costs: workers x time x price") {
  const ScaleStore runs(three_methods());
  ScalabilityOptions options = options_of();
  options.costs.prices.gpu_hour = 3.6;
  options.costs.epoch_samples = 64'000;
  const Scalability all = scalability_of(*runs.store, runs.ids, options);
  const auto rows = cost_rows(all);
  REQUIRE(rows.size() == 22);
  // None on 2 workers: 64,000 / 64 = 1,000 steps of T s on 2 GPUs of 0.001 a second: 2 T.
  CHECK(rows[0].workers == 2);
  CHECK(rows[0].cost.total() == Approx(2 * all.answer(0, 2)->seconds));
  CHECK(rows[0].hours == Approx(1000 * all.answer(0, 2)->seconds / 3600));
  int front = 0;
  for (const CostRow& row : rows) front += row.on_front;
  CHECK(front > 0);
  CHECK(front < 22);
  CHECK_FALSE(rows[0].on_front);  // topk on 2 workers is faster and cheaper
  CHECK_THAT(document_html(scalability_document(all)), Contains("a GPU hour at 3.60 USD"));
}

TEST_CASE("one number of workers: the report says what it cannot know and what to run") {
  const ScaleStore runs(std::vector<ScaleRun>{{.workers = 4}});
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  REQUIRE(all.warnings.size() == 1);
  CHECK_THAT(all.warnings[0], Contains("all runs have 4 workers") && Contains("latency of a hop") &&
                                  Contains("run it on two more numbers"));
  const std::string html = document_html(scalability_document(all));
  CHECK_THAT(html, Contains("Before you rely on this") && Contains("Nothing could be held back"));
}

TEST_CASE("runs without a closed form are shown, not extended") {
  const ScaleStore runs({{.workers = 2, .seconds = 0.1, .summary = false},
                         {.workers = 4, .seconds = 0.2, .summary = false}});
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  CHECK_FALSE(all.answer(0, 8));
  CHECK_THAT(all.warnings.at(0), Contains("no model"));
  const std::string html = document_html(scalability_document(all));
  CHECK(html_problem(html) == "");
  CHECK_THAT(html, Contains("No closed form describes this exchange"));
  CHECK_FALSE(has(html, "extrapolated</td>"));
}

TEST_CASE("a model that misses its own runs is named") {
  // Twice the time on four workers only: no constant does that.
  const double usual = step_time(scale_step(4), usual_constants()).total_s;
  const ScaleStore runs({{.workers = 2}, {.workers = 4, .seconds = 2 * usual}, {.workers = 8}});
  const Scalability all = scalability_of(*runs.store, runs.ids, options_of());
  bool named = false;
  for (const std::string& warning : all.warnings)
    named = named || has(warning, "misses its own runs on 4 workers by \u221249.5 %");
  CHECK(named);
}

TEST_CASE(
    "the answer is about the workers that are asked for, though the curves should end before") {
  const ScaleStore runs({{.workers = 2}, {.workers = 4}, {.workers = 8}});
  ScalabilityOptions options = options_of();
  options.at = 50;  // no power of two, no run
  options.model.up_to = 16;
  const Scalability all = scalability_of(*runs.store, runs.ids, options);
  CHECK_THAT(short_answer(all)[0], Contains("50 workers") && Contains("(predicted, extrapolated)"));
  CHECK_THAT(document_markdown(scalability_document(all)), Contains("| 50 |"));
}

TEST_CASE("options out of range are refused") {
  const ScaleStore runs(std::vector<ScaleRun>{{.workers = 4}});
  ScalabilityOptions options = options_of();
  options.target = 1.5;
  CHECK_THROWS_WITH(scalability_of(*runs.store, runs.ids, options), Contains("efficiency"));
  options = options_of();
  options.at = 1;
  CHECK_THROWS_WITH(scalability_of(*runs.store, runs.ids, options), Contains("two workers"));
  const ScaleStore lone(std::vector<ScaleRun>{{.workers = 1}});
  CHECK_THROWS_WITH(scalability_of(*lone.store, lone.ids, options_of()),
                    Contains("exchanges nothing"));
}
