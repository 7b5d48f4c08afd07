#include "bench/measured/table.h"

#include <set>

#include "bench/measured/shipped_tables.h"
#include "results/export/csv.h"

namespace gradwire::bench {
namespace {

using results::CsvTable;

int whole(const CsvTable& table, std::size_t row, const std::string& column, int missing) {
  if (table.text(row, column).empty()) return missing;
  const double value = table.positive(row, column);
  if (value > 1e9 || value != static_cast<int>(value))
    table.refuse(row, column, "is no whole number below 10^9");
  return static_cast<int>(value);
}

/// Empty where the cell is, or says that there is nothing of the kind.
std::string word(const CsvTable& table, std::size_t row, const std::string& column) {
  static const std::set<std::string> nothing = {"none", "no"};
  const std::string& text = table.text(row, column);
  return nothing.contains(text) ? "" : text;
}

Seconds step_seconds(const CsvTable& table, std::size_t row, const MeasuredStep& step) {
  const double value = table.positive(row, "value");
  const std::string& metric = table.text(row, "metric");
  const double samples = static_cast<double>(step.batch) * step.accumulated;
  if (metric == "step_s") return Seconds(value);
  if (metric == "samples_per_s") return Seconds(samples * step.workers / value);
  if (metric != "tokens_per_s_per_gpu")
    table.refuse(row, "metric", "\"" + metric + "\" is not known",
                 "give step_s, samples_per_s or tokens_per_s_per_gpu");
  if (step.sequence == 0) table.refuse(row, "sequence", "is empty, and the metric counts tokens");
  return Seconds(samples * step.sequence / value);
}

MeasuredStep step_of(const CsvTable& table, std::size_t row) {
  MeasuredStep step;
  step.source = table.text(row, "source");
  step.workload = table.text(row, "workload");
  step.device = table.text(row, "device");
  if (!table.text(row, "precision").empty()) step.precision = table.text(row, "precision");
  step.sharding = word(table, row, "sharding");
  step.checkpointing = word(table, row, "checkpointing");
  step.method = word(table, row, "method");
  const auto noted = [&](const char* words) {
    return table.text(row, "note").find(words) != std::string::npos;
  };
  step.compiled = noted("torch.compile");
  step.fused_batch_norm = noted("batch normalisation fused");
  step.pre_training = noted("pre-training");
  step.layers = whole(table, row, "layers", 0);
  step.hidden = whole(table, row, "hidden", 0);
  step.heads = whole(table, row, "heads", 0);
  step.sequence = whole(table, row, "sequence", 0);
  step.vocabulary = whole(table, row, "vocabulary", 0);
  step.workers = whole(table, row, "data_parallel", whole(table, row, "gpus", 1));
  step.gpus_per_node = whole(table, row, "gpus_per_node", step.workers);
  step.between_nodes = BitsPerSecond(1e9 * table.positive(row, "inter_node_gbps", 0));
  step.batch = whole(table, row, "micro_batch", whole(table, row, "batch_per_gpu", 1));
  const std::int64_t at_once = std::int64_t{step.batch} * step.workers;
  if (!table.text(row, "global_batch").empty())
    step.accumulated = static_cast<int>(whole(table, row, "global_batch", 1) / at_once);
  if (step.accumulated < 1) table.refuse(row, "global_batch", "is below one batch of each worker");
  step.local_steps = whole(table, row, "local_steps", 1);
  step.memory_bytes_per_second = 1e9 * table.positive(row, "memory_gb_per_s", 0);
  step.power_limit_watts = table.positive(row, "power_w", 0);
  step.time = step_seconds(table, row, step);
  return step;
}

MeasuredCollective collective_of(const CsvTable& table, std::size_t row) {
  MeasuredCollective one;
  one.source = table.text(row, "source");
  one.collective = table.text(row, "collective");
  one.device = table.text(row, "device");
  one.workers = whole(table, row, "gpus", 0);
  if (one.workers < 2) table.refuse(row, "gpus", "is below 2");
  one.gpus_per_node = whole(table, row, "gpus_per_node", one.workers);
  one.between_nodes = BitsPerSecond(1e9 * table.positive(row, "inter_node_gbps", 0));
  one.bytes = Bytes(static_cast<std::int64_t>(table.positive(row, "bytes")));
  one.time = Seconds(1e-6 * table.positive(row, "time_us"));
  return one;
}

}  // namespace

void read_measured(std::string_view text, const std::string& file, MeasuredTables& tables) {
  const CsvTable table(text, file);
  const bool collectives = table.has("collective");
  const std::vector<std::string> required =
      collectives
          ? std::vector<std::string>{"source", "collective", "device", "gpus", "bytes", "time_us"}
          : std::vector<std::string>{"source", "workload", "device", "metric", "value"};
  table.expect(required, table.columns());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    if (collectives)
      tables.collectives.push_back(collective_of(table, row));
    else
      tables.steps.push_back(step_of(table, row));
  }
}

MeasuredTables shipped_measured() {
  MeasuredTables tables;
  read_measured(kShippedTraining, "training.csv", tables);
  read_measured(kShippedCollectives, "collectives.csv", tables);
  return tables;
}

}  // namespace gradwire::bench
