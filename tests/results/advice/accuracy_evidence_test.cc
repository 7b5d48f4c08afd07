#include "results/advice/accuracy_evidence.h"

#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "tests/results/test_store.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

namespace {

RunSummary trained(const std::string& method, double accuracy, std::uint64_t seed,
                   const std::string& rate = "1Gbps", const std::string& model = "mlp") {
  RunSummary run;
  run.id = static_cast<RunId>(1000 * seed) + static_cast<RunId>(method.size());
  run.status = RunStatus::kFinished;
  run.final_accuracy = accuracy;
  run.header.method = method;
  run.header.model = model;
  run.header.data_set = "digits";
  run.header.workers = 4;
  run.header.seed = seed;
  run.header.scenario_json = R"({"workload":{"model":")" + model + R"("},"method":{"name":")" +
                             method + R"("},"network":{"link":{"bandwidth":")" + rate +
                             R"("}},"exchange":{"collective":")" +
                             (method == "none" ? "ring" : "direct") + R"("},"seeds":[1,2,3]})";
  return run;
}

/// 95 % without compression and `accuracy` with the method, each +- 0.1 point over three seeds.
std::vector<RunSummary> runs_of(const std::string& method, double accuracy,
                                const std::string& model = "mlp") {
  std::vector<RunSummary> runs;
  for (const std::uint64_t seed : {1, 2, 3}) {
    const double noise = 0.001 * (static_cast<double>(seed) - 2);
    runs.push_back(trained("none", 0.95 + noise, seed, "1Gbps", model));
    runs.push_back(trained(method, accuracy + noise, seed, "1Gbps", model));
  }
  return runs;
}

AccuracyEvidence evidence(const std::vector<RunSummary>& runs, const std::string& method,
                          const std::string& model = "mlp") {
  AccuracyKnowledge knowledge;
  knowledge.trained = accuracy_comparisons(runs);
  return evidence_of(knowledge, method, R"({"name":"topk"})", model);
}

std::vector<PublishedAccuracy> shipped() {
  const char* source = std::getenv("GRADWIRE_SOURCE_DIR");
  REQUIRE(source);
  const std::string path = std::string(source) + "/scenarios/published/accuracy.csv";
  return read_published_accuracy(read_file(path), path);
}

}  // namespace

TEST_CASE("runs are held against uncompressed ones of the same workload alone") {
  auto runs = runs_of("topk 1%", 0.948);
  runs.push_back(trained("topk 1%", 0.3, 4, "10Mbps"));  // no baseline at that rate
  runs.push_back(trained("topk 1%", 0.2, 1));  // an earlier run of seed 1: a later one counts
  runs.back().id = 1;
  runs.push_back(trained("sign", 0.9, 1));
  runs.back().status = RunStatus::kPartial;
  const auto found = accuracy_comparisons(runs);
  REQUIRE(found.size() == 1);
  CHECK(found[0].method == "topk 1%");
  CHECK(found[0].compressed.n == 3);
  CHECK(found[0].difference() == Approx(-0.002));
}

TEST_CASE("a method of which a seed diverged is not judged by the others") {
  auto runs = runs_of("topk 1%", 0.95);
  CHECK(evidence(runs, "topk 1%").standing == Standing::kKeeps);
  runs[1].status = RunStatus::kDiverged;
  runs[1].final_accuracy.reset();
  const AccuracyEvidence diverged = evidence(runs, "topk 1%");
  CHECK(diverged.standing == Standing::kLoses);
  CHECK_THAT(diverged.words, Catch::Contains("diverged in runs stored here"));
  // Where the uncompressed training diverged there is nothing to hold a method against.
  runs[0].status = RunStatus::kDiverged;
  runs[0].final_accuracy.reset();
  CHECK(accuracy_comparisons(runs).empty());
}

TEST_CASE("standing follows from difference, spread and tolerance") {
  // Means of three seeds with a deviation of 0.1 point each: 95 % interval of their difference
  // t(2) sqrt(2 x 0.1^2 / 3) = 4.303 x 0.0816 = 0.35 points.
  CHECK(evidence(runs_of("topk 1%", 0.948), "topk 1%").standing == Standing::kKeeps);    // -0.2
  CHECK(evidence(runs_of("topk 1%", 0.943), "topk 1%").standing == Standing::kUnclear);  // -0.7
  CHECK(evidence(runs_of("topk 1%", 0.938), "topk 1%").standing == Standing::kLoses);    // -1.2
  CHECK_THAT(evidence(runs_of("topk 1%", 0.948), "topk 1%").words,
             Contains("accuracy kept: \u22120.2 points (\u00b1 0.4) against 95.0 % uncompressed in "
                      "runs stored here (mlp on digits, 4 workers, 3 seeds)"));
  // One seed each: nothing can be told, but a loss is not recommended.
  const std::vector<RunSummary> one = {trained("none", 0.95, 1), trained("sign", 0.945, 1)};
  CHECK(evidence(one, "sign").standing == Standing::kUnclear);
  const std::vector<RunSummary> bad = {trained("none", 0.95, 1), trained("sign", 0.9, 1)};
  CHECK(evidence(bad, "sign").standing == Standing::kLoses);
  // A wide spread: 3 points less, but +-8 by chance.
  std::vector<RunSummary> wide;
  for (const std::uint64_t seed : {1, 2, 3}) {
    wide.push_back(trained("none", 0.95, seed));
    wide.push_back(trained("sign", 0.92 + 0.032 * (static_cast<double>(seed) - 2), seed));
  }
  // It may be chance, and is not recommended until more seeds say so.
  CHECK(evidence(wide, "sign").standing == Standing::kLoses);
  CHECK_FALSE(evidence(wide, "sign").may_be_recommended());
  CHECK_THAT(evidence(wide, "sign").words, Contains("cannot tell from chance"));
  CHECK_THAT(evidence(bad, "sign").words, !Contains("chance"));
  CHECK(evidence(wide, "none").standing == Standing::kKeeps);
}

