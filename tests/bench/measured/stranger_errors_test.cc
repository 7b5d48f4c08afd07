#include "bench/measured/stranger_errors.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/file_descriptor.h"
#include "bench/measured/scenario_form.h"
#include "results/prediction/published_errors.h"
#include "scenarios/share.h"
#include "tests/bench/measured/measured_tables.h"

namespace gradwire::bench {

using testing::read;

namespace {

TEST_CASE("the errors that reports quote are those of the shipped tables", "[measured]") {
  const std::string path = scenarios::share_folder() + "/published/prediction-errors.csv";
  const auto shipped = results::read_published_errors(read_file(path), path);
  const auto now = results::read_published_errors(stranger_errors_csv(), "now");
  REQUIRE(shipped.size() == now.size());
  int rows = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    INFO(now[i].source << " " << now[i].workload);
    CHECK(shipped[i].source == now[i].source);
    CHECK(shipped[i].workload == now[i].workload);
    CHECK(shipped[i].precision == now[i].precision);
    CHECK(shipped[i].rows == now[i].rows);
    CHECK(shipped[i].most_workers == now[i].most_workers);
    CHECK(shipped[i].median == Approx(now[i].median).margin(0.005));
    CHECK(shipped[i].worst == Approx(now[i].worst).margin(0.005));
    rows += now[i].rows;
  }
  // 90 of networks with attention (30 of BERT, 56 of GPT 1,024 wide, 4 of Llama in bf16), 28 of
  // ResNet-50 with every step's average, 9 throughputs of single GPUs.
  CHECK(rows == 90 + 28 + 9);
}

TEST_CASE("the printed band holds nine in ten of the steps of each kind of network", "[measured]") {
  const auto all = results::read_published_errors(stranger_errors_csv(), "now");
  std::map<std::string, double> inside, rows;
  for (const results::PublishedErrors& one : all) {
    rows[one.family] += one.rows;
    inside[one.family] += one.rows * one.inside;
  }
  REQUIRE(rows.size() == 2);
  for (const auto& [family, count] : rows) {
    INFO(family);
    CHECK(inside[family] > 0.85 * count);
  }
}

TEST_CASE("a table's steps are held as scenarios, and those that are none are said", "[measured]") {
  const auto steps = read(
                         "source,workload,device,gpus,gpus_per_node,batch_per_gpu,precision,metric,"
                         "value\n"
                         "a,resnet50,v100,1,8,64,fp32,step_s,0.2\n"
                         "a,resnet50,v100,8,8,64,fp8,step_s,0.2\n"
                         "a,resnet50,v100,1,8,100000000,fp32,step_s,0.2\n")
                         .steps;
  std::string said;
  const auto rows = scenario_rows(steps, [&](const std::string& line) { said += line + "\n"; });
  CHECK_THAT(said, Catch::Contains("no scenario: 1 row: its device profile has no peak in fp8") &&
                       Catch::Contains("batch_per_worker"));  // beyond what a scenario may say
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].name == "measured.predict.a.resnet50.v100.fp32.median_error");
  CHECK(rows[3].name == "measured.predict.inside_band.at_least");
  CHECK_FALSE(rows[3].bar);  // of one row
}

TEST_CASE("a row is written as the scenario that predict would be asked for", "[measured]") {
  const auto steps = read(
                         "source,workload,device,gpus,gpus_per_node,inter_node_gbps,batch_per_gpu,"
                         "precision,method,layers,hidden,heads,sequence,note,metric,value\n"
                         "a,resnet50,v100,16,8,100,64,amp,,,,,,,step_s,0.1\n"
                         "a,bert-large,v100,8,8,,4,amp,,24,1024,16,512,pre-training,step_s,0.2\n"
                         "a,llama-8b,h100,8,8,,2,fp8,,32,4096,32,8192,,step_s,2\n"
                         "a,gpt,a100,8,8,,4,fp16,,12,2048,16,1024,,step_s,2\n"
                         "a,resnet50,v100,8,8,,64,amp,local-sgd,,,,,,step_s,0.1\n"
                         "a,resnet50,t4,8,8,,64,amp,,,,,,,step_s,0.1\n")
                         .steps;
  CHECK(why_no_scenario(steps[0]).empty());
  CHECK(table_of(steps[1]) == "bert-large-pretraining");
  CHECK(scenario_precision(steps[1]) == "fp16");
  CHECK_THAT(why_no_scenario(steps[2]), Catch::Contains("no peak in fp8"));
  CHECK_THAT(why_no_scenario(steps[3]), Catch::Contains("no layer table"));
  CHECK_THAT(why_no_scenario(steps[4]), Catch::Contains("local-sgd"));
  CHECK_THAT(why_no_scenario(steps[5]), Catch::Contains("network of its nodes"));
  // Slower links between nodes, nothing else: a step is longer.
  const std::string v100 = profile_without("v100", "nobody", "nothing");
  MeasuredStep slow = steps[0];
  slow.between_nodes = BitsPerSecond(1e9);
  CHECK(predicted_as_scenario(slow, v100).predicted >
        1.2 * predicted_as_scenario(steps[0], v100).predicted);
  // What was fitted to a source is fitted anew without it.
  CHECK(profile_without("v100", "PaddlePaddle/FleetX", "resnet50") != v100);
}

}  // namespace
}  // namespace gradwire::bench
