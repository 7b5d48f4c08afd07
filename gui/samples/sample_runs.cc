#include "gui/samples/sample_runs.h"

#include <array>
#include <cmath>
#include <stdexcept>

#include "sim/graph/step_graph.h"

namespace gradwire::gui::samples {

using namespace results;

namespace {

struct Method {
  const char* name;
  double ratio;
  double final_accuracy;
  double codec_s;
};
constexpr std::array<Method, 6> kMethods = {{{"none", 1.0, 0.962, 0.0},
                                             {"topk 1% ef", 0.0200, 0.951, 0.0021},
                                             {"terngrad", 0.0645, 0.944, 0.0007},
                                             {"qsgd 4 bit", 0.1280, 0.957, 0.0009},
                                             {"onebit ef", 0.0330, 0.939, 0.0006},
                                             {"powersgd r4", 0.0410, 0.955, 0.0017}}};
constexpr std::array<int, 4> kWorkers = {4, 8, 16, 32};
constexpr std::array<double, 3> kGbps = {0.1, 1, 10};
constexpr double kDenseBytes = 1.1e6;
constexpr double kComputeS = 0.011;

/// In [0, 1), the same for the same arguments.
double noise(int index, int salt) {
  const double x = std::sin(index * 12.9898 + salt * 78.233) * 43758.5453;
  return x - std::floor(x);
}

const Method& method_of(int index) {
  return kMethods[std::size_t(index) % 6];
}
int workers_of(int index) {
  return kWorkers[std::size_t(index / 6) % 4];
}
double gbps_of(int index) {
  return kGbps[std::size_t(index / 24) % 3];
}

double transfer_s(int index) {
  return 2 * kDenseBytes * method_of(index).ratio * 8 / (gbps_of(index) * 1e9) + 0.0004;
}

double step_s(int index) {
  const double exposed = std::max(0.0, transfer_s(index) - 0.5 * kComputeS);
  return (kComputeS + method_of(index).codec_s + exposed) * (0.97 + 0.06 * noise(index, 3));
}

const char* bandwidth_of(int index) {
  constexpr std::array<const char*, 3> kTexts = {"100Mbps", "1Gbps", "10Gbps"};
  return kTexts[std::size_t(index / 24) % 3];
}

/// What the sample sweep varies, and a little that it does not.
std::string scenario_of(int index) {
  constexpr std::array<const char*, 6> kCodecs = {R"({"name":"none"})",
                                                  R"({"name":"topk","ratio":0.01})",
                                                  R"({"name":"terngrad"})",
                                                  R"({"name":"qsgd","bits":4})",
                                                  R"({"name":"sign","error_feedback":true})",
                                                  R"({"name":"powersgd","rank":4})"};
  return std::string(R"({"schema_version":1,"name":"sample","workload":{"model":"lenet5",)") +
         R"("data":{"set":"digits"},"batch_per_worker":64,"steps":400},"method":)" +
         kCodecs[std::size_t(index) % 6] + R"(,"cluster":{"workers":)" +
         std::to_string(workers_of(index)) +
         R"(},"network":{"topology":"star","link":{"bandwidth":")" + bandwidth_of(index) +
         R"(","delay":"50us"}},"executor":"flow"})";
}

}  // namespace

RunSummary sample_run(int index) {
  const Method& method = method_of(index);
  RunSummary run;
  run.id = index + 1;
  run.header.scenario_hash = "a1b2c3d4" + std::to_string(index / 72);
  run.header.scenario_json = scenario_of(index);
  run.header.scenario_name = gbps_of(index) < 1 ? "edge-uplink" : "lab-cluster";
  run.header.method = method.name;
  run.header.executor = index % 7 == 6 ? "packet" : "flow";
  run.header.model = "lenet5";
  run.header.data_set = "digits";
  run.header.workers = workers_of(index);
  run.header.seed = static_cast<std::uint64_t>(1 + index / 72 % 5);
  run.header.version = "0.1.0";
  run.header.compute_provenance = "measured";
  run.status = index % 97 == 50 ? RunStatus::kFailed : RunStatus::kFinished;
  run.started_at = "2026-01-10T12:00:00Z";
  run.steps_total = 400;
  run.steps_done = run.status == RunStatus::kFailed ? 37 : 400;
  run.step_time_s = step_s(index);
  run.simulated_s = *run.step_time_s * double(run.steps_done);
  run.compression_ratio = run.traffic_ratio = method.ratio;
  run.wire_bytes = 1.03 * kDenseBytes * method.ratio * 2 * run.header.workers * 400;
  if (run.status == RunStatus::kFailed) {
    run.error = "cannot train worker 3: loss is not a number";
    return run;
  }
  run.final_accuracy = method.final_accuracy - 0.004 * std::log2(run.header.workers / 4) -
                       0.02 * (noise(index, 1) - 0.5);
  run.final_loss = 0.9 * (1 - *run.final_accuracy) * 3 + 0.01 * noise(index, 2);
  if (*run.final_accuracy > 0.94) {
    run.time_to_target_s = run.simulated_s * (0.5 + 0.3 * noise(index, 4));
  }
  return run;
}

