#include "results/recipes/recipe.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "results/advice/crossover.h"
#include "results/runs/link_load.h"
#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Catch::Contains;
using nlohmann::json;

namespace {

TimelineSegment segment(int worker, std::uint8_t lane, double start, double end,
                        std::int64_t bytes = 0) {
  return {0, worker, lane, "part", start, end, bytes};
}

constexpr std::uint8_t kCompute = 1;

/// One run of one step of 4 s on two workers, with this timeline and these links.
struct OneRun {
  explicit OneRun(const std::vector<TimelineSegment>& segments,
                  const std::vector<LinkSeries>& links = {}, const std::string& name = "sample")
      : store(Store::open(folder.file("a.db"), Store::Mode::kReadWrite)) {
    RunHeader header = sample_header();
    header.scenario_name = name;
    header.workers = 2;
    id = store->begin_run(header, 1);
    StepRow step = sample_step(0);
    step.end_s = 4;
    step.exposed_s = 3;
    store->append(id, std::vector{step}, {});
    if (!segments.empty()) store->put_timeline(id, "simulated", segments);
    if (!links.empty()) store->put_links(id, links);
    const std::vector<MetricRow> finals = {{-1, "step_time_s", 4, "s", Provenance::kSimulated}};
    store->finish_run(id, RunStatus::kFinished, "", "", "", finals);
  }
  json rows(const char* recipe) const {
    const Recipe& known = *find_recipe(recipe);
    return json::parse(recipe_json(known, answer_of(known, *store, std::vector{id}))).at("rows");
  }
  TemporaryFolder folder;
  std::unique_ptr<Store> store;
  RunId id = 0;
};

/// Two intervals of 1 s at 800 bit/s: 100 B are all that one carries.
LinkSeries link(int channel, const std::string& name, std::int64_t first, std::int64_t second) {
  return {channel, name, 800, {{0, 1, first}, {1, 2, second}}};
}

}  // namespace

TEST_CASE("links are ordered by how full they are, and named by whose flows they carry") {
  // Means: (95 + 25) / 200 = 60 %, 50 / 200 = 25 %, 40 / 200 = 20 %. Only 95 of 100 B count as
  // full.
  const OneRun run({}, {link(0, "worker0 -> leaf0", 50, 0), link(1, "leaf0 -> spine0", 95, 25),
                        link(2, "worker1 -> leaf0", 20, 20), link(3, "spine0 -> leaf1", 1, 1),
                        link(4, "leaf1 -> worker2", 1, 0)});
  const json rows = run.rows("links");
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].at("link") == "leaf0 -> spine0");
  CHECK(rows[0].at("mean_utilisation").get<double>() == Approx(0.6));
  CHECK(rows[0].at("peak_utilisation").get<double>() == Approx(0.95));
  CHECK(rows[0].at("full_share").get<double>() == Approx(0.5));
  CHECK(rows[0].at("wire_bytes") == 120);
  CHECK(rows[0].at("flows") == "from worker0, worker1");
  CHECK(rows[0].at("busiest") == "run:1@0s..1s");
  CHECK(rows[1].at("link") == "worker0 -> leaf0");
  CHECK(rows[1].at("flows") == "from worker0");
  CHECK(rows[2].at("link") == "worker1 -> leaf0");
  CHECK(rows[3].at("flows") == "to worker2");  // spine0 -> leaf1
}

TEST_CASE("what waiting for the slowest costs is its work less the mean's") {
  // Worker 0 works 1 s, worker 1 works 3 s: the mean is 2 s, so 1 s of the 4 s is waiting.
  const OneRun run({segment(0, kCompute, 0, 1), segment(1, kCompute, 0, 3)});
  const json rows = run.rows("stragglers");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("worker") == 1);
  CHECK(rows[0].at("own_s").get<double>() == Approx(3));
  CHECK(rows[0].at("lag_s").get<double>() == Approx(1));
  CHECK(rows[0].at("last_share").get<double>() == Approx(1));
  CHECK(rows[0].at("wait_s").get<double>() == Approx(1));
  CHECK(rows[0].at("wait_share").get<double>() == Approx(0.25));
  CHECK(rows[1].at("lag_s").get<double>() == Approx(-1));
  // Equal workers: nobody is last.
  const OneRun equal({segment(0, kCompute, 0, 1), segment(1, kCompute, 0, 1)});
  for (const json& row : equal.rows("stragglers")) CHECK(row.at("last_share") == 0);
  // 0.1 + 0.2 and 0.3 are equal to 1 ps, not as binary fractions: nobody lags, nothing waits.
  const OneRun rounded({segment(0, kCompute, 0, 0.1 + 0.2), segment(1, kCompute, 0, 0.3)});
  for (const json& row : rounded.rows("stragglers")) {
    CHECK(row.at("wait_s") == 0);
    CHECK(row.at("wait_share") == 0);
    CHECK(row.at("lag_s") == 0);
  }
}