TEST_CASE("another model's accuracy proves nothing, another model's loss counts") {
  const auto kept = evidence(runs_of("topk 1%", 0.95), "topk 1%", "resnet50");
  CHECK(kept.standing == Standing::kUnknown);
  CHECK_THAT(kept.words, Contains("unknown here for resnet50") && Contains("mlp on digits"));
  CHECK(evidence(runs_of("topk 1%", 0.9), "topk 1%", "resnet50").standing == Standing::kLoses);
  CHECK_THAT(evidence({}, "topk 1%").words,
             Contains("accuracy unknown here; nothing published about it is on file"));
}

TEST_CASE("the shipped publications are read, with their sources") {
  const auto rows = shipped();
  CHECK(rows.size() > 25);
  for (const PublishedAccuracy& row : rows) CHECK_THAT(row.source, Contains("arXiv:"));
  AccuracyKnowledge knowledge;
  knowledge.published = rows;
  const auto dgc =
      evidence_of(knowledge, "dgc 0.1%", R"({"name":"dgc","ratio":0.001})", "resnet50");
  CHECK(dgc.standing == Standing::kUnknown);  // 75.96 to 76.15 is not measured here
  CHECK_THAT(dgc.words, Contains("unknown here; published: +0.2 points for resnet50") &&
                            Contains("momentum correction") && Contains("arXiv:1712.01887"));
  // GoogLeNet's top-5: 88.30 to 86.77, 87.82 to 85.96, 89.00 to 86.47.
  const auto googlenet =
      evidence_of(knowledge, "terngrad", R"({"name":"terngrad","clip":2.5})", "googlenet");
  CHECK(googlenet.standing == Standing::kLoses);
  CHECK_THAT(googlenet.words, Contains("\u22122.5 points published for googlenet"));
  knowledge.tolerance = 0.03;
  CHECK(evidence_of(knowledge, "terngrad", R"({"name":"terngrad","clip":2.5})", "googlenet")
            .standing == Standing::kUnknown);
  // No setting of the source's own: the range over all that is known, and said to be of others.
  CHECK_THAT(
      evidence_of(knowledge, "qsgd bits=2", R"({"name":"qsgd","bits":2})", "resnet152").words,
      Contains("\u22120.3 points for resnet152 with bits=8"));
  CHECK_THAT(
      evidence_of(knowledge, "terngrad clip=0", R"({"name":"terngrad","clip":0})", "alexnet").words,
      Contains("\u22122.7 points"));
}

TEST_CASE("a table of publications that is not one is refused by line") {
  const std::string header =
      "method,settings,model,data,figure,uncompressed,compressed,workers,note,source,read\n";
  const auto read = [&](const std::string& row) {
    return read_published_accuracy(header + row + "\n", "a.csv");
  };
  CHECK(read("topk,,mlp,digits,top-1,95,94,2,,arXiv:1,paper").size() == 1);
  CHECK_THROWS_WITH(read("topk,,mlp,digits,top-1,95,,2,,arXiv:1,paper"), Contains("missing"));
  CHECK_THROWS_WITH(read("topk,,mlp,digits,top-1,95,940,2,,arXiv:1,paper"), Contains("above 100"));
  CHECK_THROWS_WITH(read("topk,,mlp,digits,top-1,95,94,2,,,paper"), Contains("source"));
  CHECK_THROWS_WITH(read("topk,,mlp,digits,top-1,95,94,2,,arXiv:1,heard"), Contains("read"));
}

TEST_CASE("the command that finds out says only what is not a default") {
  // As a stored scenario has it: every option of topk, of which the ratio alone was asked for.
  const std::string stored =
      R"({"name":"topk","error_feedback":true,"ratio":0.05,"k":0,"selection":"exact",)"
      R"("sample":0.001,"indices":"u32","values":"f32"})";
  CHECK(accuracy_command(stored) ==
        R"(gradwire run quickstart --set '/seeds=[1,2,3]' --set '/sweep={"/method":[)"
        R"({"name":"none"},{"name":"topk","error_feedback":true,"ratio":0.05}]}')");
  // Another selection is said; an unknown method is left as it is.
  CHECK(accuracy_command(R"({"name":"topk","selection":"sampled"})")
            .find(R"("selection":"sampled")") != std::string::npos);
  CHECK(accuracy_command(R"({"name":"mine","k":0})").find(R"({"name":"mine","k":0})") !=
        std::string::npos);
}
