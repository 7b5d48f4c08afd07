#include "bench/measured/measured.h"
#include "bench/measured/scatter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "bench/measured/collective_form.h"
#include "bench/measured/device_fit.h"
#include "bench/measured/forms.h"
#include "bench/measured/judged.h"
#include "bench/measured/step_form.h"
#include "bench/measured/step_work.h"
#include "bench/measured/stranger_errors.h"
#include "bench/measured/table.h"
#include "results/prediction/published_errors.h"
#include "scenarios/profile.h"
#include "scenarios/share.h"

namespace gradwire::bench {
namespace {

MeasuredTables read(const std::string& text) {
  MeasuredTables tables;
  read_measured(text, "t.csv", tables);
  return tables;
}

MeasuredStep transformer(const std::string& workload, int layers, int hidden, int heads,
                         int sequence, int vocabulary) {
  MeasuredStep step;
  step.workload = workload;
  step.layers = layers;
  step.hidden = hidden;
  step.heads = heads;
  step.sequence = sequence;
  step.vocabulary = vocabulary;
  return step;
}

TEST_CASE("measured rows are drawn beside the line of predictions that are right") {
  const std::vector<JudgedRow> judged = {{"a \"x\"", "one", 2.0, 2.2, 1.9, 2.5},
                                         {"b", "two", 0.5, 0.9, 0.6, 1.2}};
  const results::Figure scatter = scatter_of(judged, "of a test");
  check(scatter);
  REQUIRE(scatter.series.size() == 3);
  CHECK(scatter.series[0].x == std::vector<double>{2.0});
  CHECK(scatter.series[0].y == std::vector<double>{2.2});
  CHECK(scatter.series[2].x == std::vector<double>{0.5, 2.2});
  CHECK(scatter_csv(judged, "half") ==
        "way,source,row,measured_s,predicted_s,low_s,high_s,inside\n"
        "half,\"a \"\"x\"\"\",\"one\",2,2.2,1.9,2.5,1\n"
        "half,\"b\",\"two\",0.5,0.9,0.6,1.2,0\n");
  CHECK(scatter_of({}, "").series.empty());
}

TEST_CASE("steps are read in seconds whatever the metric", "[measured]") {
  const auto rows = read(
                        "source,workload,device,gpus,batch_per_gpu,micro_batch,global_batch,"
                        "sequence,metric,value\n"
                        "a,resnet50,v100,8,32,,,,samples_per_s,2560\n"
                        "a,gpt,a100,2,,4,32,1024,step_s,0.5\n"
                        "a,gpt,a100,8,2,,,8192,tokens_per_s_per_gpu,16384\n")
                        .steps;
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].time.value() == Approx(8 * 32 / 2560.0));
  CHECK(rows[1].accumulated == 4);  // 32 samples of 2 workers, 4 a pass
  CHECK(rows[1].time.value() == 0.5);
  CHECK(rows[2].time.value() == Approx(2 * 8192 / 16384.0));
}

TEST_CASE("tables that cannot be are refused with their place", "[measured]") {
  CHECK_THROWS_WITH(read("source,workload,device,value\na,b,c,1\n"), Catch::Contains("metric"));
  const std::string head = "source,workload,device,metric,value\n";
  CHECK_THROWS_WITH(read(head + "a,b,c,steps,1\n"),
                    Catch::Contains("t.csv:2") && Catch::Contains("metric"));
  CHECK_THROWS_WITH(read(head + "a,b,c,step_s,-1\n"), Catch::Contains("value"));
  CHECK_THROWS_WITH(read("source,collective,device,gpus,bytes,time_us\na,b,c,1,2,3\n"),
                    Catch::Contains("below 2"));
  // 10^18 samples at once are no overflow.
  CHECK_THROWS_WITH(read("source,workload,device,gpus,batch_per_gpu,global_batch,metric,value\n"
                         "a,b,c,1000000000,1000000000,5,step_s,1\n"),
                    Catch::Contains("below one batch"));
  CHECK_THROWS_AS(bench_measured({.tables = {"/no/such.csv"}}, [](const std::string&) {}), Error);
}

