#include "bench/rows/row.h"

#include <cmath>
#include <cstdio>

#include "base/error.h"

namespace gradwire::bench {
namespace {

bool meets_bar(const BenchRow& row) {
  return row.at_most ? row.value <= *row.bar : row.value >= *row.bar;
}

/// Whether a demand is met in one of its two ways, and that way was measured at all.
bool met(const std::vector<BenchRow>& rows, const std::string& either, bool alternative) {
  bool any = false;
  for (const BenchRow& row : rows) {
    if (!row.bar || !row.skipped.empty()) continue;
    if (row.either != either || row.alternative != alternative) continue;
    if (!meets_bar(row)) return false;
    any = true;
  }
  return any;
}

std::string number(double value, const char* format) {
  if (!std::isfinite(value)) return "null";
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string value_text(const BenchRow& row, const char* format, const char* none) {
  return row.skipped.empty() ? number(row.value, format) : none;
}

std::string holds_text(const BenchRow& row, const char* none) {
  return !row.holds ? none : *row.holds ? "true" : "false";
}

}  // namespace

std::vector<BenchRow> labelled(std::vector<BenchRow> rows, const std::string& provenance) {
  for (BenchRow& row : rows)
    if (row.provenance.empty()) row.provenance = provenance;
  return rows;
}

bool judge(std::vector<BenchRow>& rows) {
  bool all = true;
  for (BenchRow& row : rows) {
    if (!row.bar || !row.skipped.empty()) continue;
    row.holds = row.either.empty() ? meets_bar(row)
                                   : met(rows, row.either, false) || met(rows, row.either, true);
    all = all && *row.holds;
  }
  return all;
}

std::string rows_as_json(const std::vector<BenchRow>& rows) {
  std::string text = "{\"schema_version\": 1, \"rows\": [";
  const char* separator = "\n";
  for (const BenchRow& row : rows) {
    GRADWIRE_ASSERT(!row.provenance.empty());
    text += separator;
    text += "  {\"name\": \"" + row.name + "\", \"value\": " + value_text(row, "%.9g", "null") +
            ", \"unit\": \"" + row.unit +
            "\", \"bar\": " + (row.bar ? number(*row.bar, "%.9g") : "null") +
            ", \"holds\": " + holds_text(row, "null") + ", \"provenance\": \"" + row.provenance +
            "\"";
    if (!row.skipped.empty()) text += ", \"skipped\": \"" + row.skipped + "\"";
    text += "}";
    separator = ",\n";
  }
  return text + "\n]}\n";
}

std::string rows_as_markdown(const std::vector<BenchRow>& rows) {
  std::string text =
      "| name | value | unit | bar | holds | provenance |\n|---|---|---|---|---|---|\n";
  for (const BenchRow& row : rows) {
    GRADWIRE_ASSERT(!row.provenance.empty());
    text += "| " + row.name + " | " + value_text(row, "%.4g", "skipped") + " | " + row.unit +
            " | " + (row.bar ? number(*row.bar, "%.4g") : "") + " | " + holds_text(row, "") +
            " | " + row.provenance + " |\n";
  }
  return text;
}

}  // namespace gradwire::bench
