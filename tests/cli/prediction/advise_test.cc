#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/file_descriptor.h"
#include "results/store/store.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;

namespace {

/// Three methods, one bucket size: quick.
Result advised(std::vector<std::string> arguments) {
  std::vector<std::string> all = {"advise",   "--bucket", "25MB",     "--method", "none",
                                  "--method", "fp16",     "--method", "terngrad"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return run_program(all);
}

nlohmann::json rows_of(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const Result result = advised(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out).at("rows");
}

/// Without the line ends that the page's width made.
std::string in_one_line(const std::string& text) {
  std::string line;
  std::istringstream words(text);
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

/// A finished run of 8 workers with batches of 16 that reached 90 % after `steps` steps.
void store_training(const std::string& database, const std::string& method, std::uint64_t seed,
                    std::int64_t steps) {
  using namespace gradwire::results;
  const auto store = Store::open(database, Store::Mode::kReadWrite);
  RunHeader header;
  header.scenario_hash = method;
  header.scenario_json = R"({"workload":{"model":"lenet5","batch_per_worker":16}})";
  header.method = method;
  header.model = "lenet5";
  header.executor = "flow";
  header.workers = 8;
  header.seed = seed;
  const RunId run = store->begin_run(header, steps);
  const std::vector<MetricRow> metrics = {{steps - 1, "accuracy", 0.92, "", Provenance::kMeasured}};
  store->append(run, {}, metrics);
  const std::vector<MetricRow> finals = {{-1, "final_accuracy", 0.92, "", Provenance::kMeasured}};
  store->finish_run(run, RunStatus::kFinished, "", "", "", finals);
}

/// Three seeds that end at this accuracy, 0.1 point apart.
void store_accuracy(const std::string& database, const std::string& method, double accuracy) {
  using namespace gradwire::results;
  const auto store = Store::open(database, Store::Mode::kReadWrite);
  for (const std::uint64_t seed : {1, 2, 3}) {
    RunHeader header;
    header.scenario_hash = method;
    header.scenario_json =
        R"({"workload":{"model":"lenet5"},"method":{"name":")" + method + R"("}})";
    header.method = method;
    header.model = "lenet5";
    header.executor = "flow";
    header.workers = 8;
    header.seed = seed;
    const RunId run = store->begin_run(header, 1);
    const std::vector<MetricRow> finals = {{-1, "final_accuracy",
                                            accuracy + 0.001 * (static_cast<double>(seed) - 2), "",
                                            Provenance::kMeasured}};
    store->finish_run(run, RunStatus::kFinished, "", "", "", finals);
  }
}

}  // namespace

TEST_CASE("advise counts the steps to an accuracy, and assumes nothing unless told to") {
  const TemporaryFolder folder;
  const std::string database = folder.file("t.db");
  store_training(database, "none", 1, 100);
  store_training(database, "none", 2, 140);
  store_training(database, "terngrad", 1, 150);
  const std::vector<std::string> asked = {
      "--show", "cost", "--gpu-hour", "3.6",           "--target-accuracy",
      "0.9",    "--db", database,     "--closed-form", "--batch"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> all = asked;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  // As trained: 120 steps of fp32 (100 to 140), 150 of TernGrad; fp16 was not trained.
  const auto rows = rows_of(with({"16", "--workers", "8"}));
  REQUIRE(rows.size() == 2);
  for (const auto& row : rows) {
    const double seconds = row.at("step_time_s").get<double>();
    const double steps = row.at("method") == "none" ? 120 : 150;
    CHECK(row.at("steps_to_accuracy") == steps);
    CHECK(row.at("steps_provenance") == "measured");
    CHECK(row.at("to_accuracy_s").get<double>() == Approx(steps * seconds));
    CHECK(row.at("cost_to_accuracy").get<double>() == Approx(steps * 0.008 * seconds));
  }
  CHECK_THAT(in_one_line(advised(with({"16", "--workers", "8"})).err),
             Catch::Contains("fp16: no finished training run"));
  // Twice the workers: twice the batch, which nobody trained.
  const Result refused = advised(with({"16", "--workers", "16"}));
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, Catch::Contains("a batch of 256 was never trained"));
  const auto assumed = rows_of(with({"16", "--workers", "16", "--assume-steps", "samples"}));
  for (const auto& row : assumed) {
    CHECK(row.at("steps_to_accuracy") == (row.at("method") == "none" ? 60 : 75));
    CHECK(row.at("steps_provenance") == "assumed");
    CHECK_THAT(row.at("steps_from").get<std::string>(), Catch::Contains("assumed"));
  }
}

TEST_CASE("advise says whether to compress, and by how much") {
  const auto slow = rows_of({"--rate", "1Gbps", "--workers", "8,12", "--verify"});
  REQUIRE(slow.size() == 2);
  for (const auto& row : slow) {
    CHECK(row.at("verdict") == "compress");
    CHECK(row.at("over_fp32").get<double>() > row.at("over_fp16").get<double>());
    CHECK(row.at("over_fp16").get<double>() > 1.03);
    CHECK(row.at("flow_step_time_s").get<double>() ==
          Approx(row.at("step_time_s").get<double>()).epsilon(0.02));
    CHECK(row.at("provenance") == "predicted");
  }
  const auto fast = rows_of({"--rate", "400Gbps", "--workers", "8"});
  CHECK(fast.at(0).at("verdict") == "do not compress");
  CHECK(fast.at(0).at("method") == "none");
  CHECK_THAT(advised({"--rate", "400Gbps", "--workers", "8"}).err,
             Catch::Contains("Do not compress"));
  // ResNet-50 on V100s: what others measured of it, and how far off this would have been.
  CHECK_THAT(in_one_line(advised({"--workers", "8"}).err),
             Catch::Contains("steps that others measured") && Catch::Contains("resnet50 on v100") &&
                 Catch::Contains("inside their 90 % range"));
  CHECK_THAT(in_one_line(advised({"--workers", "8", "--device", "t4"}).err),
             Catch::Contains("None of them is of this device"));
}

TEST_CASE("advise carries accuracy: what runs say, else that it is unknown and how to find out") {
  const TemporaryFolder folder;
  const std::string database = folder.file("t.db");
  const std::vector<std::string> asked = {"--rate",        "1Gbps", "--workers", "8",
                                          "--closed-form", "--db",  database};
  const Result unknown = advised(asked);
  // The GPU's codec times are assumed: the sentence says what changes if they are wrong.
  CHECK_THAT(in_one_line(unknown.err),
             Catch::Contains("Compress with terngrad") &&
                 Catch::Contains("Accuracy unknown here; published:") &&
                 Catch::Contains("To find out: gradwire run quickstart") &&
                 Catch::Contains("The codecs' times are assumed. If they are 10 times"));
  const auto row = rows_of(asked).at(0);
  CHECK(row.at("accuracy") == "unknown");
  CHECK(row.at("winner_at_10_codec_cost").is_string());
  // The assumption widens the band well beyond the model's own few per cent.
  CHECK(row.at("high_s").get<double>() > 1.1 * row.at("low_s").get<double>());
  // Trained here with 2 points less than fp32: not recommended, unless two points are accepted.
  store_accuracy(database, "none", 0.95);
  store_accuracy(database, "terngrad", 0.93);
  const Result loses = advised(asked);
  CHECK_THAT(in_one_line(loses.err),
             Catch::Contains("Not recommended, beyond the tolerance of 1 point: terngrad"));
  CHECK(rows_of(asked).at(0).at("method") == "fp16");
  std::vector<std::string> lenient = asked;
  lenient.insert(lenient.end(), {"--tolerance", "3"});
  CHECK(rows_of(lenient).at(0).at("method") == "terngrad");
  // A filter that passes none of those runs: nothing is known again.
  std::vector<std::string> filtered = asked;
  filtered.insert(filtered.end(), {"--filter", "method=none"});
  CHECK(rows_of(filtered).at(0).at("accuracy") == "unknown");
}

TEST_CASE("advise shows the ranking, the rates and the costs") {
  const auto ranking = rows_of({"--show", "ranking", "--workers", "8"});
  REQUIRE(ranking.size() > 3);
  for (std::size_t i = 1; i < ranking.size(); ++i)
    CHECK(ranking[i - 1].at("step_time_s").get<double>() <=
          ranking[i].at("step_time_s").get<double>());
  const auto crossover = rows_of({"--show", "crossover", "--workers", "8..16"});
  REQUIRE(crossover.size() == 2);
  CHECK(crossover.at(0).at("pays") == "below");
  CHECK(crossover.at(0).at("pays_below_bps").get<double>() > 1e9);
  const auto cost = rows_of({"--show", "cost", "--gpu-hour", "3.6", "--epoch-samples", "256000",
                             "--workers", "8", "--closed-form"});
  REQUIRE(cost.size() == 3);
  // 8 GPUs at 3.6 an hour: 0.008 a second. An epoch has 1,000 steps of 8 x 32 samples.
  for (const auto& row : cost) {
    const double seconds = row.at("step_time_s").get<double>();
    CHECK(row.at("cost_per_step").get<double>() == Approx(0.008 * seconds));
    CHECK(row.at("epoch_s").get<double>() == Approx(1000 * seconds));
    CHECK(row.at("cost_per_epoch").get<double>() == Approx(8 * seconds));
  }
  CHECK(cost.at(0).at("on_front") == true);
  // The same from the scenario; an option goes before it.
  const auto own = rows_of({"--show", "cost", "--set", "/prices/gpu_hour=1.8", "--set",
                            "/prices/epoch_samples=256000", "--workers", "8", "--closed-form"});
  CHECK(own.at(0).at("cost_per_epoch").get<double>() ==
        Approx(cost.at(0).at("cost_per_epoch").get<double>() / 2));
  const auto over = rows_of({"--show", "cost", "--set", "/prices/gpu_hour=1.8", "--gpu-hour", "3.6",
                             "--workers", "8", "--closed-form"});
  CHECK(over.at(0).at("cost_per_step") == cost.at(0).at("cost_per_step"));
  CHECK(cost.at(2).at("on_front") == false);
}

TEST_CASE("advise takes a scenario's model and network, and options over them") {
  const Result result = run_program({"advise", source_path("scenarios/alexnet.json"), "--method",
                                     "none", "--method", "fp16", "--collective", "ring", "--bucket",
                                     "25MB", "--workers", "4", "--format", "json"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Catch::Contains("first of the file's 4 runs"));
  const auto row = nlohmann::json::parse(result.out).at("rows").at(0);
  CHECK(row.at("workers") == 4);
  CHECK(row.at("verdict") == "fp16, and no more");
}

TEST_CASE("advise refuses what it cannot answer, and says what it can") {
  CHECK(advised({"--show", "cost"}).exit_code == 2);
  CHECK_THAT(advised({"--show", "cost"}).err, Catch::Contains("no price is given"));
  CHECK_THAT(advised({"--workers", "1..4"}).err, Catch::Contains("no number from 2"));
  CHECK_THAT(advised({"--workers", "32..8"}).err, Catch::Contains("the range is empty"));
  CHECK(advised({"--model", "resnet5"}).exit_code == 3);
  CHECK_THAT(advised({"--method", "topc"}).err, Catch::Contains("/method/name"));
  CHECK(run_program({"advise", source_path("scenarios/ring.json")}).exit_code == 3);
  CHECK_THAT(advised({"--target-accuracy", "0.9"}).err, Catch::Contains("say --show cost, too"));
  const TemporaryFolder folder;
  CHECK(advised({"--target-accuracy", "0.9", "--show", "cost", "--db", folder.file("none.db")})
            .exit_code == 6);
  const Result without = advised({"--db", folder.file("none.db")});
  CHECK(without.exit_code == 0);
  CHECK_THAT(without.err, Catch::Contains("there is no database"));
}
