#include "bench/measured/measured.h"
#include "bench/measured/scatter.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "bench/measured/collective_form.h"
#include "bench/measured/device_fit.h"
#include "bench/measured/forms.h"
#include "bench/measured/hold_out.h"
#include "bench/measured/judged.h"
#include "bench/measured/table.h"
#include "scenarios/profiles/profile.h"
#include "tests/bench/measured/measured_tables.h"

namespace gradwire::bench {

using testing::read;

namespace {

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

/// Rows that a form made with constants of its own, and one that it did not.
std::vector<FormRow> made_rows(double exponent) {
  std::vector<FormRow> rows;
  for (int i = 0; i < 40; ++i) {
    const MeasuredCollective one{
        "s", "all-reduce", "v100", 8, 8, BitsPerSecond(0), Bytes(std::int64_t{1} << (i % 20 + 10)),
        {}};
    const double truth[] = {std::log(45e-6), std::log(1.2), -0.1, 0};
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

TEST_CASE("few rows leave a wide band: Student's", "[measured]") {
  // A level alone, rows a tenth above and below it: no prior to speak of.
  const std::vector<results::Unknown> level = {{"level", 1, 1, 100}};
  const auto width_of = [&](int count) {
    std::vector<FormRow> rows(static_cast<std::size_t>(count));
    std::vector<const FormRow*> fitted;
    for (int i = 0; i < count; ++i) {
      FormRow& row = rows[static_cast<std::size_t>(i)];
      row = {"one", "row", "v100", 1, std::exp(i % 2 ? 1.1 : 0.9), [](std::span<const double> x) {
               return std::exp(x[0]);
             }};
      fitted.push_back(&row);
    }
    const JudgedRow judged =
        judge_rows(fitted, std::vector(fitted.begin(), fitted.begin() + 1), level, 0)[0];
    return std::log(judged.high / judged.predicted);
  };
  // n rows less one constant: scatter 0.1 sqrt(n / (n - 1)), and Huber's scale 1.4826 x 0.1 over
  // the root of n for the level; 90 % of t with 3 and with 39 degrees of freedom.
  const auto expected = [](double n, double t) {
    return t * std::sqrt(0.01 * n / (n - 1) + std::pow(0.14826, 2) / n);
  };
  CHECK(width_of(4) == Approx(expected(4, 2.3534)).epsilon(0.01));
  CHECK(width_of(40) == Approx(expected(40, 1.6849)).epsilon(0.01));
}

TEST_CASE("a row that the form leaves more of weighs less against a prior", "[measured]") {
  const std::vector<results::Unknown> level = {{"level", 0, 0, 0.1}};
  FormRow row{"one", "row",         "v100",
              1,     std::exp(0.2), [](std::span<const double> x) { return std::exp(x[0]); }};
  const auto fitted = [&] {
    const std::vector<const FormRow*> rows = {&row, &row, &row, &row};
    return known_from(rows, level).values[0];
  };
  // Four rows known to 5 % against a prior of 10 %: 0.2 x (4 / 0.05^2) / (4 / 0.05^2 + 1 / 0.1^2).
  CHECK(fitted() == Approx(0.2 * 1600 / 1700).epsilon(1e-3));
  row.least_scatter = 0.2;  // 0.2 x 100 / 200
  CHECK(fitted() == Approx(0.1).epsilon(1e-3));
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

TEST_CASE("of many groups each is left out alone, which says the same of how far they differ",
          "[measured]") {
  const auto unknowns = collective_unknowns();
  std::vector<FormRow> rows;
  const auto judged = [&](int groups) {
    rows.clear();
    for (int group = 0; group < groups; ++group)
      for (FormRow row : made_rows(1)) {
        row.group = std::string(1, static_cast<char>('a' + group));
        row.measured *= group % 2 ? 1.3 : 1;
        rows.push_back(row);
      }
    std::size_t told = 0;
    const auto all = judge_strangers(rows, unknowns, {}, [&](std::size_t done, std::size_t of) {
      CHECK(of == static_cast<std::size_t>(groups));
      told = done;
    });
    CHECK(told == static_cast<std::size_t>(groups));
    return std::log(all[20].high / all[20].low);
  };
  // 12 groups by pairs, 14 one by one.
  CHECK(judged(14) == Approx(judged(12)).epsilon(0.1));
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

TEST_CASE("steps are predicted from other devices, other networks and other precisions",
          "[measured]") {
  const std::string table = hold_out_table(shipped_measured());
  std::map<std::string, double> medians;  // "left out, source"
  for (std::size_t at = 0; at < table.size(); at = table.find('\n', at) + 1) {
    char name[80], source[120];
    double median = 0;
    if (std::sscanf(table.c_str() + at, "| %79[^|] | %119[^|] | %lf |", name, source, &median) == 3)
      medians[std::string(name) + source] = median;
  }
  REQUIRE(medians.size() == 22);
  // Nothing of the device, and nothing of the kind of network.
  CHECK(medians.at("a100 via-research-vtrain.gpt.a100 ") < 15);
  CHECK(medians.at("h100 pytorch-torchtitan.llama-8b.h100 ") < 15);
  CHECK(medians.at("v100 paddlepaddle-fleetx.resnet50.v100 ") < 15);
  CHECK(medians.at("transformers via-research-vtrain.gpt.a100 ") < 15);
  CHECK(medians.at("other networks paddlepaddle-fleetx.resnet50.v100 ") < 15);
  // Other rows than a source's own help: without any, the priors are further off.
  CHECK(medians.at("everything paddlepaddle-fleetx.resnet50.v100 ") >
        medians.at("v100 paddlepaddle-fleetx.resnet50.v100 "));
}

TEST_CASE("the shipped tables are predicted row by row or left out with a reason", "[measured]") {
  std::string said;
  const auto rows = bench_measured({}, [&](const std::string& line) { said += line + "\n"; });
  const auto value = [&](const std::string& name) {
    const auto row = std::ranges::find(rows, name, &BenchRow::name);
    REQUIRE(row != rows.end());
    return row->value;
  };
  CHECK_THAT(said, Catch::Contains("there is no layer table faster-rcnn (first: training.csv:"));
  CHECK(value("measured.without_form") == Approx(100 * 6 / 247.0));  // 195 steps, 52 collectives
  CHECK(value("measured.half.via-research-vtrain.gpt.a100.median_error") < 6);
  // As scenarios, which know less of a program.
  const std::string bert = "nvidia-deeplearningexamples.bert-large-pretraining.v100.fp16";
  CHECK(value("measured.predict." + bert + ".median_error") < 10);
  CHECK(value("measured.predict.inside_band.at_least") > 85);
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
