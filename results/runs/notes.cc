#include "results/runs/notes.h"

namespace gradwire::results {
namespace {

constexpr std::string_view kPrefix = "note: ";

}  // namespace

MetricRow note_row(const std::string& text) {
  return {-1, std::string(kPrefix) + text, 1, "", Provenance::kMeasured};
}

bool is_note(const MetricRow& metric) {
  return metric.step < 0 && metric.name.starts_with(kPrefix);
}

std::vector<std::string> notes_of(std::span<const MetricRow> metrics) {
  std::vector<std::string> notes;
  for (const MetricRow& metric : metrics)
    if (is_note(metric)) notes.push_back(metric.name.substr(kPrefix.size()));
  return notes;
}

}  // namespace gradwire::results
