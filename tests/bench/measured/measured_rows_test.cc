#include <algorithm>
#include <catch2/catch.hpp>
#include <map>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bench/measured/forms.h"
#include "bench/measured/measured.h"
#include "bench/measured/names.h"
#include "bench/measured/table.h"
#include "tests/bench/measured/measured_tables.h"

namespace gradwire::bench {

using testing::read;

namespace {

using Catch::Contains;
using Pairs = std::map<std::string, std::string>;

TEST_CASE("devices are known by what people call them", "[measured]") {
  for (const auto& [written, name] : Pairs{{"NVIDIA A100-SXM4-80GB", "a100-80gb"},
                                           {"A100 40GB", "a100"},
                                           {"Tesla V100-SXM2-32GB", "v100"},
                                           {"Tesla V100-PCIE-16GB", "v100-pcie"},
                                           {"V100", "v100"},
                                           {"NVIDIA H100 80GB HBM3", "h100"},
                                           {"H100 PCIe", "h100-pcie"},
                                           {"GeForce RTX 2080 Ti", "rtx-2080-ti"},
                                           {"RTX A6000", "a6000"},
                                           {"AMD Instinct MI300X", "mi300x"},
                                           {"gtx_1080", "gtx-1080"},
                                           {"TPU v4", "TPU v4"}})
    CHECK(device_named(written) == name);
}

TEST_CASE("models are known by what people call them", "[measured]") {
  for (const auto& [written, name] : Pairs{{"ResNet-50", "resnet50"},
                                           {"resnet_50 v1.5", "resnet50"},
                                           {"ResNet101 v1", "resnet101"},
                                           {"VGG 16", "vgg16"},
                                           {"VGG11", "vgg-a"},
                                           {"BERT-Large, uncased", "bert-large"},
                                           {"BERT_base", "bert-base"},
                                           {"GPT-2 XL", "gpt2-xl"},
                                           {"GPT2 1.5B", "gpt2-xl"},
                                           {"GPT-3 175B", "gpt3-175b"},
                                           {"Llama 3.1 8B", "llama-8b"},
                                           {"llama2-7b", "llama-7b"},
                                           {"Llama-3-70B", "llama3-70b"},
                                           {"Inception V3", "inception-v3"},
                                           {"T5-large", "T5-large"}})
    CHECK(workload_named(written) == name);
}

TEST_CASE("precisions, collectives and programs are known by what people call them", "[measured]") {
  for (const auto& [written, name] : Pairs{{"float32", "fp32"},
                                           {"Mixed precision", "amp"},
                                           {"AMP O2", "amp"},
                                           {"bfloat16", "bf16"},
                                           {"half", "fp16"},
                                           {"Float8", "fp8"},
                                           {"TF32", "tf32"},
                                           {"int4", "int4"}})
    CHECK(precision_named(written) == name);
  for (const auto& [written, name] : Pairs{{"AllReduce", "all-reduce"},
                                           {"all_gather_perf", "all-gather"},
                                           {"reduce_scatter", "reduce-scatter"},
                                           {"alltoall", "all-to-all"},
                                           {"sendrecv", "sendrecv"}})
    CHECK(collective_named(written) == name);
  CHECK(sharding_named("ZeRO-3") == "fsdp");
  CHECK(sharding_named("none").empty());
  CHECK(checkpointing_named("yes") == "full");
  CHECK(checkpointing_named("No").empty());
}

TEST_CASE("a metric is a time of a step, or what is done in a second", "[measured]") {
  using Counts = Metric::Counts;
  CHECK(metric_named("iteration_time_ms")->unit == 1e-3);
  CHECK(metric_named("s/iter")->counts == Counts::kSeconds);
  CHECK(metric_named("it/s")->counts == Counts::kSteps);
  CHECK(metric_named("images/sec")->counts == Counts::kSamples);
  CHECK(metric_named("sequences per second per GPU")->per_gpu);
  CHECK(metric_named("tokens/s/GPU")->counts == Counts::kTokens);
  CHECK_FALSE(metric_named("tflops"));
  // The only table of ours with steps: a tenth of a second each.
  const auto rows = read(
                        "source,workload,device,gpus,tensor_parallel,batch_per_gpu,sequence,"
                        "metric,value\n"
                        "a,gpt,a100,8,,4,128,steps/s,10\n"
                        "a,gpt,a100,8,4,4,128,tokens_per_s_per_gpu,1280\n")
                        .steps;
  CHECK(rows[0].time.value() == Approx(0.1));
  // Two workers of four GPUs: 2 x 4 x 128 tokens by 8 GPUs of 1,280 a second.
  CHECK(rows[1].workers == 2);
  CHECK(rows[1].time.value() == Approx(2 * 4 * 128 / (8 * 1280.0)));
}

TEST_CASE("a batch is what the columns say of it", "[measured]") {
  const auto rows = read(
                        "source,workload,device,gpus,batch_per_gpu,micro_batch,global_batch,"
                        "metric,value\n"
                        "a,resnet50,v100,8,,,512,step_s,1\n"   // no micro-batch: one pass
                        "a,resnet50,v100,8,64,16,,step_s,1\n"  // four passes of 16
                        "a,resnet50,v100,8,,16,256,step_s,1\n"
                        "a,resnet50,v100,8,,,,step_s,1\n")
                        .steps;
  CHECK((rows[0].batch == 64 && rows[0].accumulated == 1));
  CHECK((rows[1].batch == 16 && rows[1].accumulated == 4));
  CHECK((rows[2].batch == 16 && rows[2].accumulated == 2));
  CHECK(rows[3].batch == 0);
  CHECK_THAT(why_without_form(rows[3]), Contains("its batch is not stated"));
}

TEST_CASE("columns are known by what people call them", "[measured]") {
  const auto steps = read(
                         "source,Model,GPU type,num_gpus,TP,batch-size-per-gpu,dtype,seq_len,"
                         "images/sec\n"
                         "a,ResNet-50,Tesla V100,8,,32,float16,,2560\n")
                         .steps;
  REQUIRE(steps.size() == 1);
  CHECK(why_without_form(steps[0]).empty());
  CHECK(steps[0].time.value() == Approx(8 * 32 / 2560.0));
  CHECK(steps[0].precision == "fp16");
  const auto collectives = read(
                               "source,operation,GPU,nranks,size(B),time(us),busbw(GB/s)\n"
                               "a,AllReduce,H100,8,1048576,40,46\n")
                               .collectives;
  REQUIRE(collectives.size() == 1);
  CHECK(why_without_form(collectives[0]).empty());
  CHECK(collectives[0].time.value() == Approx(40e-6));
  // Our own name wins, and a message names the column as the table does.
  CHECK(read("source,model,workload,device,metric,value\na,x,resnet50,v100,step_s,1\n")
            .steps[0]
            .workload == "resnet50");
  CHECK_THAT(read("source,model,gpu,num_gpus,step_ms\na,resnet50,v100,few,1\n").steps[0].refused,
             Contains("num_gpus: \"few\" is no number"));
}

/// What is said of a table's one row.
std::string why_not(const std::string& table) {
  const MeasuredForms forms = forms_of(read(table));
  REQUIRE(forms.without_form.size() == 1);
  CHECK(forms.without_form.begin()->second.rows == 1);
  CHECK(forms.without_form.begin()->second.first == "t.csv:2");
  return forms.without_form.begin()->first;
}

TEST_CASE("a row that cannot be taken is listed with the reason, and the others are predicted",
          "[measured]") {
  const std::string head =
      "source,workload,device,gpus,gpus_per_node,batch_per_gpu,precision,data_parallel,"
      "tensor_parallel,checkpointing,method,metric,value\n";
  const Pairs reasons = {
      {"a,resnet50,v100,1,,32,fp32,,,,,furlongs,1\n", "metric: \"furlongs\" is not known"},
      {"a,resnet50,v100,1,,32,fp32,,,,,step_s,n/a\n", "value: \"n/a\" is no number"},
      {"a,resnet50,v100,1,,32,fp32,,,,,step_s,-1\n", "value: -1 is not above 0"},
      {"a,resnet50,v100,1.5,,32,fp32,,,,,step_s,1\n", "gpus: is no whole number"},
      {"a,resnet50,v100,8,,32,fp32,4,,,,step_s,1\n", "gpus: is not data_parallel x"},
      {"a,resnet50,v100,8,,32,fp32,4,2,,,step_s,1\n", "for transformers alone"},
      {"a,resnet50,v100,8,4,32,fp32,,,,,step_s,1\n", "the bandwidth between its nodes"},
      {"a,resnet50,abacus,1,,32,fp32,,,,,step_s,1\n", "there is no device profile abacus"},
      {"a,t5,v100,1,,32,fp32,,,,,step_s,1\n", "there is no layer table t5"},
      {"a,resnet50,v100,1,,32,int4,,,,,step_s,1\n", "no peak in int4"},
      {"a,resnet50,v100,1,,32,fp32,,,some,,step_s,1\n", "checkpointing some is not"},
      {"a,resnet50,v100,1,,32,fp32,,,,dgc,step_s,1\n", "method dgc is not"},
      {"a,gpt,v100,1,,32,fp32,,,,,step_s,1\n", "its shape is not stated"}};
  for (const auto& [row, reason] : reasons) {
    INFO(row);
    CHECK_THAT(why_not(head + row), Contains(reason));
    const MeasuredForms both = forms_of(read(head + row + "a,resnet50,v100,1,,32,,,,,,step_s,1\n"));
    CHECK(both.steps.size() == 1);
    CHECK(both.without_form.size() == 1);
  }
}

TEST_CASE("a collective's row that cannot be taken is listed with the reason", "[measured]") {
  const std::string head =
      "source,collective,device,gpus,gpus_per_node,bytes,time_us,busbw_gb_per_s\n";
  for (const auto& [row, reason] :
       Pairs{{"a,all-reduce,v100,1,,8,2,\n", "gpus: is below 2"},
             {"a,all-reduce,v100,8,,1e40,2,\n", "bytes: is above 10^15"},
             {"a,all-reduce,v100,8,,8,,\n", "time_us: is empty"},
             {"a,sendrecv,v100,8,,8,2,\n", "sendrecv is not in this form"},
             {"a,all-reduce,abacus,8,,8,2,\n", "between GPUs of a node of abacus"},
             {"a,all-reduce,v100,8,1,8,2,\n", "the bandwidth between its nodes"}}) {
    INFO(row);
    CHECK_THAT(why_not(head + row), Contains(reason));
  }
  // Bus bandwidth is 2 x 7 / 8 of an all-reduce's bytes, over its time.
  const auto rows = read(head + "a,AllReduce,v100,8,,8e9,,140\na,broadcast,v100,8,,8e9,,140\n");
  CHECK(rows.collectives[0].time.value() == Approx(1.75 * 8 / 140));
  CHECK(rows.collectives[1].time.value() == Approx(8.0 / 140));
}

TEST_CASE("what is no table is refused with its place", "[measured]") {
  const auto refused = [](const std::string& text, const std::string& reason) {
    INFO(text);
    CHECK_THROWS_WITH(read(text), Contains("t.csv") && Contains(reason));
  };
  refused("", "no header line");
  refused("source,workload,device,metric,value\n", "no row below");
  refused("source,workload,device,value\na,b,c,1\n", "the column metric is missing");
  refused("source,collective,device,bytes\na,b,c,1\n", "the column gpus is missing");
  refused("source,source\na,b\n", "stands there twice");
  refused("source,workload,device,metric,value\na,b,c,step_s\n", "4 cells under 5 columns");
  refused("source,workload,device,metric,value\na,\"b,c,step_s,1\n", "a quote stays open");
  refused(std::string("\0\x01\x02", 3), "it is no text");
  CHECK_THROWS_AS(bench_measured({.tables = {"/no/such.csv"}}, [](const std::string&) {}), Error);
  // 10^18 samples at once are no overflow.
  CHECK_THAT(why_not("source,workload,device,gpus,batch_per_gpu,global_batch,metric,value\n"
                     "a,resnet50,v100,1000000000,1000000000,5,step_s,1\n"),
             Contains("below one batch"));
}

TEST_CASE("rows that cannot be predicted are rows of the bench, with the reason", "[measured]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  write_file(path,
             "source,workload,device,batch_per_gpu,metric,value\n"
             "a,t5,v100,8,step_s,1\na,t5,v100,16,step_s,1\n");
  const auto rows = bench_measured({.tables = {path}}, [](const std::string&) {});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].name == "measured.without_form.a.t5.v100");
  CHECK(rows[0].skipped == "2 rows: there is no layer table t5 (first: " + path + ":2)");
  CHECK(rows[1].name == "measured.without_form");
  CHECK(rows[1].value == 100);
}

TEST_CASE("few rows are held to no coverage, and one that gives constants alone is said",
          "[measured]") {
  const TemporaryFolder folder;
  const std::string path = folder.file("t.csv");
  // As many samples a second as the form says of the common constants, about: inside the band.
  write_file(path,
             "source,workload,device,gpus,gpus_per_node,batch_per_gpu,precision,metric,value\n"
             "a,resnet50,v100,1,8,64,fp32,samples_per_s,350\n");
  auto rows = bench_measured({.tables = {path}}, [](const std::string&) {});
  const auto named = [&](const std::string& name) {
    const auto row = std::ranges::find(rows, name, &BenchRow::name);
    REQUIRE(row != rows.end());
    return *row;
  };
  CHECK_THAT(named("measured.half.a.resnet50.v100").skipped, Contains("1 row gives constants"));
  CHECK(named("measured.strangers.inside_band.at_most").value == 100);
  CHECK_FALSE(named("measured.strangers.inside_band.at_most").bar);
  CHECK(judge(rows));
}

}  // namespace
}  // namespace gradwire::bench
