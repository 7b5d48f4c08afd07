#pragma once
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "results/prediction/step_model.h"
#include "results/prediction/stored_summary.h"
#include "results/store/store.h"
#include "tests/results/test_store.h"

/// Stored runs as `gradwire run` leaves them: a model of 50 ms compute whose messages go round a
/// ring of 1 Gbps.

/// `megabytes` a worker's message, encoded in `encode` and decoded in half of it; `rate` of a link,
/// B/s.
inline gradwire::results::StepSummary scale_step(int workers, double megabytes = 10,
                                                 double encode = 0, double rate = 125e6) {
  gradwire::results::StepSummary step;
  step.workers = workers;
  step.bandwidth = rate;
  step.delay_s = 100e-6;
  step.forward_s = 0.02;
  step.buckets = {{.backward_s = 0.03,
                   .encode_s = encode,
                   .decode_s = encode / 2,
                   .message_bytes = megabytes * 1e6}};
  return step;
}

struct ScaleRun {
  std::string method = "none";
  int workers = 2;
  double seconds = 0;  ///< 0 = as the model has it, with its usual constants
  std::uint64_t seed = 1;
  double megabytes = 10, encode = 0;
  std::string model = "lenet5";
  std::string bandwidth = "1Gbps";
  bool summary = true;
  double rate = 125e6;  ///< of a link in its summary, B/s
  double accuracy = 0;  ///< 0 = nothing was trained
};

inline gradwire::results::RunId add_scale_run(gradwire::results::Store& store,
                                              const ScaleRun& given) {
  using namespace gradwire::results;
  const StepSummary step = scale_step(given.workers, given.megabytes, given.encode, given.rate);
  const double seconds =
      given.seconds != 0 ? given.seconds : step_time(step, usual_constants()).total_s;
  RunHeader header;
  header.scenario_json =
      R"({"schema_version":1,"name":"scaling","description":"How far does it go?","workload":{"model":")" +
      given.model + R"(","batch_per_worker":32,"steps":2},"method":{"name":")" + given.method +
      R"("},"cluster":{"workers":)" + std::to_string(given.workers) +
      R"(},"network":{"topology":"star","link":{"bandwidth":")" + given.bandwidth +
      R"("}},"exchange":{"collective":"ring"},"executor":"flow","seeds":[)" +
      std::to_string(given.seed) + "]}";
  header.scenario_hash = given.method + std::to_string(given.workers) + given.bandwidth;
  header.scenario_name = given.model + "-scaling";
  header.scenario_file = "scaling.json";
  header.seed = given.seed;
  header.method = given.method;
  header.executor = "flow";
  header.model = given.model;
  header.workers = given.workers;
  header.host = "node7 (CPU)";
  header.version = "0.1.0 (abc)";
  header.device = "reference-cpu";
  header.compute_provenance = "profile";
  const RunId run = store.begin_run(header, 2);
  const double drawn = std::isfinite(seconds) ? seconds : 1;
  std::vector<StepRow> steps;
  for (int i = 0; i < 2; ++i) {
    StepRow row;
    row.step = i;
    row.start_s = drawn * i;
    row.end_s = drawn * (i + 1);
    row.compute_s = 0.05;
    row.codec_s = 1.5 * given.encode;
    row.exposed_s = drawn - 0.05 - row.codec_s;
    steps.push_back(row);
  }
  store.append(run, steps, {});
  std::vector<MetricRow> finals = {{-1, "step_time_s", seconds, "s", Provenance::kSimulated}};
  if (given.accuracy > 0)
    finals.push_back({-1, "final_accuracy", given.accuracy, "", Provenance::kMeasured});
  if (given.summary)
    for (const MetricRow& row : summary_metrics(step, RunOrigins{})) finals.push_back(row);
  store.finish_run(run, RunStatus::kFinished, "", "", "", finals);
  return run;
}

/// A store of such runs.
struct ScaleStore {
  explicit ScaleStore(const std::vector<ScaleRun>& runs)
      : store(gradwire::results::Store::open(folder.file("a.db"),
                                             gradwire::results::Store::Mode::kReadWrite)) {
    for (const ScaleRun& run : runs) ids.push_back(add_scale_run(*store, run));
  }
  TemporaryFolder folder;
  std::unique_ptr<gradwire::results::Store> store;
  std::vector<gradwire::results::RunId> ids;
};

/// fp32, fp16 and a codec of a hundredth that costs 5 ms, on 2, 4, 8 and 16 workers.
inline std::vector<ScaleRun> three_methods() {
  std::vector<ScaleRun> runs;
  for (const int n : {2, 4, 8, 16}) {
    runs.push_back({.method = "none", .workers = n});
    runs.push_back({.method = "fp16", .workers = n, .megabytes = 5});
    runs.push_back({.method = "topk 1%", .workers = n, .megabytes = 0.1, .encode = 0.005});
  }
  return runs;
}
