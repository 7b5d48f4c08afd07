#pragma once
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "results/store/store.h"

/// Runs as the program would store them: four methods on several links and seeds, with a loss that
/// falls, an accuracy that rises and step times that follow the bytes.
struct SyntheticMethod {
  std::string name, label;
  double ratio, slower, codec_s, ceiling;
};

inline std::vector<SyntheticMethod> synthetic_methods() {
  return {{"none", "none", 1.0, 1.0, 0.0, 0.962},
          {"topk", "topk 1% ef", 0.02, 1.35, 0.012, 0.959},
          {"terngrad", "terngrad", 0.0635, 1.15, 0.004, 0.951},
          {"qsgd", "qsgd 4 bit", 0.13, 1.05, 0.006, 0.961}};
}

inline std::string synthetic_scenario(const SyntheticMethod& method, const std::string& bandwidth,
                                      std::uint64_t seed) {
  return R"({"schema_version":1,"name":"slow-links","description":"Eight workers train LeNet-5 on )"
         R"(handwritten digits over links that are too slow for it: what does compression buy?",)"
         R"("workload":{"model":"lenet5","data":{"set":"digits"},"batch_per_worker":64,"steps":120,)"
         R"("optimizer":{"name":"sgd","lr":0.05,"momentum":0.9},"target_accuracy":0.9},)"
         R"("method":{"name":")" +
         method.name + R"("},"cluster":{"workers":8,"device":"cpu"},)" +
         R"("network":{"topology":"star","link":{"bandwidth":")" + bandwidth +
         R"(","delay":"50us","loss":0.001}},"exchange":{"collective":"ring","overlap":true},)" +
         R"("executor":"flow","seeds":[)" + std::to_string(seed) + "]}";
}

inline gradwire::results::RunId add_synthetic_run(gradwire::results::Store& store,
                                                  const SyntheticMethod& method,
                                                  const std::string& bandwidth, double bps,
                                                  std::uint64_t seed) {
  using namespace gradwire::results;
  constexpr int kSteps = 120;
  RunHeader header;
  header.scenario_json = synthetic_scenario(method, bandwidth, seed);
  header.scenario_hash = "5eed" + std::to_string(1000 + static_cast<int>(method.ratio * 1000)) +
                         std::to_string(static_cast<long>(bps / 1e6));
  header.scenario_name = "slow-links";
  header.scenario_file = "slow-links.json";
  header.seed = seed;
  header.method = method.label;
  header.executor = "flow";
  header.model = "lenet5";
  header.data_set = "digits";
  header.workers = 8;
  header.host = "node7 (AMD EPYC 7B13)";
  header.version = "0.1.0 (42bb129)";
  header.device = "AMD EPYC 7B13";
  header.compute_provenance = "measured";
  const RunId run = store.begin_run(header, kSteps);

  std::mt19937 random(static_cast<unsigned>(seed * 7919 + method.label.size()));
  std::normal_distribution<double> noise;
  const double dense = 8 * 2 * 7.0 / 8 * 246'824;  // ring of 8 workers, 61,706 fp32 values
  const double wire = dense * method.ratio * 1.04;
  const double communication = wire / 8 * 8 / bps + 0.003;
  const double compute = 0.035;
  std::vector<StepRow> steps;
  std::vector<MetricRow> metrics;
  double now = 0, target_at = -1, accuracy = 0, rate = 0.045 / method.slower;
  for (int i = 0; i < kSteps; ++i) {
    StepRow step;
    step.step = i;
    step.start_s = now;
    step.compute_s = compute;
    step.codec_s = method.codec_s;
    step.exposed_s = std::max(0.002, communication - 0.6 * compute) * (1 + 0.03 * noise(random));
    now += step.compute_s + step.codec_s + step.exposed_s;
    step.end_s = now;
    step.payload_bytes = static_cast<std::int64_t>(dense * method.ratio);
    step.wire_bytes = static_cast<std::int64_t>(wire);
    step.loss = 0.12 + 2.2 * std::exp(-rate * i) * (1 + 0.12 * noise(random));
    steps.push_back(step);
    if (i % 5 != 4) continue;
    accuracy = method.ceiling - 0.86 * std::exp(-rate * 1.4 * i) + 0.004 * noise(random);
    metrics.push_back({i, "accuracy", accuracy, "share", Provenance::kMeasured});
    if (target_at < 0 && accuracy >= 0.9) target_at = now;
  }
  store.append(run, steps, metrics);
  std::vector<MetricRow> finals = {
      {-1, "final_loss", steps.back().loss, "", Provenance::kMeasured},
      {-1, "final_accuracy", accuracy, "share", Provenance::kMeasured},
      {-1, "step_time_s", now / kSteps, "s", Provenance::kSimulated},
      {-1, "compression_ratio", method.ratio, "", Provenance::kMeasured},
      {-1, "traffic_ratio", method.ratio * 1.005, "", Provenance::kSimulated},
      {-1, "wire_bytes", std::floor(wire) * kSteps, "B", Provenance::kSimulated}};
  if (target_at >= 0)
    finals.push_back({-1, "time_to_target_s", target_at, "s", Provenance::kSimulated});
  store.finish_run(run, RunStatus::kFinished, "", "aabbccdd00112233", "99887766", finals);
  return run;
}