std::vector<RunSummary> sample_runs(int count) {
  std::vector<RunSummary> runs;
  for (int i = 0; i < count; ++i) runs.push_back(sample_run(i));
  return runs;
}

std::vector<StepRow> sample_steps(const RunSummary& run) {
  std::vector<StepRow> steps;
  for (std::int64_t step = 0; step < run.steps_done; ++step) {
    StepRow row;
    row.step = step;
    row.start_s = *run.step_time_s * double(step);
    row.end_s = *run.step_time_s * double(step + 1);
    row.loss = 0.1 + 2.2 * std::exp(-double(step) / 60);
    row.wire_bytes = static_cast<std::int64_t>(*run.wire_bytes / 400);
    steps.push_back(row);
  }
  return steps;
}

std::vector<MetricRow> sample_metrics(const RunSummary& run) {
  std::vector<MetricRow> metrics;
  const int index = int(run.id - 1);
  for (std::int64_t step = 19; step < run.steps_done; step += 20) {
    const double learned = 1 - std::exp(-double(step) / 55);
    const double jitter = 0.015 * (noise(index, int(step)) - 0.5) * (1 - double(step) / 400);
    const double final = run.final_accuracy.value_or(0.3);
    const double value = step == 399 ? final : 0.1 + (final - 0.1) * learned + jitter;
    metrics.push_back({step, "accuracy", value, "1", Provenance::kMeasured});
  }
  return metrics;
}

std::vector<TimelineSegment> sample_timeline(const RunSummary& run, int steps) {
  const auto compute = static_cast<std::uint8_t>(sim::Lane::kCompute);
  const auto codec = static_cast<std::uint8_t>(sim::Lane::kCodec);
  constexpr std::uint8_t kNetwork = 255;
  const int index = int(run.id - 1);
  const double encode_s = method_of(index).codec_s / 2, network_s = transfer_s(index) / 2;
  const auto bytes = static_cast<std::int64_t>(kDenseBytes * method_of(index).ratio);
  std::vector<TimelineSegment> segments;
  double start = 0;
  for (int step = 0; step < steps; ++step) {
    double step_end = start;
    for (int worker = 0; worker < run.header.workers; ++worker) {
      const double slow = 1 + 0.05 * noise(index + step, worker);
      const auto add = [&](std::uint8_t lane, const char* label, double from, double length,
                           std::int64_t size) {
        segments.push_back({step, worker, lane, label, from, from + length, size});
        step_end = std::max(step_end, from + length);
        return from + length;
      };
      const double f = add(compute, "forward", start, 0.3 * kComputeS * slow, 0);
      const double b1 = add(compute, "backward b1", f, 0.35 * kComputeS * slow, 0);
      const double b0 = add(compute, "backward b0", b1, 0.3 * kComputeS * slow, 0);
      const double e1 = encode_s > 0 ? add(codec, "encode b1", b1, encode_s, 0) : b1;
      const double e0 = encode_s > 0 ? add(codec, "encode b0", std::max(b0, e1), encode_s, 0) : b0;
      const double t1 = add(kNetwork, "all-reduce b1", e1, network_s, bytes);
      const double t0 = add(kNetwork, "all-reduce b0", std::max(t1, e0), network_s, bytes);
      const double d = encode_s > 0 ? add(codec, "decode", t0, 0.4 * encode_s, 0) : t0;
      add(compute, "update", d, 0.05 * kComputeS, 0);
    }
    start = step_end;
  }
  return segments;
}

