#include "results/runs/query.h"

#include <catch2/catch.hpp>

#include "results/runs/fields.h"
#include "results/runs/scenario_view.h"
#include "tests/results/synthetic_runs.h"

using namespace gradwire::results;
using Catch::Contains;

namespace {

RunSummary sample() {
  RunSummary run;
  run.id = 12;
  run.header.scenario_name = "slow-links";
  run.header.method = "topk 1% ef";
  run.header.model = "lenet5";
  run.header.workers = 16;
  run.header.executor = "flow";
  run.header.scenario_json = synthetic_scenario(synthetic_methods()[1], "100Mbps", 1);
  run.status = RunStatus::kFinished;
  run.compression_ratio = 0.02;
  run.step_time_s = 0.049;
  run.final_accuracy = 0.95;
  run.tags = {"paper", "keep"};
  return run;
}

bool matches(const std::string& text) {
  return Query(text).matches(sample());
}

std::string problem(const std::string& text) {
  try {
    Query query(text);
  } catch (const QueryError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("filters select runs", "[query]") {
  CHECK(matches(""));
  CHECK(matches("compression_ratio<0.1 and workers>=16 and method=topk"));
  CHECK_FALSE(matches("compression_ratio<0.01 and workers>=16"));
  CHECK_FALSE(matches("workers>16"));
  CHECK(matches("workers=16"));
  CHECK(matches("workers == 16"));
  CHECK_FALSE(matches("workers!=16"));
  CHECK(matches("method=\"topk 1% ef\""));
  CHECK_FALSE(matches("method=top"));
  CHECK(matches("method~TOP"));
  CHECK(matches("method!~qsgd"));
  CHECK(matches("tag=keep and tag=paper"));
  CHECK_FALSE(matches("tag=kee"));
  CHECK(matches("status=finished"));
  CHECK(matches("scenario=slow-links"));
}

TEST_CASE("numbers carry units", "[query]") {
  CHECK(matches("step_time<50ms"));
  CHECK_FALSE(matches("step_time<49ms"));
  CHECK(matches("accuracy>=95%"));
  CHECK(matches("bandwidth=0.1Gbps"));  // 100 Mbps
  CHECK(matches("delay<=50us"));
  CHECK(matches("/network/link/bandwidth>10Mbps"));
  CHECK(matches("/network/topology=star"));
  CHECK_FALSE(matches("/network/nowhere=star"));
  CHECK(matches("/workload/optimizer/lr<0.1"));
}

TEST_CASE("and binds tighter than or, not tighter than and", "[query]") {
  // false and false or true = (false and false) or true = true; the other grouping gives false.
  CHECK(matches("workers=1 and workers=2 or workers=16"));
  CHECK_FALSE(matches("workers=1 and (workers=2 or workers=16)"));
  // not false and false = (not false) and false = false; not (false and false) = true.
  CHECK_FALSE(matches("not workers=1 and workers=2"));
  CHECK(matches("not (workers=1 and workers=2)"));
  CHECK(matches("not not workers=16"));
  CHECK(matches("not(workers=1)"));
}

TEST_CASE("a missing figure satisfies no comparison", "[query]") {
  CHECK_FALSE(matches("time_to_target<10"));
  CHECK_FALSE(matches("time_to_target>=10"));
  CHECK_FALSE(matches("time_to_target!=10"));
  CHECK(matches("time_to_target=none"));
  CHECK_FALSE(matches("time_to_target!=none"));
  CHECK(matches("compression_ratio!=none"));
}

TEST_CASE("a filter's errors say where and what instead", "[query]") {
  CHECK_THAT(problem("workrs>3"), Contains("character 1") && Contains("did you mean \"workers\"") &&
                                      Contains("traffic_ratio"));
  // A name that was taken for both of its successors.
  CHECK_THAT(problem("ratio<0.1"),
             Contains("character 1") && Contains("compression_ratio") && Contains("traffic_ratio"));
  CHECK_THAT(problem("ratio<0.1"), !Contains("allowed: id"));
  CHECK_THAT(problem("compression_ratio<0.1 workers>3"),
             Contains("character 23") && Contains("\"and\""));
  CHECK_THAT(problem("compression_ratio<"),
             Contains("character 19") && Contains("expected a value"));
  CHECK_THAT(problem("compression_ratio"), Contains("expected an operator") && Contains("~"));
  CHECK_THAT(problem("compression_ratio<abc"),
             Contains("character 19") && Contains("not a number"));
  CHECK_THAT(problem("compression_ratio~1"), Contains("is a number"));
  CHECK_THAT(problem("method<3"), Contains("is a text"));
  CHECK_THAT(problem("(compression_ratio<1"), Contains("character 1") && Contains("not closed"));
  CHECK_THAT(problem("compression_ratio<1)"), Contains("not opened"));
  CHECK_THAT(problem("method=\"topk"), Contains("quote is not closed"));
  CHECK_THAT(problem("compression_ratio<1 and"), Contains("expected a field"));
  CHECK_THAT(problem(std::string(5000, '(')), Contains("nested too deeply"));
}

TEST_CASE("every field has a name, a help and a value", "[query]") {
  for (const Field& field : run_fields()) {
    CHECK(find_field(field.name) == &field);
    CHECK(std::string(field.help).size() > 3);
    CHECK((field.number == nullptr) != (field.text == nullptr));
    CHECK_FALSE(shown(field, sample()).empty());
  }
  CHECK(shown(*find_field("step_time"), sample()) == "49.0 ms");
  CHECK(shown(*find_field("time_to_target"), sample()) == "-");
  CHECK(find_field("nothing") == nullptr);
}

TEST_CASE("scenario values are read by pointer", "[query]") {
  const std::string json = R"({"a":{"b":"1Gbps","c":[1,2],"d":[{"e":true}]},"f":null})";
  const auto leaves = scenario_leaves(json);
  CHECK(leaves.at("/a/b") == "1Gbps");
  CHECK(leaves.at("/a/c") == "[1,2]");
  CHECK(leaves.at("/a/d/0/e") == "true");
  CHECK(leaves.size() == 4);
  CHECK(scenario_leaves("{broken").empty());
  double value = 0;
  CHECK(number_from("12.5MBps", value));
  CHECK(value == 1e8);  // 12.5e6 B/s = 100e6 bit/s
  CHECK_FALSE(number_from("12 apples", value));
}

TEST_CASE("a caller's names go before fields, in any case and with spaces", "[query]") {
  QueryName buckets{"Bucket size"};
  buckets.text = [](const RunSummary&) { return std::string("25MB"); };
  buckets.number = [](const RunSummary&) { return std::optional(25e6); };
  const std::vector<QueryName> names = {{"Step time", "step_time_s"}, buckets};
  const auto with = [&](const char* text) { return Query(text, names).matches(sample()); };
  CHECK(with("Step time<50ms"));
  CHECK_FALSE(with("step_time < 49ms"));
  CHECK(with("bucket size>=25MB and Bucket_size<26MB"));
  CHECK_FALSE(with("bucket size=24MB"));
  CHECK(with("bucket size!=24MB"));
  CHECK(with("not bucket size=none"));
  CHECK(with("workers=16"));
  CHECK_THROWS_WITH(Query("bucket sise=1", names), Contains("did you mean \"bucket_size\""));
  const Query query("Step time<50ms and bucket size=24MB", names);
  REQUIRE(query.comparisons().size() == 2);
  CHECK(query.comparisons()[0].matches(sample()));
  CHECK(query.comparisons()[0].ordered);
  CHECK_FALSE(query.comparisons()[1].matches(sample()));
  CHECK(query.comparisons()[1].text(sample()) == "25MB");
}

TEST_CASE("leaves of runs: what differs, what some lack, what all have", "[query]") {
  std::vector<RunSummary> runs(4);
  runs[0].header.scenario_json = R"({"a":1,"b":"x","c":5})";
  runs[1].header.scenario_json = R"({"a":2,"b":"x"})";
  runs[2].header.scenario_json = runs[0].header.scenario_json;
  runs[3].header.scenario_json = R"({"a":1,"b":"x","name":"other"})";
  const LeavesOfRuns leaves = leaves_of_runs(runs);
  CHECK(leaves.scenario_of == std::vector<std::size_t>{0, 1, 0, 2});
  REQUIRE(leaves.differing.size() == 2);
  CHECK(leaves.differing[0].pointer == "/a");
  CHECK(leaves.differing[0].varied);
  CHECK(leaves.differing[0].texts == std::vector<std::string>{"1", "2", "1"});
  CHECK(leaves.differing[1].pointer == "/c");
  CHECK_FALSE(leaves.differing[1].varied);
  CHECK(leaves.alike == std::map<std::string, std::string>{{"/b", "x"}});
  CHECK(differing_pointers(runs) == std::vector<std::string>{"/a", "/c"});
}
