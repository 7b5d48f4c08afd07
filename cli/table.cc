#include "cli/table.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/units.h"
#include "results/csv.h"

namespace gradwire::cli {
namespace {

std::string with_format(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

std::string number_text(double value, Column::Style style) {
  if (!std::isfinite(value)) return with_format("%g", value);
  switch (style) {
    case Column::Style::kDuration:
      return format_duration(Seconds(value));
    case Column::Style::kBytes:
      return format_bytes(Bytes(std::llround(value)));
    case Column::Style::kPercent:
      return with_format("%.1f %%", 100 * value);
    case Column::Style::kPlain:
      break;
  }
  return with_format("%.4g", value);
}

std::string cell_text(const Cell& cell, Column::Style style) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag ? "yes" : "no";
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    return style == Column::Style::kPlain ? std::to_string(*whole)
                                          : number_text(static_cast<double>(*whole), style);
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number, style);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "-";
}

nlohmann::ordered_json cell_json(const Cell& cell) {
  if (const auto* flag = std::get_if<bool>(&cell)) return *flag;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* number = std::get_if<double>(&cell)) {
    if (std::isfinite(*number)) return *number;
    return nullptr;
  }
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return nullptr;
}

std::string csv_cell(const Cell& cell) {
  const nlohmann::ordered_json value = cell_json(cell);
  if (value.is_null()) return "";
  if (!value.is_string()) return value.dump();
  return results::csv_quoted(value.get<std::string>());
}

/// Columns on a terminal, not bytes: UTF-8 continuation bytes take no room.
std::size_t display_width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

void Table::add(std::vector<Cell> row) {
  GRADWIRE_ASSERT(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

std::string Table::text() const {
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns_)
    lines[0].push_back(column.title.empty() ? column.name : column.title);
  for (const auto& row : rows_) {
    lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i)
      lines.back().push_back(cell_text(row[i], columns_[i].style));
  }
  std::vector<std::size_t> widths(columns_.size(), 3);
  for (const auto& line : lines)
    for (std::size_t i = 0; i < line.size(); ++i)
      widths[i] = std::max(widths[i], display_width(line[i]));
  std::string out;
  for (std::size_t l = 0; l < lines.size(); ++l) {
    for (std::size_t i = 0; i < widths.size(); ++i)
      out += "| " + lines[l][i] + std::string(widths[i] - display_width(lines[l][i]) + 1, ' ');
    out += "|\n";
    if (l > 0) continue;
    for (const std::size_t width : widths) out += "|" + std::string(width + 2, '-');
    out += "|\n";
  }
  return out;
}

std::string Table::json_row(std::size_t row, const std::string& line_type) const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  if (!line_type.empty()) object["type"] = line_type;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    object[columns_[i].name] = cell_json(rows_[row][i]);
  return object.dump();
}

std::string Table::csv() const {
  std::string out;
  for (std::size_t i = 0; i < columns_.size(); ++i) out += (i ? "," : "") + columns_[i].name;
  out += "\n";
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i ? "," : "") + csv_cell(row[i]);
    out += "\n";
  }
  return out;
}

std::string Table::render(Format format) const {
  if (format == Format::kText) return text();
  if (format == Format::kCsv) return csv();
  std::string out;
  if (format == Format::kJsonl) {
    for (std::size_t i = 0; i < rows_.size(); ++i) out += json_row(i, "row") + "\n";
    return out;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) out += (i ? ",\n  " : "\n  ") + json_row(i, "");
  return "{\"schema_version\": 1, \"rows\": [" + out + "\n]}\n";
}

void Table::print(const Context& context, const std::string& line_type) const {
  std::string out;
  if (context.format() == Format::kJsonl) {
    for (std::size_t i = 0; i < rows_.size(); ++i) out += json_row(i, line_type) + "\n";
  } else {
    out = render(context.format());
  }
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
}

}  // namespace gradwire::cli
