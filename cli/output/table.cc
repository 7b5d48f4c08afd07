#include "cli/output/table.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/plain_text.h"
#include "base/units.h"
#include "cli/output/json_text.h"
#include "results/export/csv.h"

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
    case Column::Style::kFigure:
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
  if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
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
  if (!value.is_string()) return json_text(value);
  return results::csv_quoted(value.get<std::string>());
}

/// For a Markdown table: a cell is one line without a bar of its own.
std::string escaped(const std::string& cell) {
  std::string out;
  for (const char letter : cell)
    out += letter == '|' ? "\\|" : letter == '\n' ? " " : std::string(1, letter);
  return out;
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<double>(cell) || std::holds_alternative<std::int64_t>(cell);
}

void put(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

Column::Style style_by_unit(std::string_view name) {
  if (name.ends_with("_s")) return Column::Style::kDuration;
  return name.ends_with("_bytes") ? Column::Style::kBytes : Column::Style::kPlain;
}

void Table::add(std::vector<Cell> row) {
  GRADWIRE_ASSERT(row.size() == columns_.size());
  rows_.push_back(std::move(row));
}

Layout Table::layout(std::size_t width, bool markdown) const {
  std::vector<LayoutColumn> columns;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Column& column = columns_[i];
    bool numbers = false, others = false;
    for (const auto& row : rows_) {
      numbers = numbers || is_number(row[i]);
      others = others || (!is_number(row[i]) && !std::holds_alternative<std::monostate>(row[i]));
    }
    const bool only_numbers = numbers && !others;
    columns.push_back({column.title.empty() ? column.name : column.title, column.importance,
                       only_numbers || column.style == Column::Style::kFigure, only_numbers});
  }
  std::vector<std::vector<std::string>> lines;
  for (const auto& row : rows_) {
    lines.emplace_back();
    for (std::size_t i = 0; i < row.size(); ++i)
      lines.back().push_back(markdown ? escaped(cell_text(row[i], columns_[i].style))
                                      : cell_text(row[i], columns_[i].style));
  }
  return lay_out(columns, lines, width);
}

std::string Table::text(std::size_t width) const {
  const Layout layout = this->layout(width, false);
  return layout.head + layout.body + left_out_note(layout.left_out, width);
}

std::string Table::json_row(std::size_t row, const std::string& line_type) const {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  if (!line_type.empty()) object["type"] = line_type;
  for (std::size_t i = 0; i < columns_.size(); ++i)
    object[columns_[i].name] = cell_json(rows_[row][i]);
  return json_text(object);
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

std::string Table::for_machines(Format format, const std::string& line_type) const {
  if (format == Format::kCsv) return csv();
  std::string out;
  if (format == Format::kJsonl) {
    for (std::size_t i = 0; i < rows_.size(); ++i) out += json_row(i, line_type) + "\n";
    return out;
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) out += (i ? ",\n  " : "\n  ") + json_row(i, "");
  return "{\"schema_version\": 1, \"rows\": [" + out + "\n]}\n";
}

void Table::print_text(const Context& context) const {
  const std::size_t width = context.page_width();
  const Layout layout = this->layout(width, context.markdown());
  put(context.emphasised(layout.head, STDOUT_FILENO) + layout.body +
      left_out_note(layout.left_out, width));
}

void Table::print(const Context& context, const std::string& line_type) const {
  if (context.format() == Format::kText) return print_text(context);
  put(for_machines(context.format(), line_type));
}

Table table_of_texts(const std::vector<std::vector<std::string>>& lines,
                     const std::vector<Importance>& importances) {
  std::vector<Column> columns;
  for (const std::string& title : lines.front()) {
    const auto style = columns.empty() ? Column::Style::kPlain : Column::Style::kFigure;
    const std::size_t place = columns.size();
    columns.push_back(
        {title, "", style, place < importances.size() ? importances[place] : Importance::kNormal});
  }
  Table table(std::move(columns));
  for (std::size_t i = 1; i < lines.size(); ++i)
    table.add(std::vector<Cell>(lines[i].begin(), lines[i].end()));
  return table;
}

}  // namespace gradwire::cli
