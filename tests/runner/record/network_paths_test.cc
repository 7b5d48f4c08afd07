#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "results/prediction/solve.h"
#include "results/prediction/stored_summary.h"
#include "runner/prediction/answer.h"
#include "runner/prediction/exchange_correction.h"
#include "runner/prediction/mean_step.h"
#include "runner/prediction/prediction.h"
#include "runner/record/step_summary.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

using nlohmann::ordered_json;

using Sets = std::vector<std::pair<std::string, std::string>>;

std::string sample(const std::string& name) {
  return std::string(std::getenv("GRADWIRE_SOURCE_DIR")) + "/tests/runner/record/samples/" + name;
}

scenarios::Scenario read(const std::string& name, const Sets& sets = {}) {
  return scenarios::read_scenario_file(sample(name), sets).runs.at(0);
}

/// A star of explicit links: each host's rate (Gbps), all 5 us away, ResNet-50 round a ring.
scenarios::Scenario star_of(const std::vector<double>& rates, const std::string& collective,
                            double delay_us = 5) {
  ordered_json hosts = ordered_json::array(), links = ordered_json::array();
  for (std::size_t h = 0; h < rates.size(); ++h) {
    hosts.push_back("h" + std::to_string(h));
    links.push_back({{"a", hosts.back()},
                     {"b", "s"},
                     {"bandwidth", std::to_string(rates[h]) + "Gbps"},
                     {"delay", std::to_string(delay_us) + "us"}});
  }
  const ordered_json json = {
      {"schema_version", 1},
      {"name", "star"},
      {"workload", {{"profile", "resnet50"}, {"batch_per_worker", 32}, {"steps", 3}}},
      {"method", {{"name", "none"}}},
      {"cluster", {{"workers", rates.size()}, {"device", "v100"}}},
      {"network",
       {{"topology", "explicit"}, {"hosts", hosts}, {"switches", {"s"}}, {"links", links}}},
      {"exchange", {{"collective", collective}}},
      {"executor", "flow"},
      {"seeds", {1}}};
  return scenarios::read_scenario_text(json.dump(), sample("star.json")).runs.at(0);
}

StepSummary summary(const scenarios::Scenario& scenario) {
  return runner::summary_of(scenario, nullptr, {});
}

double seconds(const scenarios::Scenario& scenario) {
  return step_time(summary(scenario), usual_constants()).total_s;
}

}  // namespace

TEST_CASE("The slowest hop sets a ring's pace") {
  // One host of 1 Gbps among seven of 10: 14 hops of 102.2 MB / 8, in packets of 1,538 bytes for
  // 1,448, with acknowledgements of 90 bytes for two of them the other way.
  const StepSummary step = summary(read("slow-one.json"));
  CHECK(step.bandwidth == Approx(1e9 / 8));
  const double hops = 14 * 102.2e6 / 8 * 1538 / 1448 * (1 + 45.0 / 1538) / (1e9 / 8);
  CHECK(step_time(step, usual_constants()).exchange_s == Approx(hops).epsilon(0.01));
}

TEST_CASE("Steps over links that differ take what flow says, inside of their band") {
  struct Given {
    const char* file;
    Sets sets;
    double low, high;
  };
  const Sets batch = {{"/workload/batch_per_worker", "8"}};
  for (const Given& given : {Given{"two-tier.json", {}, 0.195, 0.200},
                             {"slow-one.json", {}, 1.56, 1.60},
                             {"dumb.json", {}, 1.56, 1.60},
                             {"p3.json", batch, 0.097, 0.0995},
                             {"star.json", {}, 0.1, 0.102}}) {
    INFO(given.file);
    const auto scenario = read(given.file, given.sets);
    const StepPrediction predicted = predict_step(usual_fit(), summary(scenario));
    const double flow = runner::mean_step(scenario, {.steps = 5}).seconds;
    CHECK(flow >= given.low);
    CHECK(flow <= given.high);
    CHECK(predicted.time.total_s == Approx(flow).epsilon(0.03));
    CHECK(predicted.model_low_s <= flow);
    CHECK(predicted.model_high_s >= flow);
  }
}

TEST_CASE("Links that are slower round a ring hide as much compute as lies between two of them") {
  // Two of twelve: a worker has its last transfers 12 / 2 - 1 hops before its slow link has done.
  const auto scenario = read("dumb.json", {{"/cluster/workers", "12"},
                                           {"/network/link/bandwidth", "400Gbps"},
                                           {"/network/bottleneck/bandwidth", "10Gbps"},
                                           {"/exchange/overlap", "false"},
                                           {"/exchange/bucket", "1GB"}});
  const StepTime time = step_time(summary(scenario), usual_constants());
  const double hop = time.exchange_s / 22;
  CHECK(time.compute_s > 5 * hop);
  CHECK(time.compute_s + time.exchange_s - time.total_s == Approx(5 * hop).epsilon(0.01));
  CHECK(time.total_s == Approx(runner::mean_step(scenario, {}).seconds).epsilon(0.03));
}

