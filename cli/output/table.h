#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/context.h"
#include "cli/output/table_layout.h"

namespace gradwire::cli {

/// A cell; monostate = not known. Numbers keep full precision in JSON and CSV.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Column {
  std::string name;        ///< JSON and CSV field name, with its unit: step_time_s
  std::string title = {};  ///< heading for people; empty = name
  /// How a number is shown in text: a duration, bytes, a per cent value, or plain. kFigure: texts
  /// of numbers, such as "1.2 s ± 0.1 s".
  enum class Style { kPlain, kDuration, kBytes, kPercent, kFigure } style = Style::kPlain;
  Importance importance = Importance::kNormal;  ///< on a page that is too narrow for all
};

/// By the unit at the end of a column's name: "step_time_s", "wire_bytes".
Column::Style style_by_unit(std::string_view name);

/// Rows for stdout in the format the user asked for: a table that fits the page, one JSON document
/// `{"schema_version":1,"rows":[...]}`, JSON lines or CSV. The latter have every column and the
/// full precision, and so has --format markdown every column.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row);
  std::size_t size() const { return rows_.size(); }
  /// On a page of `width` columns (0 = as wide as it comes), with a line that names what was left
  /// out.
  std::string text(std::size_t width) const;
  /// To stdout. `line_type`: the "type" member of JSON lines.
  void print(const Context& context, const std::string& line_type = "row") const;

  /// The same as text, whatever the format.
  void print_text(const Context& context) const;

 private:
  Layout layout(std::size_t width, bool markdown) const;
  std::string for_machines(Format format, const std::string& line_type) const;
  std::string json_row(std::size_t row, const std::string& line_type) const;
  std::string csv() const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

/// A table of texts, the titles first: to the left in the first column, figures in the others.
/// `importances`: of the columns; kNormal where there are fewer.
Table table_of_texts(const std::vector<std::vector<std::string>>& lines,
                     const std::vector<Importance>& importances = {});

}  // namespace gradwire::cli