TEST_CASE("Jain's index of the workers' rates") {
  // 1,000 B in 1 s and 3,000 B in 1 s: (1 + 3)^2 / (2 (1 + 9)) = 0.8.
  const OneRun run({segment(0, kTransferLane, 0, 1, 1000), segment(1, kTransferLane, 1, 2, 3000)});
  const json rows = run.rows("fairness");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("jain_index").get<double>() == Approx(0.8));
  CHECK(rows[0].at("slowest_worker") == 0);
  CHECK(rows[0].at("slowest_bps").get<double>() == Approx(8000));
  CHECK(rows[0].at("mean_bps").get<double>() == Approx(16000));
}

TEST_CASE("communication is hidden where its worker computes meanwhile") {
  // Each worker's transfer takes 2 s; worker 0 computes during 1 s of it, worker 1 during none.
  const OneRun run({segment(0, kCompute, 0, 2), segment(0, kTransferLane, 1, 3, 10),
                    segment(1, kTransferLane, 1, 3, 10)});
  const json rows = run.rows("overlap");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("hidden_share").get<double>() == Approx(0.25));
  CHECK(rows[0].at("exposed_share").get<double>() == Approx(0.75));
}

TEST_CASE("below the break-even rate a method's step is faster by the tie, above it is not") {
  const ScaleStore store({{.method = "none", .workers = 4},
                          {.method = "topk 1%", .workers = 4, .megabytes = 0.1, .encode = 0.02}});
  const Recipe& recipe = *find_recipe("break-even");
  const json rows =
      json::parse(recipe_json(recipe, answer_of(recipe, *store.store, store.ids))).at("rows");
  REQUIRE(rows.size() == 1);
  const double rate = rows[0].at("break_even_bps").get<double>();
  // fp32: 2 x 3/4 x 10 MB; top-k: little to send, but 30 ms of coding: about 15 MB / 30 ms = 4
  // Gbps.
  CHECK(rate == Approx(4e9).epsilon(0.25));
  CHECK(rows[0].at("rate_bps").get<double>() == Approx(1e9));
  CHECK(rows[0].at("gain_here").get<double>() > 0.03);
  CHECK(rows[0].at("verdict") == "pays here");
}

TEST_CASE("a recipe names what the store lacks, and leaves other workloads out by name") {
  const OneRun run({});
  for (const Recipe& recipe : recipes()) {
    CAPTURE(recipe.name);
    CHECK_THROWS_WITH(answer_of(recipe, *run.store, std::vector{run.id}),
                      Contains(std::string("cannot answer \"") + recipe.question) &&
                          Contains("lenet5") && Contains(recipe.remedy));
  }
  CHECK(find_recipe("overlaps") == nullptr);
}

TEST_CASE("names stay text in every form of a recipe's answer") {
  const std::string name = "<script>alert(\"1\")</script> | a,b";
  const OneRun run({}, {link(0, "worker0 -> switch", 50, 0)}, name);
  const Recipe& recipe = *find_recipe("links");
  const RecipeAnswer answer = answer_of(recipe, *run.store, std::vector{run.id});
  const std::string html = recipe_html(recipe, answer);
  CHECK(html_problem(html) == "");
  CHECK(external_reference(html) == "");
  CHECK_THAT(html, Contains("id=\"run:1@0s..1s\" href=\"#run:1@0s..1s\""));
  CHECK_THAT(recipe_markdown(recipe, answer), !Contains("<script") && Contains("\\| a,b"));
  CHECK_THAT(recipe_csv(answer),
             Contains("\"<script>alert(\"\"1\"\")</script> | a,b: lenet5 on digits\""));
  CHECK(json::parse(recipe_json(recipe, answer)).at("rows")[0].at("workload") ==
        name + ": lenet5 on digits");
}