TEST_CASE("Which host is the slow one does not matter to a ring") {
  std::vector<double> rates(8, 10);
  rates[0] = 1;
  for (const char* collective : {"ring", "halving-doubling"}) {
    const double first = seconds(star_of(rates, collective));
    for (std::size_t other = 1; other < rates.size(); ++other) {
      std::vector<double> moved(8, 10);
      moved[other] = 1;
      CHECK(seconds(star_of(moved, collective)) == Approx(first).epsilon(1e-9));
    }
  }
}

TEST_CASE("A faster link changes nothing where another one sets the pace") {
  std::vector<double> rates(8, 10);
  rates[2] = 1;
  for (const char* collective : {"ring", "halving-doubling", "tree"}) {
    INFO(collective);
    const double before = seconds(star_of(rates, collective));
    rates[5] = 100;
    CHECK(seconds(star_of(rates, collective)) == Approx(before).epsilon(1e-6));
    rates[5] = 10;
    rates[2] = 2;  // the control: the one that does
    CHECK(seconds(star_of(rates, collective)) < 0.75 * before);
    rates[2] = 1;
  }
}

TEST_CASE("Links that are all alike have no paths of their own, however they are written") {
  const std::vector<double> rates(6, 10);
  for (const char* collective : {"ring", "tree", "halving-doubling", "two-level"}) {
    INFO(collective);
    const auto scenario = star_of(rates, collective);
    CHECK(summary(scenario).paths.empty());
    auto plain = scenario.json;
    plain["network"] = {{"topology", "star"},
                        {"link", {{"bandwidth", "10Gbps"}, {"delay", "5us"}}}};
    const auto star = scenarios::read_scenario_text(plain.dump(), scenario.file).runs.at(0);
    CHECK(seconds(scenario) == Approx(seconds(star)).epsilon(1e-12));
  }
}

TEST_CASE("A plain star's links are all alike for every exchange, group and server") {
  for (const char* server : {"1Gbps", "10Gbps", "400Gbps"})
    for (const int workers : {2, 6, 8, 11})
      for (const char* collective :
           {"ring", "tree", "halving-doubling", "two-level", "parameter-server"}) {
        INFO(collective << ", " << workers << " workers, server " << server);
        auto json = read("star.json").json;
        json["cluster"]["workers"] = workers;
        json["exchange"]["collective"] = collective;
        if (std::string_view(collective) == "two-level") json["exchange"]["group"] = 4;
        if (std::string_view(collective) == "parameter-server")
          json["network"]["server_link"] = {{"bandwidth", server}, {"delay", "5us"}};
        const auto scenario =
            scenarios::read_scenario_text(json.dump(), sample("star.json")).runs.at(0);
        CHECK(summary(scenario).paths.empty());
      }
}

TEST_CASE("What another network gave a step does not stay with it") {
  const auto scenario = read("slow-one.json");
  StepSummary step = summary(scenario);
  const double seconds = step_time(step, usual_constants()).total_s;
  step.rate_spread = 0.5;
  step.correction_error = 0.5;  // traces, and simulations of its exchange
  step.correction.add(1e6, 2);
  runner::take_paths(scenarios::build_cluster(scenario), scenario.network.transport, step);
  CHECK_FALSE(step.is_irregular());
  CHECK_FALSE(step.correction_error);
  CHECK(step_time(step, usual_constants()).total_s == seconds);
}

TEST_CASE("A server that the network has no host for has a worker's link") {
  auto served = read("star.json").json;
  served["exchange"]["collective"] = "parameter-server";
  const auto with_host =
      scenarios::read_scenario_text(served.dump(), sample("star.json")).runs.at(0);
  StepSummary step = summary(with_host);
  const double seconds = step_time(step, usual_constants()).total_s;
  const auto star = read("star.json");  // the same links, workers alone
  runner::take_paths(scenarios::build_cluster(star), star.network.transport, step);
  CHECK(step.paths.empty());
  CHECK(step_time(step, usual_constants()).total_s == Approx(seconds).epsilon(1e-9));
}

TEST_CASE("A server behind a bottleneck has what passes it") {
  // All eight workers on the left of 1 Gbps, the server on the right with 25 Gbps.
  const auto scenario =
      read("dumb.json", {{"/exchange/collective", "parameter-server"}, {"/network/left", "8"}});
  const StepSummary step = summary(scenario);
  // 102.2 MB of each worker there and back, in packets of 1,538 bytes for 1,448.
  CHECK(step_time(step, usual_constants()).exchange_s ==
        Approx(2 * 8 * 102.2e6 * 1538 / 1448 / (1e9 / 8)).epsilon(0.01));
}

