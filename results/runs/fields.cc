#include "results/runs/fields.h"

#include <array>

#include "base/joined_texts.h"
#include "results/runs/scenario_view.h"

namespace gradwire::results {
namespace {

using Run = const RunSummary&;
using Number = std::optional<double>;

Number scenario_number(Run run, const char* pointer) {
  double value = 0;
  if (number_from(scenario_value(run.header.scenario_json, pointer), value)) return value;
  return std::nullopt;
}

constexpr Quantity kPlain = Quantity::kPlain, kCount = Quantity::kCount;

const std::array kFields = {
    Field{"id", "number of the run in this database", kCount,
          [](Run r) -> Number { return static_cast<double>(r.id); }, nullptr},
    Field{"scenario_name", "name of the scenario", kPlain, nullptr,
          [](Run r) { return r.header.scenario_name; }},
    Field{"scenario_hash", "hash of the resolved scenario without its seed", kPlain, nullptr,
          [](Run r) { return r.header.scenario_hash; }},
    Field{"seed", "seed", kPlain, nullptr, [](Run r) { return std::to_string(r.header.seed); }},
    Field{"status", "running, finished, partial, failed, diverged or invalid", kPlain, nullptr,
          [](Run r) { return std::string(name_of(r.status)); }},
    Field{"method", "codec and its options; = compares the whole label or its first word", kPlain,
          nullptr, [](Run r) { return r.header.method; }},
    Field{"executor", "model, flow, packet or emulator", kPlain, nullptr,
          [](Run r) { return r.header.executor; }},
    Field{"detail", "of executor flow: per-packet or fluid", kPlain, nullptr,
          [](Run r) { return r.header.detail; }},
    Field{"model", "what was trained or replayed", kPlain, nullptr,
          [](Run r) { return r.header.model; }},
    Field{"data_set", "what it was trained on", kPlain, nullptr,
          [](Run r) { return r.header.data_set; }},
    Field{"workers", "number of workers", kCount, [](Run r) -> Number { return r.header.workers; },
          nullptr},
    Field{"bandwidth_bps", "/network/link/bandwidth of the scenario", Quantity::kBitRate,
          [](Run r) { return scenario_number(r, "/network/link/bandwidth"); }, nullptr},
    Field{"delay_s", "/network/link/delay of the scenario", Quantity::kSeconds,
          [](Run r) { return scenario_number(r, "/network/link/delay"); }, nullptr},
    Field{"link_loss", "/network/link/loss of the scenario", Quantity::kShare,
          [](Run r) { return scenario_number(r, "/network/link/loss"); }, nullptr},
    Field{"steps_done", "steps stored so far", kCount,
          [](Run r) -> Number { return static_cast<double>(r.steps_done); }, nullptr},
    Field{"steps_total", "steps asked for", kCount,
          [](Run r) -> Number { return static_cast<double>(r.steps_total); }, nullptr},
    Field{"simulated_s", "virtual time at the end of the last step", Quantity::kSeconds,
          [](Run r) -> Number { return r.simulated_s; }, nullptr},
    Field{"step_time_s", "mean time of a step", Quantity::kSeconds,
          [](Run r) { return r.step_time_s; }, nullptr},
    Field{"compression_ratio", "a worker's encoded message over its fp32 values; 0.1 = a tenth",
          kPlain, [](Run r) { return r.compression_ratio; }, nullptr},
    Field{"traffic_ratio", "bytes on the wire over those of the same exchange of fp32 values",
          kPlain, [](Run r) { return r.traffic_ratio; }, nullptr},
    Field{"wire_bytes", "bytes on the wire, whole run", Quantity::kBytes,
          [](Run r) { return r.wire_bytes; }, nullptr},
    Field{"time_to_target_s", "virtual time to the target accuracy", Quantity::kSeconds,
          [](Run r) { return r.time_to_target_s; }, nullptr},
    Field{"final_loss", "training loss of the last step", kPlain,
          [](Run r) { return r.final_loss; }, nullptr},
    Field{"final_accuracy", "share of held-out samples right at the end", Quantity::kShare,
          [](Run r) { return r.final_accuracy; }, nullptr},
    Field{"device", "where compute times come from", kPlain, nullptr,
          [](Run r) { return r.header.device; }},
    Field{"compute_provenance", "measured, profile, given by the scenario, or none", kPlain,
          nullptr, [](Run r) { return r.header.compute_provenance; }},
    Field{"host", "machine that it ran on", kPlain, nullptr, [](Run r) { return r.header.host; }},
    Field{"node", "name of the machine", kPlain, nullptr, [](Run r) { return r.header.node; }},
    Field{"rank", "of the process that ran it, where several shared a sweep", kCount,
          [](Run r) -> Number { return r.header.rank; }, nullptr},
    Field{"version", "program version", kPlain, nullptr, [](Run r) { return r.header.version; }},
    Field{"tag", "tags; = compares each one", kPlain, nullptr,
          [](Run r) { return joined_texts(r.tags, ","); }},
    Field{"started_at", "UTC, ISO 8601", kPlain, nullptr, [](Run r) { return r.started_at; }},
    Field{"ended_at", "UTC, ISO 8601", kPlain, nullptr, [](Run r) { return r.ended_at; }},
    Field{"learning_hash", "over losses, weights and bytes", kPlain, nullptr,
          [](Run r) { return r.learning_hash; }},
    Field{"timeline_hash", "over the virtual times", kPlain, nullptr,
          [](Run r) { return r.timeline_hash; }},
    Field{"error", "why it failed", kPlain, nullptr, [](Run r) { return r.error; }},
};

constexpr std::pair<std::string_view, std::string_view> kShort[] = {
    {"accuracy", "final_accuracy"},
    {"loss", "final_loss"},
    {"step_time", "step_time_s"},
    {"bytes", "wire_bytes"},
    {"scenario", "scenario_name"},
    {"time_to_target", "time_to_target_s"},
    {"bandwidth", "bandwidth_bps"},
    {"delay", "delay_s"},
    {"hash", "scenario_hash"},
    {"data", "data_set"},
    {"run", "id"},
    {"tags", "tag"},
    {"simulated", "simulated_s"}};

}  // namespace

std::span<const Field> run_fields() {
  return kFields;
}

const Field* find_field(std::string_view name) {
  for (const auto& [short_form, full] : kShort)
    if (short_form == name) name = full;
  for (const Field& field : kFields)
    if (field.name == name) return &field;
  return nullptr;
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const Field& field : kFields) names.emplace_back(field.name);
  return names;
}

std::string status_in_words(const RunSummary& run) {
  const std::string name(name_of(run.status));
  if (run.status == RunStatus::kFinished) return name;
  return name + ", " + std::to_string(run.steps_done) + " of " + std::to_string(run.steps_total) +
         " steps";
}

std::string shown(const Field& field, const RunSummary& run) {
  if (field.text) {
    const std::string text = field.text(run);
    return text.empty() ? "-" : text;
  }
  const std::optional<double> value = field.number(run);
  return value ? format_value(*value, field.quantity) : "-";
}

}  // namespace gradwire::results