TEST_CASE("transformers by shape have the parameters of the models they are", "[measured]") {
  // GPT-2 medium as its layer table counts it; Llama 3 8B's published 8,030,261,248.
  CHECK(work_of(transformer("gpt", 24, 1024, 16, 1024, 50257)).parameters == 354'823'168);
  CHECK(work_of(transformer("llama-8b", 32, 4096, 32, 8192, 128256)).parameters == 8'030'261'248);
}

TEST_CASE("the products of a layer table are its FLOPs", "[measured]") {
  MeasuredStep step;
  step.workload = "resnet50";
  step.batch = 2;
  double flops = 0;
  for (const scenarios::Kernel& one : work_of(step).kernels) flops += 2 * one.m * one.n * one.k;
  // 4.089 x 10^9 multiply-adds an image.
  CHECK(flops == Approx(2 * 2 * 4.089e9).epsilon(0.002));
}

TEST_CASE("notes and columns say what a program and its board do", "[measured]") {
  const auto rows = read(
                        "source,workload,device,metric,value,note,memory_gb_per_s,power_w,layers\n"
                        "a,bert-large,v100,step_s,1,\"pre-training, 512\",,350,24\n"
                        "a,resnet50,v100,step_s,1,batch normalisation fused with ReLU,,,\n"
                        "a,llama-8b,h100,step_s,1,,2400,500,32\n")
                        .steps;
  CHECK(rows[0].pre_training);
  CHECK_FALSE(rows[0].fused_batch_norm);
  CHECK(rows[0].power_limit_watts == 350);
  CHECK(rows[1].fused_batch_norm);
  CHECK(rows[2].memory_bytes_per_second == 2.4e12);
  CHECK_FALSE(rows[2].pre_training);
}

TEST_CASE("BERT's pre-training has a head over the vocabulary for every token", "[measured]") {
  MeasuredStep step = transformer("bert-large", 24, 1024, 16, 512, 30522);
  const auto products = [&] {
    double flops = 0;
    for (const scenarios::Kernel& one : work_of(step).kernels)
      if (one.kind == scenarios::Kernel::Kind::kMatrix)
        flops += one.repeats * 2 * one.m * one.n * one.k;
    return flops;
  };
  const double without = products();
  CHECK(without == Approx(2.0 * 512 * 24 * 12 * 1024 * 1024));
  step.pre_training = true;
  CHECK(products() - without == Approx(2.0 * 512 * (1024.0 * 1024 + 1024.0 * 30522)));
  // Adam in fp32: 14 kernels that move 120 B a parameter; in one kernel 28.
  CHECK(work_of(step).update_bytes == 120);
  step.precision = "amp";
  CHECK(work_of(step).update_bytes == 28);
}

TEST_CASE("a row without a form says why", "[measured]") {
  MeasuredStep step;
  step.workload = "faster-rcnn";
  step.device = "p40";
  CHECK_THAT(why_no_step_form(step), Catch::Contains("layer table faster-rcnn"));
  step.workload = "resnet50";
  step.device = "mi250";
  CHECK_THAT(why_no_step_form(step), Catch::Contains("device profile mi250"));
  step.device = "v100";
  CHECK(why_no_step_form(step).empty());
  step.workers = 2;
  CHECK_THAT(why_no_step_form(step), Catch::Contains("between its nodes"));
}

TEST_CASE("more of anything takes longer", "[measured]") {
  std::vector<double> priors;
  for (const auto& unknown : constant_unknowns()) priors.push_back(unknown.prior_mean);
  MeasuredStep step = transformer("gpt", 12, 1024, 16, 1024, 51200);
  step.device = "a100";
  step.precision = "fp16";
  step.batch = 4;
  step.gpus_per_node = 8;
  const auto seconds = [&] { return StepForm(step).time(constants_at(priors)).value(); };
  const double one = seconds();
  step.accumulated = 2;
  CHECK(seconds() > 1.5 * one);
  step.accumulated = 1;
  step.workers = 8;
  CHECK(seconds() > one);
  step.workers = 1;
  step.checkpointing = "full";
  CHECK(seconds() > 1.2 * one);
}

TEST_CASE("a board that may draw less computes slower, by the cube root", "[measured]") {
  std::vector<double> priors;
  for (const auto& unknown : constant_unknowns()) priors.push_back(unknown.prior_mean);
  MeasuredStep step = transformer("llama-8b", 32, 4096, 32, 8192, 128256);
  step.device = "h100";
  step.precision = "bf16";
  step.batch = 2;
  const auto seconds = [&] { return StepForm(step).time(constants_at(priors)).value(); };
  const double usual = seconds();
  step.power_limit_watts = 700;
  CHECK(seconds() == Approx(usual));
  step.power_limit_watts = 700.0 / 8;  // half of the clock: products decide, memory does not change
  CHECK(seconds() > 1.6 * usual);
  CHECK(seconds() < 2 * usual);
  step.power_limit_watts = 0;
  step.memory_bytes_per_second = 3.35e12 / 2;
  CHECK(seconds() > 1.02 * usual);
  CHECK(seconds() < 1.5 * usual);
  // Selective checkpointing is cheaper than all of the forward pass again, and no less than half of
  // it.
  step.memory_bytes_per_second = 0;
  step.checkpointing = "full";
  const double full = seconds() - usual;
  step.checkpointing = "selective";
  CHECK(seconds() - usual < 0.8 * full);
  CHECK(seconds() - usual > 0.5 * full);
}

TEST_CASE("an all-reduce takes the fastest of the protocols", "[measured]") {
  MeasuredCollective one{"s", "all-reduce", "v100", 8, 8, BitsPerSecond(0), Bytes(1024), {}};
  const double known[] = {std::log(10e-6), 0, 0};
  const auto micros = [&] { return 1e6 * collective_time(one, known).value(); };
  // LL: 10 + 6.6 + 14 x 0.6 and 1.75 x 1 KiB at 39 GB/s.
  CHECK(micros() == Approx(10 + 6.6 + 14 * 0.6 + 1.75 * 1024 / 39e3));
  // Simple, 1 GiB over six rings of 22.5 GB/s: 10 + 8.4 + 14 x 3.4 + 1.75 x 2^30 / 135e9.
  one.bytes = Bytes(std::int64_t{1} << 30);
  CHECK(micros() == Approx(10 + 8.4 + 14 * 3.4 + 1.75 * 1073741824.0 / 135e3));
  // Half of the steps and of the bytes.
  one.collective = "all-gather";
  CHECK(micros() == Approx(10 + 8.4 + 7 * 3.4 + 0.875 * 1073741824.0 / 135e3));
  one.collective = "broadcast";
  CHECK_FALSE(why_no_collective_form(one).empty());
}

/// 32 B200s on four nodes with 400 GB/s each, NCCL 2.27.7: bus bandwidths that
/// stas00/ml-engineering (network/README.md) measured.
std::vector<FormRow> between_nodes(std::vector<MeasuredCollective>& keep) {
  const std::pair<int, double> logs[] = {{18, 1.33},   {20, 5.37},   {22, 18.9},
                                         {24, 64.43},  {26, 156.74}, {28, 229.09},
                                         {30, 361.99}, {32, 377.34}, {34, 381.8}};
  std::vector<FormRow> rows;
  for (const auto& [power, bandwidth] : logs) {
    const MeasuredCollective one{
        "s", "all-reduce", "b200", 32, 8, BitsPerSecond(3.2e12), Bytes(std::int64_t{1} << power),
        {}};
    REQUIRE(why_no_collective_form(one).empty());
    const double seconds = 1.9375 * static_cast<double>(one.bytes.count()) / (1e9 * bandwidth);
    keep.push_back(one);
    rows.push_back({"between", "row", "b200", 32, seconds,
                    [one](std::span<const double> x) { return collective_time(one, x).value(); }});
  }
  return rows;
}

TEST_CASE("NCCL's trees between nodes are what a log shows, rings are not", "[measured]") {
  std::vector<MeasuredCollective> ones;
  std::vector<FormRow> rows = between_nodes(ones);
  const auto median_error = [&] {
    std::vector<const FormRow*> all;
    std::vector<double> errors;
    for (const FormRow& row : rows) all.push_back(&row);
    const Known known = known_from(all, collective_unknowns());
    for (const FormRow& row : rows)
      errors.push_back(std::abs(row.time(known.values) / row.measured - 1));
    std::ranges::sort(errors);
    return errors[errors.size() / 2];
  };
  CHECK(median_error() < 0.03);
  // A ring's all-reduce is its reduce-scatter and its all-gather, with one start.
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i].time = [one = ones[i]](std::span<const double> x) {
      MeasuredCollective half = one;
      half.collective = "all-gather";
      return 2 * collective_time(half, x).value() - std::exp(x[0]);
    };
  CHECK(median_error() > 0.035);
}

