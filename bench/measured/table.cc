#include "bench/measured/table.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "bench/measured/collective_form.h"
#include "bench/measured/columns.h"
#include "bench/measured/names.h"
#include "bench/measured/shipped_tables.h"
#include "bench/measured/transformer_shape.h"
#include "results/export/csv.h"

namespace gradwire::bench {
namespace {

using results::CsvTable;
constexpr int kMostParts = 10'000;
constexpr double kMostBytes = 1e15;

/// What a row says, cell by cell. Throws Error at a cell that it cannot take.
class RowReader {
 public:
  RowReader(const CsvTable& table, const Columns& columns, std::size_t row)
      : table_(table), columns_(columns), row_(row) {}

  std::string place() const { return table_.file() + ":" + std::to_string(table_.line(row_)); }
  const std::string& text(const std::string& column) const {
    return table_.text(row_, columns_.of(column));
  }
  const std::string& metric() const {
    return columns_.metric().empty() ? text("metric") : columns_.metric();
  }
  double positive(const std::string& column, double missing) const {
    return table_.positive(row_, columns_.of(column), missing);
  }
  double positive(const std::string& column) const {
    return table_.positive(row_, columns_.of(column));
  }
  int whole(const std::string& column, int missing, int most = 1'000'000'000) const {
    if (text(column).empty()) return missing;
    const double value = positive(column);
    if (value > most || value != static_cast<int>(value))
      refuse(column, "is no whole number up to " + std::to_string(most));
    return static_cast<int>(value);
  }
  bool is_noted(const char* words) const { return text("note").find(words) != std::string::npos; }
  [[noreturn]] void refuse(const std::string& column, const std::string& reason,
                           const std::string& remedy = {}) const {
    table_.refuse(row_, columns_.of(column), reason, remedy);
  }