TEST_CASE("Hops that share a link of a rack have their share of it") {
  // Two racks of 8: halving-doubling's first distance, 8, crosses both uplinks with 8 flows of half
  // a message each; the other distances stay in a rack. 10 Gbps / 8 a flow, at 100 Gbps a host.
  const auto scenario = read("two-tier.json", {{"/exchange/collective", "halving-doubling"}});
  const StepSummary step = summary(scenario);
  const auto& hops = *step.paths_of(ExchangeKind::kHalvingDoubling);
  REQUIRE(hops.size() == 4);
  const auto rate = [&](std::size_t hop) { return 8 * step.bandwidth * hops[hop][0].bandwidth; };
  CHECK(rate(0) == Approx(10e9 / 8));
  CHECK(rate(1) == Approx(100e9));
  CHECK(rate(3) == Approx(100e9));
}

TEST_CASE("On other numbers of workers a step has what the network gives them") {
  // 8 V100s of one machine have NVLink; 16 are on two, with 25 Gbps between them.
  const auto scenario = read("p3.json", {{"/workload/batch_per_worker", "8"}});
  const StepSummary step = summary(scenario);
  REQUIRE(step.on_workers);
  CHECK(with(step, SolveFor::kWorkers, 8).bandwidth == Approx(1200e9 / 8));
  CHECK(with(step, SolveFor::kWorkers, 32).bandwidth == Approx(25e9 / 8));
  const Target target = parse_target("efficiency>=0.8");
  CHECK(solve_step(usual_fit(), step, SolveFor::kWorkers, target, 8).value == 8);
  // 32 of them reach it with adapters of 106 Gbps, which flow says, too.
  const auto rate =
      solve_step(usual_fit(), with(step, SolveFor::kWorkers, 32), SolveFor::kBandwidth, target, 8);
  REQUIRE(rate.value);
  CHECK(8 * *rate.value == Approx(106e9).epsilon(0.05));
}

TEST_CASE("Workers that are counted in a scenario are as many as they are") {
  const StepSummary step = summary(star_of(std::vector<double>(6, 10), "ring"));
  REQUIRE(step.on_workers);
  CHECK_FALSE((*step.on_workers)(step, 7));
  CHECK((*step.on_workers)(step, 6));
  CHECK_THROWS_WITH(with(step, SolveFor::kWorkers, 7), Catch::Contains("cannot have that many"));
}

TEST_CASE("Paths are stored with a run, and an earlier version's means are not taken for them") {
  const auto scenario = read("two-tier.json", {{"/exchange/collective", "tree"}});
  const StepSummary step = summary(scenario);
  REQUIRE_FALSE(step.paths.empty());
  auto metrics = summary_metrics(step, {});
  const auto stored = stored_summary(metrics, scenario.json.dump());
  REQUIRE(stored);
  CHECK(step_time(*stored, usual_constants()).total_s ==
        Approx(step_time(step, usual_constants()).total_s).epsilon(1e-12));
  std::erase_if(metrics, [](const MetricRow& row) { return row.name == "summary_form"; });
  CHECK_FALSE(stored_summary(metrics, scenario.json.dump()));
  CHECK(stored_summary(metrics, read("star.json").json.dump()));  // whose links are alike
}

TEST_CASE("Steps that lose packets on links that differ are corrected by simulated exchanges") {
  auto json = star_of(std::vector<double>(6, 1), "ring").json;
  json["workload"] = {{"collective", "ring-all-reduce"}, {"bytes", "200kB"}, {"repetitions", 3}};
  for (const char* part : {"method", "exchange"}) json.erase(part);
  json["cluster"].erase("device");
  const auto clean = scenarios::read_scenario_text(json.dump(), sample("star.json")).runs.at(0);
  StepSummary plain = summary(clean);
  runner::correct_by_simulation(clean, plain);
  CHECK_FALSE(plain.correction_error);  // nothing is lost, and the links are alike
  json["network"]["links"][2]["loss"] = 0.01;
  const auto lossy = scenarios::read_scenario_text(json.dump(), sample("star.json")).runs.at(0);
  StepSummary step = summary(lossy);
  const double wide = predict_step(usual_fit(), step).model_high_s;
  runner::correct_by_simulation(lossy, step);
  REQUIRE(step.correction_error.value_or(0) > 0);
  const StepPrediction predicted = predict_step(usual_fit(), step);
  runner::StepSampling sampling = runner::sampling_of(step);
  sampling.first_seed = 1001;
  sampling.steps = 40;
  sampling.least_seeds = sampling.most_seeds = 150;
  sampling.most_work = 1e9;
  const double flow = runner::mean_step(lossy, sampling).seconds;
  CHECK(predicted.time.total_s == Approx(flow).epsilon(0.12));  // known to 4 and 3 %
  CHECK(predicted.model_low_s < flow);
  CHECK(predicted.model_high_s > flow);
  CHECK(predicted.model_high_s / predicted.time.total_s <
        wide / step_time(summary(lossy), usual_constants()).total_s);
}