/// Rows that a form made with constants of its own, and one that it did not.
std::vector<FormRow> made_rows(double exponent) {
  std::vector<FormRow> rows;
  for (int i = 0; i < 40; ++i) {
    const MeasuredCollective one{
        "s", "all-reduce", "v100", 8, 8, BitsPerSecond(0), Bytes(std::int64_t{1} << (i % 20 + 10)),
        {}};
    const double truth[] = {std::log(45e-6), std::log(1.2), -0.1};
    rows.push_back({"made", "row", "v100", 8,
                    std::pow(collective_time(one, truth).value(), exponent),
                    [one](std::span<const double> x) { return collective_time(one, x).value(); }});
  }
  return rows;
}

TEST_CASE("constants from half of the rows predict the other half, if the form is right",
          "[measured]") {
  const auto unknowns = collective_unknowns();
  for (const JudgedRow& row : judge_halves(made_rows(1), unknowns, 7)) {
    CHECK(std::abs(row.error()) < 0.03);
    CHECK(row.inside());
  }
  const auto wrong = judge_halves(made_rows(1.3), unknowns, 7);
  CHECK(
      std::ranges::any_of(wrong, [](const JudgedRow& row) { return std::abs(row.error()) > 0.2; }));
}

TEST_CASE("a stranger's band knows how far programs differ", "[measured]") {
  const auto unknowns = collective_unknowns();
  std::vector<FormRow> rows;
  for (int group = 0; group < 4; ++group)
    for (FormRow row : made_rows(1)) {
      row.group = std::string(1, static_cast<char>('a' + group));
      row.measured *= 1 + 0.3 * group;
      rows.push_back(row);
    }
  const auto judged = judge_strangers(rows, unknowns);
  REQUIRE(judged.size() == rows.size());
  const auto inside = std::ranges::count_if(judged, &JudgedRow::inside);
  CHECK(inside > 0.85 * static_cast<double>(judged.size()));
  // Programs that agree leave a narrow band.
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].measured = made_rows(1)[i % 40].measured;
  const auto agreed = judge_strangers(rows, unknowns);
  CHECK(agreed[0].high / agreed[0].low < 0.8 * judged[0].high / judged[0].low);
}

