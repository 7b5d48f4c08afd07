#include <algorithm>
#include <set>

#include "base/error.h"
#include "results/runs/figure_origin.h"
#include "results/runs/scenario_view.h"
#include "results/runs/summary.h"

/// Runs side by side, and tables as text.
namespace gradwire::results {
namespace {

void finish(ComparisonRow& row, std::size_t baseline) {
  row.differs = std::any_of(row.texts.begin(), row.texts.end(),
                            [&](const std::string& text) { return text != row.texts[0]; });
  if (!row.numeric) return;
  // A number that only identifies, such as a run's, is not so much larger than another.
  const bool is_figure = origin_of(row.name).value_or(Origin::kNoFigure) != Origin::kNoFigure;
  row.differs = std::any_of(row.numbers.begin(), row.numbers.end(),
                            [&](const auto& number) { return number != row.numbers[0]; });
  const std::optional<double> base = row.numbers[baseline];
  for (const std::optional<double>& number : row.numbers) {
    const bool both = number && base && is_figure;
    row.deltas.push_back(both ? std::optional(*number - *base) : std::nullopt);
    row.factors.push_back(both && *base != 0 ? std::optional(*number / *base) : std::nullopt);
  }
}

ComparisonRow field_row(const Field& field, std::span<const RunSummary> runs) {
  ComparisonRow row;
  row.name = field.name;
  row.numeric = field.numeric();
  row.quantity = field.quantity;
  for (const RunSummary& run : runs) {
    row.texts.push_back(shown(field, run));
    if (row.numeric) row.numbers.push_back(field.number(run));
  }
  return row;
}

std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
    return (static_cast<unsigned char>(letter) & 0xC0) != 0x80;
  }));
}

}  // namespace

Comparison compare_runs(std::span<const RunSummary> runs, std::size_t baseline) {
  GRADWIRE_ASSERT(baseline < runs.size());
  Comparison result;
  result.baseline = baseline;
  for (const Field& field : run_fields()) result.rows.push_back(field_row(field, runs));
  std::vector<std::map<std::string, std::string>> leaves;
  std::set<std::string> pointers;
  for (const RunSummary& run : runs) {
    leaves.push_back(scenario_leaves(run.header.scenario_json));
    for (const auto& [pointer, text] : leaves.back()) pointers.insert(pointer);
  }
  for (const std::string& pointer : pointers) {
    ComparisonRow row;
    row.name = pointer;
    for (const auto& values : leaves) {
      const auto found = values.find(pointer);
      row.texts.push_back(found == values.end() ? "-" : found->second);
    }
    result.rows.push_back(std::move(row));
  }
  for (ComparisonRow& row : result.rows) finish(row, baseline);
  return result;
}

std::string aligned_text(const std::vector<std::vector<std::string>>& table) {
  std::vector<std::size_t> widths;
  for (const auto& row : table)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i == widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], display_width(row[i]));
    }
  std::string out;
  for (const auto& row : table) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - display_width(row[i]), ' ');
      out += i == 0 ? row[i] + space : "  " + space + row[i];
    }
    out += "\n";
  }
  return out;
}

std::string markdown(const std::vector<std::vector<std::string>>& table) {
  std::string out;
  for (std::size_t r = 0; r < table.size(); ++r) {
    out += "|";
    for (const std::string& cell : table[r]) {
      out += " ";
      for (const char letter : cell) out += letter == '|' ? "\\|" : std::string(1, letter);
      out += " |";
    }
    out += "\n";
    if (r > 0) continue;
    out += "|";
    for (std::size_t i = 0; i < table[r].size(); ++i) out += i == 0 ? " --- |" : " ---: |";
    out += "\n";
  }
  return out;
}

}  // namespace gradwire::results