TEST_CASE("A link whose directions differ counts with the one that a hop goes by") {
  auto json = star_of(std::vector<double>(6, 10), "ring").json;
  const auto run_of = [&] {
    return scenarios::read_scenario_text(json.dump(), sample("star.json")).runs.at(0);
  };
  // 10 hops of a sixth of ResNet-50's 102.2 MB, of which one in six goes by the slow direction.
  json["network"]["links"][2]["bandwidth_back"] = "1Gbps";
  const double into = seconds(run_of());
  CHECK(into == Approx(runner::mean_step(run_of(), {.steps = 5}).seconds).epsilon(0.03));
  CHECK(into > 10 * 102.2e6 / 6 * 8 / 1e9);
  json["network"]["links"][2]["bandwidth"] = "1Gbps";
  json["network"]["links"][2]["bandwidth_back"] = "10Gbps";
  CHECK(seconds(run_of()) == Approx(into).epsilon(0.01));
  // A server sends sums by the slow direction, and gets messages by the fast one.
  json["exchange"] = {{"collective", "parameter-server"}};
  json["network"] = {{"topology", "star"},
                     {"link", {{"bandwidth", "1Gbps"}, {"bandwidth_back", "10Gbps"}}},
                     {"server_link", {{"bandwidth", "40Gbps"}, {"bandwidth_back", "5Gbps"}}}};
  CHECK(seconds(run_of()) ==
        Approx(runner::mean_step(run_of(), {.steps = 5}).seconds).epsilon(0.06));
  // What changes all rates alike changes both directions.
  const StepSummary step = summary(run_of());
  CHECK(runner::cannot_simulate(run_of(), step, SolveFor::kBandwidth).empty());
  const auto twice =
      runner::simulate_answer(run_of(), step, SolveFor::kBandwidth, 2 * step.bandwidth, 0);
  const double exposed = twice.seconds - alone(step).forward_s;
  CHECK(exposed < 0.6 * seconds(run_of()));
}

TEST_CASE("Sums in the network go up and down at once, but for the last chunk") {
  auto json = star_of(std::vector<double>(12, 10), "ring").json;
  json["exchange"] = {{"collective", "in-network"}};
  json["network"] = {{"topology", "star"}, {"link", {{"bandwidth", "10Gbps"}, {"delay", "5us"}}}};
  const auto run = scenarios::read_scenario_text(json.dump(), sample("star.json")).runs.at(0);
  CHECK(seconds(run) == Approx(runner::mean_step(run, {.steps = 5}).seconds).epsilon(0.05));
}

TEST_CASE("Which rank waits for which link simulated exchanges tell") {
  const auto scenario =
      scenarios::read_scenario_text(
          R"({"schema_version": 1, "name": "sites", "cluster": {"workers": 11}, "seeds": [1],
              "workload": {"collective": "tree-all-reduce", "bytes": "3MB", "repetitions": 9},
              "executor": "flow",
              "network": {"topology": "wan", "link": {"bandwidth": "10Gbps", "delay": "20us"},
                          "sites": [{"name": "a", "workers": 4}, {"name": "b", "workers": 3},
                                    {"name": "c", "workers": 4}],
                          "site_links": [
                              {"a": "a", "b": "b", "bandwidth": "2Gbps", "delay": "4ms"},
                              {"a": "a", "b": "c", "bandwidth": "3Gbps", "delay": "2ms"}]}})",
          "")
          .runs.at(0);
  const double flow = runner::mean_step(scenario, {}).seconds;
  StepSummary step = summary(scenario);
  const double off = std::abs(predict_step(usual_fit(), step).time.total_s / flow - 1);
  CHECK(off > 0.08);  // the form alone
  runner::correct_by_simulation(scenario, step);
  const StepPrediction predicted = predict_step(usual_fit(), step);
  CHECK(predicted.time.total_s == Approx(flow).epsilon(0.05));
  CHECK(predicted.model_low_s < flow);
  CHECK(predicted.model_high_s > flow);
}

TEST_CASE("Answers for links that differ can be simulated") {
  const auto scenario = read("slow-one.json");
  const StepSummary step = summary(scenario);
  CHECK(runner::cannot_simulate(scenario, step, SolveFor::kBandwidth).empty());
  CHECK(runner::cannot_simulate(scenario, step, SolveFor::kLatency).empty());
}