TEST_CASE("a file's rows are judged with the constants of others, which are not judged",
          "[measured]") {
  const auto unknowns = collective_unknowns();
  auto own = made_rows(1);
  for (FormRow& row : own) row.group = "own", row.measured *= 1.5;
  // Nothing but priors, and then three programs that all take 1.5 times what the form says.
  std::vector<FormRow> others;
  for (const char* group : {"a", "b", "c"})
    for (FormRow row : made_rows(1)) {
      row.group = group;
      row.measured *= 1.5;
      others.push_back(row);
    }
  const auto alone = judge_strangers(own, unknowns), known = judge_strangers(own, unknowns, others);
  REQUIRE(known.size() == own.size());
  for (std::size_t i = 0; i < known.size(); ++i) {
    CHECK(std::abs(known[i].error()) < std::abs(alone[i].error()));
  }
}

TEST_CASE("a device's constants are those of its sources, or of all", "[measured]") {
  std::vector<FormRow> rows = shipped_steps();
  const auto fits = fit_devices({"v100", "h100", "t4"}, rows);
  CHECK(fits.at("v100").sources == 3);
  CHECK(fits.at("h100").sources == 1);
  CHECK(fits.at("t4").sources == 0);
  const auto convolution = [&](const char* device) {
    return of(fits.at(device).constants, Constant::kConvolutionFp32);
  };
  CHECK(convolution("v100") != convolution("t4"));
  // Devices that nobody measured share their constants, and the width of not knowing.
  CHECK(fit_devices({"p100"}, rows).at("p100").constants == fits.at("t4").constants);
  CHECK(fits.at("t4").deviation > 0.2);
}

