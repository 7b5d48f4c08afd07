#include "results/runs/dropped_updates.h"

#include <cmath>
#include <cstdio>
#include <map>

namespace gradwire::results {
namespace {

std::string count_and_share(std::int64_t part, std::int64_t whole) {
  char text[64];
  std::snprintf(text, sizeof text, "%lld (%.3g %%)", static_cast<long long>(part),
                whole > 0 ? 100 * static_cast<double>(part) / static_cast<double>(whole) : 0);
  return text;
}

}  // namespace

std::optional<DroppedUpdates> dropped_updates_of(std::span<const MetricRow> metrics) {
  std::map<std::string, std::int64_t> clients;
  for (const MetricRow& row : metrics)
    if (row.step == -1 && row.name.starts_with("clients_"))
      clients[row.name] = std::llround(row.value);
  if (!clients.contains("clients_sampled")) return std::nullopt;
  // Who was kept and arrived later was not dropped; who was still on its way had no turn.
  return DroppedUpdates{clients["clients_sampled"] - clients["clients_busy"],
                        clients["clients_late"] - clients["clients_of_earlier_rounds"],
                        clients["clients_dropped_out"]};
}

std::optional<DroppedUpdates> sum_of(std::span<const DroppedUpdates> runs) {
  if (runs.empty()) return std::nullopt;
  DroppedUpdates sum;
  for (const DroppedUpdates& each : runs) {
    sum.sampled += each.sampled;
    sum.late += each.late;
    sum.dropped_out += each.dropped_out;
  }
  return sum;
}

std::string in_words(const DroppedUpdates& updates) {
  const std::string all = "all " + std::to_string(updates.sampled) + " updates asked for arrived";
  if (updates.arrived() == updates.sampled) return all + " in time";
  std::string text = "of " + std::to_string(updates.sampled) +
                     " updates asked for the deadline dropped " +
                     count_and_share(updates.late, updates.sampled);
  if (updates.dropped_out > 0)
    text +=
        ", and " + count_and_share(updates.dropped_out, updates.sampled) + " clients dropped out";
  return text;
}

}  // namespace gradwire::results