void write_sample_database(const std::string& path, int count) {
  const auto store = Store::open(path, Store::Mode::kReadWrite);
  for (int i = 0; i < count; ++i) {
    const RunSummary run = sample_run(i);
    const RunId id = store->begin_run(run.header, run.steps_total);
    store->append(id, sample_steps(run), sample_metrics(run));
    store->put_timeline(id, "simulated", sample_timeline(run, 12));
    std::vector<MetricRow> finals;
    const auto add = [&](const char* name, std::optional<double> value, const char* unit) {
      if (value) finals.push_back({-1, name, *value, unit, Provenance::kSimulated});
    };
    add("final_accuracy", run.final_accuracy, "1");
    add("final_loss", run.final_loss, "1");
    add("step_time_s", run.step_time_s, "s");
    add("compression_ratio", run.compression_ratio, "1");
    add("traffic_ratio", run.traffic_ratio, "1");
    add("wire_bytes", run.wire_bytes, "B");
    add("simulated_s", run.simulated_s, "s");
    add("time_to_target_s", run.time_to_target_s, "s");
    store->finish_run(id, run.status, run.error, "", "", finals);
  }
}

namespace {

class FakeStore : public Store {
 public:
  FakeStore(int count, std::function<void()> on_read)
      : runs_(sample_runs(count)), on_read_(std::move(on_read)) {}

  [[noreturn]] static void read_only() { throw std::logic_error("the window only reads"); }
  RunId begin_run(const RunHeader&, std::int64_t) override { read_only(); }
  void append(RunId, std::span<const StepRow>, std::span<const MetricRow>) override { read_only(); }
  void put_timeline(RunId, std::string_view, std::span<const TimelineSegment>) override {
    read_only();
  }
  void put_links(RunId, std::span<const LinkSeries>) override { read_only(); }
  void finish_run(RunId, RunStatus, const std::string&, const std::string&, const std::string&,
                  std::span<const MetricRow>) override {
    read_only();
  }
  Predecessor discard_unfinished(const std::string&, std::uint64_t) override { read_only(); }
  std::optional<RunId> find_ended(const std::string&, std::uint64_t) const override {
    return std::nullopt;
  }
  void put_checkpoint(RunId, const CheckpointRow&) override { read_only(); }
  void remove_checkpoint(RunId) override { read_only(); }
  std::optional<CheckpointRow> checkpoint(RunId) const override { return std::nullopt; }
  void set_detail(RunId, const std::string&) override { read_only(); }
  void tag(RunId, const std::string&, bool) override { read_only(); }
  void remove_run(RunId) override { read_only(); }
  MergeResult merge(const std::string&, const MergeOptions&) override { read_only(); }

  std::vector<RunSummary> runs() const override { return read(runs_); }
  std::optional<RunSummary> run(RunId id) const override {
    return read(runs_.at(static_cast<std::size_t>(id - 1)));
  }
  std::vector<StepRow> steps(RunId id) const override { return sample_steps(*run(id)); }
  std::vector<MetricRow> metrics(RunId id) const override { return sample_metrics(*run(id)); }
  std::vector<TimelineSegment> timeline(RunId id) const override {
    return sample_timeline(*run(id), 12);
  }
  std::vector<TimelineSegment> critical_path(RunId) const override { return read(kNoSegments); }
  std::vector<LinkSeries> links(RunId) const override { return read(kNoLinks); }
  std::string timeline_provenance(RunId) const override { return "simulated"; }
  std::int64_t data_version() const override { return read(std::int64_t{1}); }
  std::string integrity() const override { return "ok"; }
  void copy_to(const std::string&) const override { read_only(); }

 private:
  static inline const std::vector<TimelineSegment> kNoSegments;
  static inline const std::vector<LinkSeries> kNoLinks;
  template <typename Value>
  const Value& read(const Value& value) const {
    if (on_read_) on_read_();
    return value;
  }

  std::vector<RunSummary> runs_;
  std::function<void()> on_read_;
};

}  // namespace

std::unique_ptr<Store> make_fake_store(int count, std::function<void()> on_read) {
  return std::make_unique<FakeStore>(count, std::move(on_read));
}

}  // namespace gradwire::gui::samples