TEST_CASE("shipped device profiles hold what is fitted to the shipped tables", "[measured]") {
  const auto fitted = nlohmann::json::parse(device_fits_json());
  const auto close = [](double shipped, const nlohmann::json& value) {
    return std::abs(shipped / value.get<double>() - 1) < 0.02;
  };
  for (const auto& [name, kernels] : fitted.items()) {
    INFO(name);
    const auto shipped = scenarios::load_device_profile(name, "").kernels;
    REQUIRE(shipped);
    CHECK(close(shipped->shares.at("fp32").matrix, kernels["shares"]["fp32"]["matrix"]));
    CHECK(close(shipped->traffic, kernels["traffic"]));
    CHECK(close(shipped->host.value(), kernels["host_s"]));
    CHECK(close(shipped->step.value(), kernels["step_s"]));
  }
}

TEST_CASE("the errors that reports quote are those of the shipped tables", "[measured]") {
  const std::string path = scenarios::share_folder() + "/published/prediction-errors.csv";
  const auto shipped = results::read_published_errors(read_file(path), path);
  const auto now = results::read_published_errors(stranger_errors_csv(), "now");
  REQUIRE(shipped.size() == now.size());
  int rows = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    INFO(now[i].source << " " << now[i].workload);
    CHECK(shipped[i].source == now[i].source);
    CHECK(shipped[i].family == now[i].family);
    CHECK(shipped[i].rows == now[i].rows);
    CHECK(shipped[i].most_workers == now[i].most_workers);
    CHECK(shipped[i].median == Approx(now[i].median).margin(0.005));
    CHECK(shipped[i].worst == Approx(now[i].worst).margin(0.005));
    rows += now[i].rows;
  }
  CHECK(rows == 195 + 52 - 6);  // all but those without a form
}

TEST_CASE("the shipped tables are predicted row by row or left out with a reason", "[measured]") {
  std::string said;
  const auto rows = bench_measured({}, [&](const std::string& line) { said += line + "\n"; });
  const auto value = [&](const std::string& name) {
    const auto row = std::ranges::find(rows, name, &BenchRow::name);
    REQUIRE(row != rows.end());
    return row->value;
  };
  CHECK_THAT(said, Catch::Contains("there is no layer table faster-rcnn"));
  CHECK(value("measured.without_form") == Approx(100 * 6 / 247.0));  // 195 steps, 52 collectives
  CHECK(value("measured.half.via-research-vtrain.gpt.a100.median_error") < 6);
  CHECK(value("measured.half.paddlepaddle-fleetx.resnet50.v100.worst_error") < 15);
  // Nothing from the source itself.
  for (const char* source :
       {"nvidia-deeplearningexamples.bert-large.v100", "paddlepaddle-fleetx.resnet50.v100",
        "pytorch-torchtitan.llama-8b.h100", "via-research-vtrain.gpt.a100"}) {
    INFO(source);
    CHECK(value("measured.strangers." + std::string(source) + ".median_error") < 15);
    CHECK(value("measured.half." + std::string(source) + ".worst_error") < 15);
  }
}

}  // namespace
}  // namespace gradwire::bench