 private:
  const CsvTable& table_;
  const Columns& columns_;
  std::size_t row_;
};

/// What an Error says of a row's cell, without the place.
std::string reason_of(const Error& error, const std::string& place) {
  const std::string said = error.what();
  const auto found = said.find(place + ": ");
  return found == std::string::npos ? said : said.substr(found + place.size() + 2);
}

void read_program(const RowReader& row, MeasuredStep& step) {
  if (!row.text("precision").empty()) step.precision = precision_named(row.text("precision"));
  step.sharding = sharding_named(row.text("sharding"));
  step.checkpointing = checkpointing_named(row.text("checkpointing"));
  step.method = method_named(row.text("method"));
  step.local_steps = row.whole("local_steps", 1);
  step.compiled = row.is_noted("torch.compile");
  step.fused_batch_norm = row.is_noted("batch normalisation fused");
  step.pre_training =
      row.is_noted("pre-training") || row.text("workload").find("pretraining") != std::string::npos;
}

void read_shape(const RowReader& row, MeasuredStep& step) {
  step.layers = row.whole("layers", 0);
  step.hidden = row.whole("hidden", 0);
  step.heads = row.whole("heads", 0);
  step.sequence = row.whole("sequence", 0);
  step.vocabulary = row.whole("vocabulary", 0);
  if (!is_transformer(step.workload)) return;
  const TransformerShape shape = shape_of(step);
  step.layers = shape.layers;
  step.hidden = shape.hidden;
  step.heads = shape.heads;
  step.sequence = shape.sequence;
  step.vocabulary = shape.vocabulary;
}

void read_workers(const RowReader& row, MeasuredStep& step) {
  step.tensor_parallel = row.whole("tensor_parallel", 1, kMostParts);
  step.pipeline_parallel = row.whole("pipeline_parallel", 1, kMostParts);
  const int parts = step.tensor_parallel * step.pipeline_parallel;
  const int gpus = row.whole("gpus", 0);
  step.workers = row.whole("data_parallel", std::max(1, gpus / parts));
  if (gpus > 0 && gpus != step.gpus())
    row.refuse("gpus",
               "is not data_parallel x tensor_parallel x pipeline_parallel, " +
                   std::to_string(step.gpus()),
               "other kinds of parallelism are not in this form");
  step.gpus_per_node = row.whole("gpus_per_node", static_cast<int>(step.gpus()));
  step.between_nodes = BitsPerSecond(1e9 * row.positive("inter_node_gbps", 0));
  step.memory_bytes_per_second = 1e9 * row.positive("memory_gb_per_s", 0);
  step.power_limit_watts = row.positive("power_w", 0);
}

/// A worker's samples of a step, and in how many passes: one, where no micro-batch is stated; no
/// samples where nothing is.
void read_batch(const RowReader& row, MeasuredStep& step) {
  const int global = row.whole("global_batch", 0), own = row.whole("batch_per_gpu", 0);
  const int micro = row.whole("micro_batch", own);
  step.micro_batch_stated = !row.text("micro_batch").empty();
  double samples = own;
  if (global > 0) samples = static_cast<double>(global) / step.workers;
  if (samples == 0) samples = micro;
  step.batch = micro > 0 ? micro : static_cast<int>(std::ceil(samples));
  step.accumulated = step.batch > 0 ? static_cast<int>(std::lround(samples / step.batch)) : 1;
  if (samples < step.batch && global > 0)
    row.refuse("global_batch", "is below one batch of each worker");
}

Seconds step_seconds(const RowReader& row, const MeasuredStep& step) {
  const std::string& written = row.metric();
  const std::optional<Metric> metric = metric_named(written);
  if (!metric)
    row.refuse("metric", "\"" + written + "\" is not known", std::string("give ") + kMetrics);
  const double value = row.positive("value") * metric->unit;
  if (metric->counts == Metric::Counts::kSeconds) return Seconds(value);
  if (metric->counts == Metric::Counts::kSteps) return Seconds(1 / value);
  const double rate = metric->per_gpu ? value * static_cast<double>(step.gpus()) : value;
  const double samples = static_cast<double>(step.batch) * step.accumulated * step.workers;
  if (metric->counts == Metric::Counts::kSamples) return Seconds(samples / rate);
  if (step.sequence == 0) row.refuse("sequence", "is empty, and the metric counts tokens");
  return Seconds(samples * step.sequence / rate);
}

MeasuredStep step_of(const RowReader& row) {
  MeasuredStep step;
  step.source = row.text("source");
  step.workload = workload_named(row.text("workload"));
  step.device = device_named(row.text("device"));
  step.place = row.place();
  try {
    read_program(row, step);
    read_shape(row, step);
    read_workers(row, step);
    read_batch(row, step);
    step.time = step_seconds(row, step);
  } catch (const Error& error) {
    step.refused = reason_of(error, step.place);
  }
  return step;
}

/// The time, or what nccl-tests print beside it: bus bandwidth, and bytes over time. GB/s.
Seconds collective_seconds(const RowReader& row, const MeasuredCollective& one) {
  const std::pair<const char*, double> times[] = {
      {"time_us", 1e-6}, {"time_ms", 1e-3}, {"time_s", 1}};
  for (const auto& [column, unit] : times)
    if (!row.text(column).empty()) return Seconds(unit * row.positive(column));
  const double bytes = static_cast<double>(one.bytes.count());
  if (const double rate = row.positive("algbw_gb_per_s", 0); rate > 0)
    return Seconds(bytes / (1e9 * rate));
  const double rate = row.positive("busbw_gb_per_s", 0);
  if (rate == 0) row.refuse("time_us", "is empty, as are time_ms, busbw_gb_per_s and the like");
  return Seconds(bus_share(one.collective, one.workers) * bytes / (1e9 * rate));
}

MeasuredCollective collective_of(const RowReader& row) {
  MeasuredCollective one;
  one.source = row.text("source");
  one.collective = collective_named(row.text("collective"));
  one.device = device_named(row.text("device"));
  one.place = row.place();
  try {
    one.workers = row.whole("gpus", 0, 1'000'000);
    if (one.workers < 2) row.refuse("gpus", "is below 2");
    one.gpus_per_node = row.whole("gpus_per_node", one.workers);
    one.between_nodes = BitsPerSecond(1e9 * row.positive("inter_node_gbps", 0));
    const double bytes = row.positive("bytes");
    if (bytes > kMostBytes) row.refuse("bytes", "is above 10^15");
    one.bytes = Bytes(static_cast<std::int64_t>(bytes));
    one.time = collective_seconds(row, one);
  } catch (const Error& error) {
    one.refused = reason_of(error, one.place);
  }
  return one;
}

}  // namespace

void read_measured(std::string_view text, const std::string& file, MeasuredTables& tables) {
  const CsvTable table(text, file);
  const Columns columns(table);
  const bool collectives = columns.has("collective");
  const std::vector<std::string> required =
      collectives ? std::vector<std::string>{"source", "collective", "device", "gpus", "bytes"}
                  : std::vector<std::string>{"source", "workload", "device", "metric", "value"};
  std::vector<std::string> written;
  for (const std::string& name : required)
    if (name != "metric" || columns.metric().empty()) written.push_back(columns.of(name));
  table.expect(written, table.columns());
  for (std::size_t index = 0; index < table.rows(); ++index) {
    const RowReader row(table, columns, index);
    if (collectives)
      tables.collectives.push_back(collective_of(row));
    else
      tables.steps.push_back(step_of(row));
  }
}

MeasuredTables shipped_measured() {
  MeasuredTables tables;
  read_measured(kShippedTraining, "training.csv", tables);
  read_measured(kShippedCollectives, "collectives.csv", tables);
  return tables;
}

MeasuredTables held_out_measured() {
  MeasuredTables tables;
  read_measured(kThroughputs, "published-throughputs.csv", tables);
  return tables;
}

}  // namespace gradwire::bench
